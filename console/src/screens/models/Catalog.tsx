import { useQuery } from '@tanstack/react-query'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Page } from '../../parts/Page.tsx'
import { Table } from '../../parts/Table.tsx'
import { TableTools } from '../../parts/TableTools.tsx'
import { useColumns } from '../../parts/useColumns.ts'
import { catalog } from './api.ts'
import { catalogColumns } from './columns.tsx'
import { words } from './words.ts'

/** The models that a viewer may use. */
export function Catalog() {
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
