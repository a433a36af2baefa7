import { useSyncExternalStore } from 'react'
import { onSilence, secondsOfSilence } from '../api/silence.ts'
import { oneOf, useAddress } from './search.ts'

/** What keeps live data from moving, and what a stream of the page says of itself. */
interface LiveState {
  /** An open row, or selected text: live data waits. */
  readonly holds: number
  /** Seconds until a broken stream is opened again; null: none is broken. */
  readonly reconnecting: number | null
}

let state: LiveState = { holds: 0, reconnecting: null }
const listeners = new Set<() => void>()

function set(next: Partial<LiveState>): void {
  state = { ...state, ...next }
  for (const listener of listeners) listener()
}

/** Holds live data until the returned function is called. */
export function holdLive(): () => void {
  set({ holds: state.holds + 1 })
  return () => set({ holds: state.holds - 1 })
}

/** Tells the indicator that a stream is broken and opened again in so many seconds; null: it is open. */
export const tellReconnecting = (seconds: number | null) => set({ reconnecting: seconds })

export interface Live {
  /** Whether data should move: chosen, in a range that moves, and nothing holds it. */
  readonly live: boolean
  readonly shows: 'live' | 'paused' | 'reconnecting'
  readonly reconnecting: number | null
  readonly toggle: () => void
  /** For `refetchInterval` of figures: ten seconds, or never. */
  readonly interval: number | false
}

/** Whether the page follows what happens. It does unless the address has `live=0`, or an `until`: what has ended stays. */
export function useLive(): Live {
  const [search, change] = useAddress()
  const silent = useSyncExternalStore(onSilence, secondsOfSilence)
  const { holds, reconnecting: streaming } = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )
  const chosen = oneOf(search, 'live') !== '0'
  const reconnecting = silent ?? streaming
  const hasEnded = oneOf(search, 'until') !== undefined
  const live = chosen && !hasEnded && holds === 0
  return {
    live,
    shows: !live ? 'paused' : reconnecting === null ? 'live' : 'reconnecting',
    reconnecting,
    toggle: () =>
      hasEnded
        ? change({ live: undefined, since: undefined, until: undefined }, { push: true })
        : change({ live: chosen ? '0' : undefined }),
    interval: live ? 10_000 : false,
  }
}
