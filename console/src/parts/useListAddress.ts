import { useEffect } from 'react'
import type { Query } from '../api/ask.ts'
import { shared } from '../words.ts'
import { withLeaving } from './FilterBar.tsx'
import type { FilterField } from './FilterBar.tsx'
import { allOf, oneOf, useAddress } from './search.ts'
import type { Order } from './Table.tsx'
import { toast } from './toast.tsx'

interface ListAddress {
  /** The filters, the search and the order, as the route takes them. */
  readonly query: Query
  readonly isFiltered: boolean
  readonly order: Order
}

/**
 * What the address says of a list: its filters, `search`, and `sort` by one of the words of the route, of which the first
 * is the usual one. What is not known is ignored, and said.
 */
export function useListAddress(offered: readonly FilterField[], sorts: readonly [string, ...string[]]): ListAddress {
  const [search, change] = useAddress()
  const fields = withLeaving(offered)
  const [usual] = sorts
  const sort = oneOf(search, 'sort')
  const isOrder = sort === undefined || sorts.some((word) => sort.replace(/^-/, '') === word.replace(/^-/, ''))
  const isKnown = ({ name, values = [], typed = false }: FilterField) =>
    typed || values.length === 0 || allOf(search, name).every((value) => values.some((one) => one.value === value))
  const wrong = isOrder ? fields.find((field) => !isKnown(field))?.name : 'sort'
  useEffect(() => {
    if (wrong === undefined) return
    toast(shared.wrongInAddress(wrong))
    change({ [wrong]: undefined })
  }, [wrong, change])
  const filters: Record<string, readonly string[]> = {}
  for (const name of [...fields.filter(isKnown).map((field) => field.name), 'search'])
    if (name in search) filters[name] = allOf(search, name)
  const by = isOrder && sort !== undefined ? sort : usual
  return {
    query: { ...filters, sort: by },
    isFiltered: Object.keys(filters).length > 0,
    order: { by, change: (next) => change({ sort: next === usual ? undefined : next }) },
  }
}
