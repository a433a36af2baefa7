import { Fragment, useState } from 'react'
import type { KeyboardEvent, MouseEvent } from 'react'
import { shared } from '../words.ts'
import { added, leaving } from './FilterBar.tsx'
import { Menu } from './Menu.tsx'
import { allOf, useAddress } from './search.ts'

/** A value that the list can be filtered by. */
export interface CellFilter {
  /** The query parameter of the route, and of the address. */
  readonly name: string
  readonly value: string
  /** How people read the value, if otherwise. */
  readonly label?: string
}

/** The filter by a value of a cell; undefined where the cell is empty. */
export const asked = (name: string, value: string | null | undefined, label?: string | null): CellFilter | undefined =>
  value == null ? undefined : { name, value, ...(label == null ? {} : { label }) }

/** A column whose cells have values that the list can be filtered by. */
interface Filtering<Row> {
  readonly label: string
  readonly filter?: (row: Row) => CellFilter | undefined
}

interface Offered extends CellFilter {
  readonly column: string
}

interface Opened {
  readonly at: { readonly left: number; readonly top: number }
  readonly offers: readonly Offered[]
  /** What had the focus. */
  readonly from: Element | null
}

interface Cells<Row> {
  readonly rows: readonly Row[]
  readonly columns: readonly Filtering<Row>[]
  /** How many cells stand before those of the columns. */
  readonly before: number
}

/**
 * The menu of a table's cells, which filters the list by their values, or leaves them out. The pointer opens it on a
 * cell; `Shift F10` or the menu key on a row, and then it has all cells of the row.
 */
export function useCellMenu<Row>({ rows, columns, before }: Cells<Row>) {
  const [opened, open] = useState<Opened>()
  const offersOf = (target: Element, all: boolean): readonly Offered[] => {
    const cell = target.closest('td')
    const row = rows[Number(cell?.closest('tr')?.getAttribute('aria-rowindex') ?? 0) - 2]
    if (!cell || !row) return []
    const asked = all ? columns : columns.filter((_column, index) => index === cell.cellIndex - before)
    return asked.flatMap(({ label, filter }) => {
      const offer = filter?.(row)
      return offer ? [{ ...offer, column: label }] : []
    })
  }
  const show = (event: MouseEvent | KeyboardEvent, offers: readonly Offered[], at: Opened['at']) => {
    if (offers.length === 0) return
    event.preventDefault()
    open({ at, offers, from: document.activeElement })
  }
  return {
    onContextMenu: (event: MouseEvent) =>
      show(event, offersOf(event.target as Element, false), { left: event.clientX, top: event.clientY }),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'ContextMenu' && !(event.key === 'F10' && event.shiftKey)) return
      const target = event.target as Element
      const { left, bottom } = target.getBoundingClientRect()
      show(event, offersOf(target, true), { left, top: bottom })
    },
    menu: opened && <CellMenu {...opened} onClose={() => open(undefined)} />,
  }
}

function CellMenu({ at, offers, from, onClose }: Opened & { readonly onClose: () => void }) {
  const [search, change] = useAddress()
  const filterFor = ({ name, value }: Offered) => {
    const left = allOf(search, leaving(name)).filter((one) => one !== value)
    change({ [name]: [value], [leaving(name)]: left }, { push: true })
  }
  const leaveOut = ({ name, value }: Offered) => {
    const asked = allOf(search, name).filter((one) => one !== value)
    change({ [name]: asked, [leaving(name)]: added(allOf(search, leaving(name)), value) }, { push: true })
  }
  const close = () => {
    onClose()
    if (from instanceof HTMLElement) from.focus()
  }
  return (
    <Menu
      opened
      position="bottom-start"
      offset={2}
      transitionProps={{ duration: 0 }}
      // Not by keys: the one that opens it would close it, too.
      clickOutsideEvents={['mousedown', 'touchstart']}
      onClose={close}
    >
      <Menu.Target>
        <span aria-hidden="true" style={{ position: 'fixed', ...at }} />
      </Menu.Target>
      <Menu.Dropdown aria-label={shared.filterFor}>
        {offers.map((offer, index) => {
          const words = shared.filterIs(offer.column, offer.label ?? offer.value)
          return (
            <Fragment key={offer.name}>
              <Menu.Item data-autofocus={index === 0 || undefined} onClick={() => filterFor(offer)}>
                {shared.filterForValue(words)}
              </Menu.Item>
              <Menu.Item onClick={() => leaveOut(offer)}>{shared.leaveOutValue(words)}</Menu.Item>
            </Fragment>
          )
        })}
      </Menu.Dropdown>
    </Menu>
  )
}
