import { setImmediate as turn } from 'node:timers/promises'

/** Entries that are handled at once: about ten milliseconds of work. */
export const pieceOfList = 250

/** Handles the entries of a list, which may be very long, in pieces, so that requests are served between them. */
export async function inPieces<T>(entries: Iterable<T>, handle: (entry: T) => void): Promise<void> {
  let handled = 0
  for (const entry of entries) {
    handle(entry)
    if (++handled % pieceOfList === 0) await turn()
  }
}
