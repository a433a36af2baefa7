import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import type { Json } from '../../form/schema.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { shared } from '../../words.ts'
import { make, security, server } from './api.ts'
import type { McpServer, Program } from './api.ts'
import { serverFields } from './fields.ts'
import { words } from './words.ts'
import classes from './mcp-servers.module.css'

interface AddServerProps {
  readonly onDone: (made: McpServer) => void
  readonly onCancel: () => void
}

/** What a new server begins with: the program as the file lists it. */
const startOf = ({ command, arguments: words, cwd }: Program): Readonly<Record<string, Json>> => ({
  command,
  arguments: words,
  ...(cwd === undefined ? {} : { cwd }),
})

const kinds = (['http', 'stdio'] as const).map((value) => ({ value, label: words.kinds[value] }))

/** Makes a server: at an address, or a program of those that the file allows. */
export function AddServer({ onDone, onCancel }: AddServerProps) {
  const queries = useQueryClient()
  const [transport, setTransport] = useState<'http' | 'stdio'>('http')
  const settings = useQuery(security)
  return (
    <Card>
      <div className={classes.kind}>
        <Segments label={words.kind} options={kinds} value={transport} onChange={setTransport} />
      </div>
      <Loaded query={settings} height={320}>
        {({ programs }) =>
          transport === 'stdio' && programs.length === 0 ? (
            <Empty text={words.noPrograms}>
              <Button onClick={onCancel}>{shared.cancel}</Button>
            </Empty>
          ) : (
            <SchemaForm
              key={transport}
              fields={serverFields(transport, { isNew: true, programs })}
              values={{}}
              initial={transport === 'stdio' && programs[0] !== undefined ? startOf(programs[0]) : {}}
              save={async (body) => {
                const made = await make({ ...body, transport })
                queries.setQueryData(server(made.name).queryKey, made)
                void queries.invalidateQueries({ queryKey: ['mcp-servers', 'list'] })
                onDone(made)
              }}
              onCancel={onCancel}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
