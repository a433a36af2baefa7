import { count } from '../format.ts'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { ColumnsMenu } from './ColumnsMenu.tsx'
import { csvOf } from './csv.ts'
import { curlOf } from './curl.ts'
import { Menu } from './Menu.tsx'
import type { Columns } from './useColumns.ts'
import { useCopied } from './useCopied.ts'

interface TableToolsProps<Row> {
  readonly columns: Columns<Row>
  readonly rows: readonly Row[]
  /** Name of the downloaded file. */
  readonly file: string
  /** The question of the list to the API, with path and query; for all its rows rather than those that are loaded. */
  readonly address?: () => string
}

/** Which columns a table shows, and its loaded rows as CSV. */
export function TableTools<Row>({ columns, rows, file, address }: TableToolsProps<Row>) {
  const { shown } = columns
  const [isCopied, copy] = useCopied()
  const csv = () =>
    csvOf(
      shown.map(({ label }) => label),
      rows.map((row) => shown.map(({ text }) => text(row))),
    )
  const download = () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([csv()], { type: 'text/csv' }))
    link.download = file
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <>
      <ColumnsMenu {...columns} />
      <Menu>
        <Menu.Target>
          <Button icon={isCopied ? 'check' : 'download'}>{isCopied ? shared.copied : shared.csv}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{shared.csvLoaded(count(rows.length))}</Menu.Label>
          <Menu.Item onClick={() => copy(csv())}>{shared.copyCsv}</Menu.Item>
          <Menu.Item onClick={download}>{shared.downloadCsv}</Menu.Item>
          {address && (
            <>
              <Menu.Divider />
              <Menu.Label>{shared.curlHint}</Menu.Label>
              <Menu.Item onClick={() => copy(curlOf(new URL(address(), location.href).href))}>
                {shared.copyCurl}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <span className="visually-hidden" role="status">
        {isCopied && shared.copied}
      </span>
    </>
  )
}
