import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { pluginPages } from '../../api/pages.ts'
import type { PluginPage } from '../../api/pages.ts'
import { fieldsOf } from '../../form/schema.ts'
import type { Schema } from '../../api/json.ts'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Card } from '../../parts/Card.tsx'
import { Columns } from '../../parts/Columns.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { idOf, keysOf, recordOf, send } from './api.ts'
import { OneRecord } from './OneRecord.tsx'
import { RecordList } from './RecordList.tsx'
import { words } from './words.ts'

/** What the address says. */
interface Place {
  readonly page: string
  readonly record?: string
  readonly form?: string
}

/** The pages that plugins bring: a list, one record of it, or the form of a new one. */
export default function Pages() {
  const { page: name, record, form } = useParams({ strict: false }) as Place
  return (
    <Loaded query={useQuery(pluginPages)} height={420}>
      {(pages) => {
        const page = pages.find((one) => one.name === name)
        if (page === undefined) return <NoPage />
        if (record !== undefined) return <OneRecord key={`${name} ${record}`} page={page} id={record} />
        const { create } = page.forms
        if (create && form === 'new') return <NewRecord key={`${name} ${form}`} page={page} form={create} />
        return <RecordList key={name} page={page} />
      }}
    </Loaded>
  )
}

function NoPage() {
  return (
    <Page title={words.noPage}>
      <Empty text={words.noPageText} />
    </Page>
  )
}

function NewRecord({ page, form }: { readonly page: PluginPage; readonly form: Schema }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const place = `/pages/${page.name}`
  return (
    <Page title={words.newIn(page.title)}>
      <Columns>
        <Card>
          <SchemaForm
            fields={fieldsOf(form)}
            values={{}}
            save={async (body) => {
              const made = await send(page, 'create', { body })
              void queries.invalidateQueries({ queryKey: [keysOf(page), 'list'] })
              if (made === undefined || page.key === null) return navigate({ to: place, search: {} })
              const id = idOf(page, made)
              queries.setQueryData(recordOf(page, id).queryKey, made)
              return navigate({ to: `${place}/${encodeURIComponent(id)}`, search: {} })
            }}
            onCancel={() => void navigate({ to: place, search: true })}
          />
        </Card>
      </Columns>
    </Page>
  )
}
