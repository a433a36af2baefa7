import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { pluginPages } from '../../api/pages.ts'
import type { PluginPage } from '../../api/pages.ts'
import { fieldsOf } from '../../form/schema.ts'
import type { Schema } from '../../api/json.ts'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Columns } from '../../parts/Columns.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { ListPage } from '../../parts/ListPage.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { useZone } from '../../parts/zone.ts'
import { idOf, keysOf, recordOf, rowsOf, send } from './api.ts'
import { OneRecord } from './OneRecord.tsx'
import { columnsOf } from './columns.tsx'
import { filtersOf, isSearched, sortsOf, withMoments } from './filters.ts'
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

/** The rows of a page, with the filters, the search and the order that its list has. */
function RecordList({ page }: { readonly page: PluginPage }) {
  const { name, title, key, routes } = page
  const navigate = useNavigate()
  const zone = useZone()
  return (
    <ListPage
      name={`pages-${name}`}
      words={{ ...words, title, search: isSearched(page) ? words.search : undefined }}
      actions={
        routes.create !== undefined && (
          <Button
            look="primary"
            icon="plus"
            onClick={() => void navigate({ to: `/pages/${name}/-/new`, search: true })}
          >
            {words.new}
          </Button>
        )
      }
      fields={filtersOf(page)}
      sorts={sortsOf(page)}
      list={(query) => rowsOf(page, withMoments(page, query, zone))}
      columns={columnsOf(page)}
      idOf={(row, rows) => (key === null ? String(rows.indexOf(row)) : idOf(page, row))}
      to={(row) => (key === null ? undefined : { to: `/pages/${name}/${encodeURIComponent(idOf(page, row))}` })}
    />
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
