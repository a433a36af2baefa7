import { useQuery, useQueryClient } from '@tanstack/react-query'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Values } from '../../form/Values.tsx'
import { Card } from '../../parts/Card.tsx'
import { Declared } from '../../parts/Declared.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { toast } from '../../parts/toast.tsx'
import { shared } from '../../words.ts'
import { change, security, server as one } from './api.ts'
import type { McpServer, Program } from './api.ts'
import { serverFields, valuesOf } from './fields.ts'
import { words } from './words.ts'

interface ServerSettingsProps {
  readonly server: McpServer
  readonly reload: () => Promise<unknown>
}

/** The form of a server; read-only text for one that the file declares. */
export function ServerSettings({ server, reload }: ServerSettingsProps) {
  const queries = useQueryClient()
  const settings = useQuery(security)
  const values = valuesOf(server)
  const { name, transport, command, source, declared_at: at, secrets } = server
  const own = command === null ? [] : [command]
  const fieldsWith = (programs: readonly Program[]) => serverFields(transport, { isNew: false, programs, own })
  return (
    <Card title={words.settings}>
      {source === 'file' ? (
        <>
          <Declared at={at ? `${at.file}:${at.line}` : null} />
          <Values fields={fieldsWith([])} values={values} secrets={secrets} />
        </>
      ) : (
        <Loaded query={settings} height={320}>
          {({ programs }) => (
            <SchemaForm
              fields={fieldsWith(programs)}
              values={values}
              secrets={secrets}
              reload={reload}
              save={async (body) => {
                queries.setQueryData(one(name).queryKey, await change(server, body))
                void queries.invalidateQueries({ queryKey: ['mcp-servers'] })
                toast(shared.saved)
              }}
            />
          )}
        </Loaded>
      )}
    </Card>
  )
}
