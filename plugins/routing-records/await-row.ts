import { setTimeout as rest } from 'node:timers/promises'
import type { Scope, Services } from '../../engine/index.ts'
import type { Row } from './decision.ts'

/** Milliseconds between looks: rows are written a tenth of a second after the end of a request. Together 2 seconds. */
const pauses = [60, 90, 150, 200, 250, 250, 500, 500]

/** Milliseconds by which the clock of another process may be ahead. */
const ahead = 60_000

/**
 * The row of a request, which may not be written yet: whoever has read an answer may rate it at once. Resolves to
 * undefined if there is none after 2 seconds, or at once if no request can have this id.
 */
export async function awaitRow(
  requests: Pick<Services['requests'], 'row'>,
  id: string,
  { signal }: Pick<Scope, 'signal'>,
): Promise<Row | undefined> {
  const found = await requests.row(id)
  if (found || !mayBegin(id)) return found
  for (const pause of pauses) {
    await rest(pause, undefined, { signal })
    const row = await requests.row(id)
    if (row) return row
  }
  return undefined
}

/** Whether a request of this gateway may have this id: a UUID of version 7, whose first 48 bits are its time (RFC 9562, section 5.7). */
function mayBegin(id: string): boolean {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) return false
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) <= Date.now() + ahead
}
