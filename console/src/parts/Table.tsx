import { Link, useElementScrollRestoration } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import type { MouseEvent, ReactNode, UIEvent } from 'react'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { useCellMenu } from './CellMenu.tsx'
import type { CellFilter } from './CellMenu.tsx'
import type { CsvValue } from './csv.ts'
import { Icon } from './Icon.tsx'
import { whenAnswered } from './load.ts'
import { AllBox, RowBox } from './RowBoxes.tsx'
import type { Choice } from './RowBoxes.tsx'
import type { Search } from './search.ts'
import { useRowKeys } from './useRowKeys.ts'
import classes from './Table.module.css'

const VirtualRows = lazy(() => whenAnswered(() => import('./VirtualRows.tsx')))

/** From how many rows on only those in view are in the document. */
const virtualFrom = 100

export interface Column<Row> {
  readonly name: string
  readonly label: string
  readonly cell: (row: Row) => ReactNode
  /** For copies; also what a pointer sees that rests on the cell. */
  readonly text: (row: Row) => CsvValue
  /** Numbers stand at the right. */
  readonly number?: boolean
  /** Not shown until it is chosen. */
  readonly spare?: boolean
  /** The route's word for the order by this column. */
  readonly sort?: string
  /** What the list can be filtered by to find the rows that have the same; undefined: by nothing of this row. */
  readonly filter?: (row: Row) => CellFilter | undefined
}

/** The order of the rows, in the words of the route: `name`, or `-name` for the other way round. */
export interface Order {
  readonly by: string
  readonly change: (by: string) => void
}

export interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => string
  /** Where a row leads, if it does; its first cell is the link. */
  readonly to?: (row: Row) => { readonly to: string; readonly search?: Search } | undefined
  /** Rows that have just come. */
  readonly fresh?: ReadonlySet<string>
  /** A row that says something in place of its cells. */
  readonly wordsOf?: (row: Row) => string | undefined
  readonly order?: Order
  readonly choice?: Choice<Row> | undefined
  /** There are further rows to be loaded. */
  readonly more?: { readonly load: () => void; readonly busy: boolean } | undefined
  /** Whether the first row is in view. */
  readonly onTop?: (atTop: boolean) => void
}

/** Rows with a head that stays, in a region that scrolls by itself. Long ones hold only what is in view. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, idOf, order, choice, more, onTop } = props
  const [region, place] = useRegion(caption)
  useRowKeys(region)
  const width = columns.length + (choice ? 1 : 0)
  const { menu, ...keys } = useCellMenu({ rows, columns, before: choice ? 1 : 0 })
  const scrolled = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: UIEvent<HTMLDivElement>) => {
    onTop?.(scrollTop < 32)
    if (more && !more.busy && scrollHeight - scrollTop - clientHeight < 400) more.load()
  }
  const drawn = (row: Row, index: number) => <TableRow key={idOf(row)} row={row} index={index} {...props} />
  const isVirtual = rows.length > virtualFrom
  const some = useMemo(() => (isVirtual ? rows.slice(0, virtualFrom) : rows), [rows, isVirtual])
  return (
    <>
      <div
        className={classes.region}
        ref={place}
        onScroll={scrolled}
        tabIndex={0}
        role="group"
        aria-label={caption}
        data-scroll-restoration-id={caption}
        {...keys}
      >
        <table className={classes.table} aria-rowcount={isVirtual ? -1 : undefined}>
          <caption className="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {choice && (
                <th scope="col">
                  <AllBox rows={rows} idOf={idOf} {...choice} />
                </th>
              )}
              {columns.map((column) => (
                <Head key={column.name} {...column} order={order} />
              ))}
            </tr>
          </thead>
          <Suspense fallback={<tbody>{some.map(drawn)}</tbody>}>
            {isVirtual ? (
              <VirtualRows rows={rows} region={region} draw={drawn as never} width={width} />
            ) : (
              <tbody>{rows.map(drawn)}</tbody>
            )}
          </Suspense>
        </table>
        {more && (
          <div className={classes.more}>
            <Button small busy={more.busy} onClick={more.load}>
              {shared.loadMore}
            </Button>
          </div>
        )}
      </div>
      {menu}
    </>
  )
}

/** What scrolls, once it is there, and where it is told of. Who comes back to a list finds it where it was. */
function useRegion(caption: string) {
  const [region, setRegion] = useState<HTMLDivElement | null>(null)
  const kept = useElementScrollRestoration({ id: caption })
  const [start] = useState(kept)
  const place = useCallback(
    (element: HTMLDivElement | null) => {
      if (start) element?.scrollTo(start.scrollX, start.scrollY)
      setRegion(element)
    },
    [start],
  )
  return [region, place] as const
}

interface HeadProps {
  readonly label: string
  readonly number?: boolean
  readonly sort?: string
  readonly order: Order | undefined
}

/** The name of a column; where the route can sort by it, a button that does. Figures begin with the highest. */
function Head({ label, number = false, sort, order }: HeadProps) {
  if (sort === undefined || !order)
    return (
      <th scope="col" data-number={number}>
        {label}
      </th>
    )
  const way = order.by === sort ? 'ascending' : order.by === `-${sort}` ? 'descending' : 'none'
  const next = way === 'none' ? (number ? `-${sort}` : sort) : way === 'ascending' ? `-${sort}` : sort
  return (
    <th scope="col" data-number={number} aria-sort={way}>
      <button type="button" className={classes.sort} onClick={() => order.change(next)}>
        {label}
        {way !== 'none' && <Icon name={way === 'ascending' ? 'arrow-up' : 'arrow-down'} size={11} />}
      </button>
    </th>
  )
}

interface TableRowProps<Row> extends TableProps<Row> {
  readonly row: Row
  readonly index: number
}

function TableRow<Row>({ row, index, columns, idOf, to, fresh, wordsOf, choice }: TableRowProps<Row>) {
  const said = wordsOf?.(row)
  if (said !== undefined)
    return (
      <tr aria-rowindex={index + 2}>
        <td colSpan={columns.length} className={classes.said}>
          {said}
        </td>
      </tr>
    )
  const target = to?.(row)
  const open = (event: MouseEvent<HTMLTableRowElement>) => {
    const isOwn = (event.target as HTMLElement).closest('a, button, input, label') !== null
    if (!target || isOwn || String(getSelection()) !== '') return
    event.currentTarget.querySelector('a')?.click()
  }
  return (
    <tr aria-rowindex={index + 2} data-fresh={fresh?.has(idOf(row)) || undefined} data-link={!!target} onClick={open}>
      {choice && (
        <td>
          <RowBox id={idOf(row)} label={choice.labelOf(row)} {...choice} />
        </td>
      )}
      {columns.map(({ name, cell, text, number }, at) => (
        <td key={name} data-number={number} title={String(text(row) ?? '')}>
          {at === 0 && target ? (
            <Link to={target.to} {...(target.search && { search: target.search })} data-row-link="">
              {cell(row)}
            </Link>
          ) : (
            cell(row)
          )}
        </td>
      ))}
    </tr>
  )
}
