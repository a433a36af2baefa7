import type { JsonObject } from '../../../engine/index.ts'
import type { WholeResponse } from './record.ts'

/** What a body was completed with. */
export interface Continued {
  readonly previous: WholeResponse
  /** The first items of `input`: those that `previous` and what came before it have left. */
  readonly count: number
}

const bodies = new WeakMap<JsonObject, Continued>()

/** Remembers what a body was completed with, for as long as nobody makes another body of it. */
export function continues(body: JsonObject, continued: Continued): void {
  bodies.set(body, continued)
}

export function continuedIn(body: JsonObject): Continued | undefined {
  return bodies.get(body)
}
