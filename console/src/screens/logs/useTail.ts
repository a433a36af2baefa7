import { createParser } from 'eventsource-parser'
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { askRaw } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import { tellReconnecting } from '../../parts/useLive.ts'
import type { Row } from './row.ts'

interface Tail {
  /** The filters of the list, which are those of the stream. */
  readonly filters: Query
  /** The newest row that is known, from which the stream goes on. */
  readonly lastId: string | undefined
  readonly isOn: boolean
  readonly onRow: (row: Row) => void
  /** Called with the number of rows that the stream skipped. */
  readonly onGap: (dropped: number) => void
  /** The stream starts with the next new row, because no earlier row is known. */
  readonly onBegin: () => void
}

/**
 * Follows new rows of the log while the page is shown. A broken stream is opened again after 1, 2, 4 … 30 seconds, where
 * it was left.
 */
export function useTail({ filters, lastId, isOn, onRow, onGap, onBegin }: Tail): void {
  const tellRow = useEffectEvent(onRow)
  const tellGap = useEffectEvent(onGap)
  const tellBegin = useEffectEvent(onBegin)
  const start = useEffectEvent(() => lastId)
  const key = JSON.stringify(filters)
  const isOpen = useInFront() && isOn
  useEffect(() => {
    if (!isOpen) return
    const over = new AbortController()
    const told = { onRow: tellRow, onGap: tellGap, onBegin: tellBegin }
    void follow(JSON.parse(key) as Query, start(), told, over.signal)
    return () => {
      over.abort()
      tellReconnecting(null)
    }
  }, [key, isOpen])
}

type Told = Pick<Tail, 'onRow' | 'onGap' | 'onBegin'>

async function follow(filters: Query, from: string | undefined, told: Told, signal: AbortSignal): Promise<void> {
  let lastId = from
  for (let wait = 1; !signal.aborted; wait = Math.min(30, wait * 2)) {
    try {
      const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
      const { body } = await askRaw('GET', '/api/logs/tail', { query: filters, signal, headers })
      tellReconnecting(null)
      wait = 1
      if (lastId === undefined) told.onBegin()
      const parser = createParser({
        onEvent({ event, id, data }) {
          lastId = id ?? lastId
          if (event === 'row') told.onRow(JSON.parse(data) as Row)
          if (event === 'gap') told.onGap((JSON.parse(data) as { dropped: number }).dropped)
        },
      })
      const text = new TextDecoder()
      for await (const chunk of body ?? []) parser.feed(text.decode(chunk, { stream: true }))
    } catch {
      // Refused or broken: the indicator says that it is tried again.
    }
    if (signal.aborted) return
    await countdown(wait, signal)
  }
}

/** Waits, and tells the indicator of each second. */
async function countdown(seconds: number, signal: AbortSignal): Promise<void> {
  for (let left = seconds; left > 0 && !signal.aborted; left -= 1) {
    tellReconnecting(left)
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}

/** Whether the page can be seen: its tab is in front. */
const useInFront = (): boolean => useSyncExternalStore(listen, () => document.visibilityState === 'visible')

function listen(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
