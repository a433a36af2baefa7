import type { Catalog } from '../../engine/index.ts'
import { duration } from '../../engine/kit.ts'

/** Milliseconds for which a hold outlasts the longest request. */
const MORE = 60_000

/** Milliseconds after which what an exchange holds is free again at the latest. */
export function lastingOf({ settings }: Pick<Catalog, 'settings'>): number {
  return duration(settings.resilience.timeouts.total) + MORE
}
