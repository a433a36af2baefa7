import { useSyncExternalStore } from 'react'
import type { Zone } from '../format.ts'

export type { Zone }

const place = 'sluice-zone'
const listeners = new Set<() => void>()

export const zoneNow = (): Zone => (localStorage.getItem(place) === 'local' ? 'local' : 'utc')

export function chooseZone(zone: Zone): void {
  localStorage.setItem(place, zone)
  for (const listener of listeners) listener()
}

export function useZone(): Zone {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, zoneNow)
}
