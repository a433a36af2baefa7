import { useSyncExternalStore } from 'react'

/** Whether the page can be seen: its tab is in front. */
export const useInFront = (): boolean => useSyncExternalStore(listen, () => document.visibilityState === 'visible')

function listen(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
