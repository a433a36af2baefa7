import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'

/** Why something that is shown could not be loaded again; null: all of it could. */
export function useOutdated(): Error | null {
  const cache = useQueryClient().getQueryCache()
  const listen = useCallback((listener: () => void) => cache.subscribe(listener), [cache])
  const find = () =>
    cache.findAll({ type: 'active' }).find(({ state }) => state.status === 'error' && state.data !== undefined)
  return useSyncExternalStore(listen, () => find()?.state.error ?? null)
}
