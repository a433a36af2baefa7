import type { Json } from '../../engine/index.ts'

/** When serving processes ended, in milliseconds since 1970; the newest last. */
const ends: number[] = []
const most = 100

/** The process that goes on with what those before it have said for themselves. */
let heir: number | undefined

/**
 * Answers when serving processes ended, in the process that starts them; to `inherits`, whether the one that asks goes
 * on with what was said under the name that all of them have.
 */
export default function ended(question: Json, from: number): Json {
  if (question !== 'inherits') return ends
  heir ??= from
  return heir === from
}

export function left(_from: number, isStopping: boolean): void {
  if (isStopping) return
  // Each is told by its time.
  ends.push(Math.max(Date.now(), (ends.at(-1) ?? 0) + 1))
  ends.splice(0, ends.length - most)
}
