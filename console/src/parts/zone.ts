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

/** Reads `2026-11-23`, `2026-11-23 14:05`, or RFC 3339; without a zone of its own it is in the given one. */
export function readMoment(text: string, zone: Zone): Date | undefined {
  const given = text.trim().replace(' ', 'T')
  const [, date, time = 'T00:00', own] =
    /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?(Z|[+-]\d\d:\d\d)?$/.exec(given) ?? []
  if (date === undefined) return undefined
  const moment = new Date(date + time + (own ?? (zone === 'utc' ? 'Z' : '')))
  return Number.isNaN(moment.getTime()) ? undefined : moment
}

/** A moment as {@link readMoment} reads it: `2026-11-23 14:05`, to the minute. */
export function printMoment(text: string, zone: Zone): string {
  const moment = new Date(text)
  const shifted = zone === 'utc' ? moment : new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16).replace('T', ' ')
}
