import type { Json } from '../../engine/index.ts'

/** When serving processes ended, in milliseconds since 1970; the newest last. */
const ends: number[] = []
const most = 100

/** Answers when serving processes ended, in the process that starts them. */
export default function ended(_question: Json, _from: number): Json {
  return ends
}

export function left(_from: number, isStopping: boolean): void {
  if (isStopping) return
  // Each is told by its time.
  ends.push(Math.max(Date.now(), (ends.at(-1) ?? 0) + 1))
  ends.splice(0, ends.length - most)
}
