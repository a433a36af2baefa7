import type { JsonObject } from '../../../engine/index.ts'
import type { WholeResponse } from './record.ts'

/** The earlier turns with which a body was completed. */
export interface Continued {
  readonly previous: WholeResponse
  /** The number of leading items of `input` that come from `previous` and the turns before it. */
  readonly count: number
}

const bodies = new WeakMap<JsonObject, Continued>()

/** Remembers the completion of a body, until another body replaces it. */
export function continues(body: JsonObject, continued: Continued): void {
  bodies.set(body, continued)
}

export function continuedIn(body: JsonObject): Continued | undefined {
  return bodies.get(body)
}
