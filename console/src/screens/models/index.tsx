import { useNavigate, useParams } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { SchemaForm } from '../../form/SchemaForm.tsx'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { Table } from '../../parts/Table.tsx'
import { TableTools } from '../../parts/TableTools.tsx'
import { oneOf, useAddress } from '../../parts/search.ts'
import { useColumns } from '../../parts/useColumns.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { ModelList } from './ModelList.tsx'
import { OneModel } from './OneModel.tsx'
import { Sync } from './Sync.tsx'
import { catalog, makeModel } from './api.ts'
import { useShowModel } from './change.ts'
import { catalogColumns } from './columns.tsx'
import { newFields, usual } from './fields.ts'
import { words } from './words.ts'

/** What can be asked for. Viewers see the models that they may use. */
export default function Models() {
  const { name } = useParams({ strict: false }) as { readonly name?: string }
  const [search] = useAddress()
  if (!useIsAdmin()) return <Catalog />
  if (name !== undefined) return <OneModel key={name} name={name} />
  if (oneOf(search, 'add') !== undefined) return <AddModel />
  return oneOf(search, 'sync') === undefined ? <ModelList /> : <Sync />
}

/** Makes a model: a name for what a provider serves. */
function AddModel() {
  const [search, change] = useAddress()
  const navigate = useNavigate()
  const show = useShowModel()
  const provider = oneOf(search, 'provider')
  return (
    <Page key="add" title={words.add}>
      <Card>
        <SchemaForm
          fields={newFields}
          values={{}}
          usual={usual}
          initial={provider === undefined ? {} : { provider }}
          save={async (body) => {
            const made = await makeModel(body)
            show(made)
            void navigate({ to: `/models/${encodeURIComponent(made.name)}`, search: {} })
          }}
          onCancel={() => change({ add: undefined })}
        />
      </Card>
    </Page>
  )
}

/** The models that a viewer may use. */
function Catalog() {
  const query = useQuery(catalog)
  const columns = useColumns('sluice-columns-catalog', catalogColumns)
  return (
    <Page title={words.title} actions={<TableTools columns={columns} rows={query.data ?? []} file="models.csv" />}>
      <Loaded query={query} height={320}>
        {(rows) => (
          <Card>
            {rows.length === 0 ? (
              <Empty text={words.emptyViewer} />
            ) : (
              <Table caption={words.title} columns={columns.shown} rows={rows} idOf={({ name }) => name} />
            )}
          </Card>
        )}
      </Loaded>
    </Page>
  )
}
