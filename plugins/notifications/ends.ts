import type { Json } from '../../engine/index.ts'

/** When serving processes ended, in milliseconds since 1970; the newest last. */
const ends: number[] = []
const most = 100

/** Answers when serving processes ended, in the process that starts them. */
export default function ended(): Json {
  return ends
}

export function left(): void {
  ends.push(Date.now())
  ends.splice(0, ends.length - most)
}
