import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { PluginPage } from '../../api/pages.ts'
import { fieldsOf } from '../../form/schema.ts'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Values } from '../../form/Values.tsx'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Columns } from '../../parts/Columns.tsx'
import { ConfirmName } from '../../parts/ConfirmName.tsx'
import { Declared } from '../../parts/Declared.tsx'
import { Fact, Facts } from '../../parts/Facts.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { shared } from '../../words.ts'
import { idOf, keysOf, recordOf, send, shownRow, stateOf } from './api.ts'
import type { Row } from './api.ts'
import { fieldIn, Value } from './columns.tsx'
import { words } from './words.ts'

interface OneRecordProps {
  readonly page: PluginPage
  readonly id: string
}

/** One record: its form, or its values where they are not changed here, and what its plugin counts as facts. */
export function OneRecord({ page, id }: OneRecordProps) {
  const queries = useQueryClient()
  const query = useQuery({
    ...recordOf(page, id),
    initialData: () => shownRow(queries, page, id),
    // It is read anew all the same.
    initialDataUpdatedAt: 0,
  })
  const isInFile = query.data !== undefined && stateOf(page, query.data).source === 'file'
  return (
    <Page
      title={id}
      aside={isInFile && <Tag>{shared.inFile}</Tag>}
      actions={query.data && !isInFile && page.routes.delete !== undefined && <Delete page={page} row={query.data} />}
    >
      <Loaded query={query} height={420}>
        {(row) => (
          <Columns side={page.facts.length > 0 ? <FactsOf page={page} row={row} /> : undefined}>
            <Card>
              <Settings page={page} id={id} row={row} reload={query.refetch} />
            </Card>
          </Columns>
        )}
      </Loaded>
    </Page>
  )
}

function FactsOf({ page, row }: { readonly page: PluginPage; readonly row: Row }) {
  return (
    <Card title={words.facts}>
      <Facts>
        {page.facts.map((name) => {
          const field = fieldIn(page, name)
          return (
            <Fact key={name} name={field.label}>
              <Value field={field} value={row[name]} />
            </Fact>
          )
        })}
      </Facts>
    </Card>
  )
}

interface SettingsProps extends OneRecordProps {
  readonly row: Row
  readonly reload: () => Promise<unknown>
}

function Settings({ page, id, row, reload }: SettingsProps) {
  const queries = useQueryClient()
  const { change: form } = page.forms
  const { source, declared_at: at, secrets = {} } = stateOf(page, row)
  const fields = form
    ? fieldsOf(form).filter(({ name }) => name !== page.key)
    : page.columns.map((name) => fieldIn(page, name))
  if (form === undefined || source === 'file')
    return (
      <>
        {source === 'file' && <Declared at={at ? `${at.file}:${at.line}` : null} />}
        <Values fields={fields} values={row} secrets={secrets} />
      </>
    )
  return (
    <SchemaForm
      fields={fields}
      values={row}
      secrets={secrets}
      reload={reload}
      save={async (body) => {
        const now = await send(page, 'change', { row, body })
        if (now) queries.setQueryData(recordOf(page, id).queryKey, now)
        void queries.invalidateQueries({ queryKey: [keysOf(page)] })
        toast(shared.saved)
      }}
    />
  )
}

function Delete({ page, row }: { readonly page: PluginPage; readonly row: Row }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [asks, setAsks] = useState(false)
  const id = idOf(page, row)
  return (
    <>
      <Button look="danger" icon="trash" onClick={() => setAsks(true)}>
        {words.delete}
      </Button>
      {asks && (
        <ConfirmName
          title={words.deleteNamed(id)}
          name={id}
          action={words.deleteNamed(id)}
          onClose={() => setAsks(false)}
          onConfirm={async () => {
            await send(page, 'delete', { row })
            await navigate({ to: `/pages/${page.name}`, search: {} })
            queries.removeQueries({ queryKey: recordOf(page, id).queryKey })
            await queries.invalidateQueries({ queryKey: [keysOf(page)] })
            toast(words.deleted(id))
          }}
        >
          <p>{page.kind === 'record' ? words.deleteRecord : words.deleteRow}</p>
        </ConfirmName>
      )}
    </>
  )
}
