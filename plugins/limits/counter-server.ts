import type { Json } from '../../engine/index.ts'
import type { Counters, Giving, Hold, Reserving, Seed, Settling, Sum, Taking } from './counters.ts'
import { Holds } from './holds.ts'
import { MemoryCounters } from './memory-counters.ts'

/** A call of counters, as one process sends it to another. */
export type Asked =
  | { readonly take: Taking }
  | { readonly give: Giving }
  | { readonly reserve: Reserving }
  | { readonly settle: Settling }
  | { readonly seed: readonly Seed[] }
  | { readonly read: readonly Sum[] }
  | { readonly reset: { readonly bucket: string; readonly at: number } }
  | { readonly hold: readonly Hold[] }
  | { readonly passOn: string }

/** The counters of all processes of this machine, in the first of them. */
const counters = new MemoryCounters()

/** What each process holds: it is given back when the process ends. */
const held = new Map<number, Holds>()

/** Answers a call of a serving process. */
export default function answer(question: Json, from: number): Json | undefined {
  const asked = question as unknown as Asked
  const own = held.get(from) ?? new Holds()
  held.set(from, own)
  return call(counters, own, asked) as Json | undefined
}

/** A process has ended, and settles nothing any more. Whoever learns that a run is lost ends what that holds. */
export function left(from: number): void {
  for (const { id, places, sums, isRun } of held.get(from)?.all ?? []) {
    if (isRun) continue
    counters.give({ id, rates: [], places })
    counters.settle({ id, sums, micros: 0 })
  }
  held.delete(from)
}

function call(all: MemoryCounters, own: Holds, asked: Asked): ReturnType<Counters[keyof Counters]> {
  if ('take' in asked) {
    const taken = all.take(asked.take)
    own.took(asked.take, taken)
    return taken
  }
  if ('give' in asked) {
    own.gave(asked.give)
    return all.give(asked.give)
  }
  if ('reserve' in asked) {
    const reserved = all.reserve(asked.reserve)
    own.reserved(asked.reserve, reserved)
    return reserved
  }
  if ('settle' in asked) {
    own.settled(asked.settle)
    return all.settle(asked.settle)
  }
  if ('seed' in asked) return all.seed(asked.seed)
  if ('read' in asked) return all.read(asked.read)
  if ('reset' in asked) return all.reset(asked.reset.bucket, asked.reset.at)
  if ('passOn' in asked) return void own.passOn(asked.passOn)
  return all.hold(asked.hold)
}
