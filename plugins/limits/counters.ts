import type { Period, Starts } from './period.ts'
import type { Soon } from './soon.ts'

/** What a rate limit counts. */
export type Counted = 'requests' | 'tokens'

/** A token bucket, and the amount to take from it: `limit` at most, refilled with `limit` per `period`, full at first. */
export interface Rate {
  /** Name of what is limited, such as `key:<id>`. */
  readonly bucket: string
  readonly counts: Counted
  readonly limit: number
  /** In milliseconds. */
  readonly period: number
  readonly amount: number
}

/** Exchanges that may run at the same time. */
export interface Places {
  readonly bucket: string
  readonly limit: number
}

/** What one exchange takes when it starts: all of it, or nothing. */
export interface Taking {
  /** Id of the exchange. A place that it already has is kept. */
  readonly id: string
  /** Milliseconds for which its places last, unless they are given back or renewed. */
  readonly lasts: number
  readonly rates: readonly Rate[]
  readonly places: readonly Places[]
  /** A run in the background takes even what is not there: levels may become negative. Its places outlast its process. */
  readonly forced?: boolean
}

/** The state of a token bucket. */
export interface Level {
  /** Whole units; negative after more was used than had been taken. */
  readonly remaining: number
  /** Milliseconds until it is full. */
  readonly full: number
}

export interface Taken {
  /** The levels of the token buckets, after the request. */
  readonly levels: readonly Level[]
  /** Nothing was taken: the index of what is missing for longest, the places after the rates, and for how many milliseconds. */
  readonly refused?: { readonly index: number; readonly wait: number }
}

/** What goes back at the end of an exchange. */
export interface Giving {
  readonly id: string
  /** `amount` goes back; a negative amount is taken in addition. */
  readonly rates: readonly Rate[]
  /** Buckets whose places are given back. */
  readonly places: readonly string[]
}

/** The sum spent within a period, in micro-USD like all money here, and its limit. */
export interface Sum {
  readonly bucket: string
  readonly period: Period
  readonly starts: Starts
  readonly limit: number
  /** Divides what was left when the sum became known here, because other processes use the rest; default: 1. */
  readonly share?: number
}

/** Money to hold for one exchange: the same amount in every sum, or nothing. */
export interface Reserving {
  /** Id of the exchange. A hold that it already has is replaced. */
  readonly id: string
  readonly lasts: number
  readonly sums: readonly Sum[]
  /** The estimates of all candidates, dearest first. The first that every sum admits is held. */
  readonly estimates: readonly number[]
  /** The part of the estimate that is charged when nobody knows how the exchange ended. */
  readonly input: number
  /** Whether it is for a run in the background, whose hold outlasts its process: another one ends it. */
  readonly isRun?: boolean
}

export type Reserved =
  /** `at`: when it was reserved; `left`: what each sum still has. */
  | { readonly at: number; readonly held: number; readonly left: readonly number[] }
  /** Index of the sum with the least left. */
  | { readonly refused: number; readonly state: SumState }
  /** Indexes of sums that must be seeded first. */
  | { readonly unknown: readonly number[] }

/** The state of a sum. */
export interface SumState {
  readonly spent: number
  readonly held: number
  /** Start of the period, or the last reset within it. */
  readonly since: number
}

/** A sum as the ledger knows it. */
export interface Seed {
  readonly bucket: string
  readonly period: Period
  readonly since: number
  readonly spent: number
}

/** The hold of a running exchange. */
export interface Hold {
  readonly id: string
  readonly lasts: number
  /** Buckets in which it holds a place. */
  readonly places: readonly string[]
  /** Buckets in which it holds money. */
  readonly sums: readonly string[]
  readonly micros: number
  readonly input: number
  readonly at: number
  /** Whether it is of a run in the background. */
  readonly isRun: boolean
}

/** The end of a hold: what the exchange cost; `input`: the part that the hold names. */
export interface Settling {
  readonly id: string
  readonly sums: readonly string[]
  readonly micros: number | 'input'
}

/**
 * Rates, places and sums of all buckets. Each call is atomic, by the clock of the store. A ledger of its own is the
 * truth about sums: a sum that a store does not know must be seeded from it.
 */
export interface Counters {
  take(taking: Taking): Soon<Taken>
  give(giving: Giving): Soon<void>
  reserve(reserving: Reserving): Soon<Reserved>
  /** Ends a hold, once, and charges the sums of its time. Returns what was charged; undefined: there is no such hold. */
  settle(settling: Settling): Soon<number | undefined>
  /** Merges sums of the ledger: the later `since` holds, or with the same one the larger sum. */
  seed(seeds: readonly Seed[]): Soon<void>
  /** The states of sums; undefined: it must be seeded first. */
  read(sums: readonly Sum[]): Soon<readonly (SumState | undefined)[]>
  /** Sets all sums of a bucket to zero; exchanges that reserved before do not count any more. */
  reset(bucket: string, at: number): Soon<void>
  /** Makes sure that holds exist, and last. */
  hold(holds: readonly Hold[]): Soon<void>
}

/** Counters that other processes share. */
export interface SharedCounters extends Counters {
  hold(holds: readonly Hold[]): Promise<void>
  /** Milliseconds after which this process must tell again what it holds. */
  readonly beat: number
  /** What this process holds for an exchange now lasts until its run in the background ends it, if it is still held. */
  passOn(hold: Hold): Promise<void>
  /** Makes sure that they answer, and know what this process holds. Rejects if they do not. */
  greet(): Promise<void>
  /** Tells that this process is running. Resolves to the number of those that do. */
  processes(): Promise<number>
}
