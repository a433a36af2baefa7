import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Query } from '../../api/ask.ts'
import type { Search } from '../../parts/search.ts'
import { count } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { holdLive, useLive } from '../../parts/useLive.ts'
import { useRange } from '../../parts/useRange.ts'
import { requestList } from './api.ts'
import { isGap } from './columns.tsx'
import type { Entry } from './columns.tsx'
import { useTail } from './useTail.ts'
import { words } from './words.ts'
import classes from './logs.module.css'

interface RequestsProps {
  readonly filters: Query
  readonly isFiltered: boolean
  readonly columns: readonly Column<Entry>[]
  readonly link: (entry: Entry) => { readonly to: string; readonly search?: Search }
  /** Told of the rows that are shown. */
  readonly onRows: (rows: readonly Entry[]) => void
}

/** Most rows that a page keeps of those that came while it was open. */
const mostLive = 1000

/** How many gaps were shown so far. Gaps stay when a user leaves the page, so their numbers go on. */
let gaps = 0

/** The requests of the filters, newest first, and new ones above them while the page is live. */
export function Requests({ filters, isFiltered, columns, link, onRows }: RequestsProps) {
  const range = useRange()
  const { live } = useLive()
  const list = useInfiniteQuery(requestList(filters, range))
  const loaded = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data])
  const [arrived, setArrived] = useArrived(filters, range.key)
  const [waiting, setWaiting] = useState<readonly Entry[]>([])
  const isOnTop = useRef(true)
  const place = useRef<HTMLDivElement>(null)
  useHoldWhileSelecting()
  const takeIn = (entries: readonly Entry[]) => setArrived((before) => cut([...entries, ...before]))
  const come = (entry: Entry) => (isOnTop.current ? takeIn([entry]) : setWaiting((before) => cut([entry, ...before])))
  useTail({
    filters,
    lastId: [...waiting, ...arrived].find((entry) => !isGap(entry))?.id ?? loaded?.[0]?.id,
    isOn: live && loaded !== undefined,
    onRow: come,
    onGap: (dropped) => come({ id: `gap ${(gaps += 1)}`, at: new Date().toISOString(), dropped }),
    onBegin: () => void list.refetch(),
  })
  const rows = useMemo(() => merged(arrived, loaded ?? [], list.hasNextPage), [arrived, loaded, list.hasNextPage])
  useEffect(() => onRows(rows), [rows, onRows])
  const [before] = useState(() => new Set(arrived))
  const fresh = useMemo(
    () => new Set(arrived.filter((entry) => !before.has(entry)).map(({ id }) => id)),
    [arrived, before],
  )
  const show = () => {
    takeIn(waiting)
    setWaiting([])
    const list = place.current?.querySelector<HTMLElement>('[role=group]')
    list?.scrollTo(0, 0)
    // The button goes.
    list?.focus()
  }
  if (list.error && !loaded) return <Failure error={list.error} onRetry={() => void list.refetch()} />
  if (!loaded) return <Skeleton height={320} />
  return (
    <div className={classes.list} ref={place}>
      <Card>
        {rows.length === 0 ? (
          <Empty text={isFiltered ? words.emptyFiltered : words.empty}>
            {range.length < 604_800_000 && <Button onClick={() => range.choose('7d')}>{words.widen}</Button>}
          </Empty>
        ) : (
          <Table
            caption={words.table}
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            to={link}
            fresh={fresh}
            wordsOf={(entry) => (isGap(entry) ? words.gap(count(entry.dropped)) : undefined)}
            more={
              list.hasNextPage ? { load: () => void list.fetchNextPage(), busy: list.isFetchingNextPage } : undefined
            }
            onTop={(atTop) => (isOnTop.current = atTop)}
          />
        )}
        {waiting.length > 0 && (
          <div className={classes.fresh}>
            <Button look="primary" small onClick={show}>
              {words.newRows(waiting.length, count(waiting.length))}
            </Button>
          </div>
        )}
      </Card>
    </div>
  )
}

/** What came while the page was open. It is kept beside the loaded rows, for those who open a row and come back. */
function useArrived(filters: Query, range: string) {
  const queries = useQueryClient()
  const key = useMemo(() => ['logs', 'arrived', range, filters], [range, filters])
  const [arrived, setArrived] = useState<readonly Entry[]>(() => queries.getQueryData(key) ?? [])
  useEffect(() => void queries.setQueryData(key, arrived), [queries, key, arrived])
  return [arrived, setArrived] as const
}

/** The latest entries, and in place of older ones how many they were. */
function cut(entries: readonly Entry[]): readonly Entry[] {
  if (entries.length <= mostLive) return entries
  const kept = entries.slice(0, mostLive)
  const dropped = entries.slice(mostLive).reduce((sum, entry) => sum + (isGap(entry) ? entry.dropped : 1), 0)
  return [...kept, { id: 'gap of older rows', at: kept.at(-1)?.at ?? '', dropped }]
}

/** Each request once, newest first. A long one comes when it ends, and stands where it began. */
function merged(arrived: readonly Entry[], loaded: readonly Entry[], isMore: boolean): readonly Entry[] {
  const known = new Set(loaded.map(({ id }) => id))
  // What is older than the loaded rows comes with a further page.
  const oldest = isMore ? (loaded.at(-1)?.at ?? '') : ''
  const added = arrived.filter(({ id, at }) => !known.has(id) && at >= oldest && known.add(id))
  return [...added, ...loaded].toSorted((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0))
}

/** Rows do not move under selected text. */
function useHoldWhileSelecting(): void {
  useEffect(() => {
    let release: (() => void) | undefined
    const look = () => {
      const isSelecting = !(document.getSelection()?.isCollapsed ?? true)
      if (isSelecting) release ??= holdLive()
      else {
        release?.()
        release = undefined
      }
    }
    document.addEventListener('selectionchange', look)
    return () => {
      document.removeEventListener('selectionchange', look)
      release?.()
    }
  }, [])
}
