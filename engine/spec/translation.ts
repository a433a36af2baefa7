import type { ModelRecord } from './catalog.ts'
import type { DecideQuestion } from './decide.ts'
import type { Json } from './json.ts'
import type { Offer } from './open-provider.ts'
import type { Frame } from './source.ts'

/** A field of a request or an answer that could not be carried over, and why. */
export interface Loss {
  readonly field: string
  readonly because: string
}

/** What a client is not shown of items of its answer, though later turns need it: by the items' ids. */
export type Unshown = ReadonlyMap<string, string>

/** Something printed in a protocol, with what was lost on the way. */
export interface Printed<T> {
  readonly body: T
  readonly losses: readonly Loss[]
  /** Of an answer. */
  readonly unshown?: Unshown
  /** Stop sequences of a request that the upstream cannot be told of: its answer is to be cut there. */
  readonly cuts?: readonly string[]
  /** What the same codec needs to read the answer to this request back in the client's names. */
  readonly restore?: Restore
}

/** Names that were changed on the way to an upstream, by the name the upstream sees. */
export interface Restore {
  /** The questions whose answer it is. */
  readonly questions?: readonly DecideQuestion[]
  readonly tools: ReadonlyMap<
    string,
    { readonly name: string; readonly namespace?: string; readonly kind: 'function' | 'custom' }
  >
}

/** Whom a request is printed for. */
export interface PrintTarget {
  /** Whether to mark what may be cached for a client whose protocol has no marks: never, where it names a cache, always. */
  readonly caching?: 'off' | 'asked' | 'auto'
  /** The provider's name for the model. */
  readonly model: string
  readonly record: ModelRecord
  readonly offer: Offer
  /** Provider and model family: seals of any other origin are dropped. */
  readonly origin: string
}

/** What a client asked, as far as printing an answer needs it. */
export interface Asked {
  /** The gateway's id of the exchange; an answer's own id derives from it when a protocol must not show the upstream's. */
  readonly id: string
  /** The model to name in the answer. */
  readonly model: string
  readonly stream: boolean
  /** The client's body, unchanged. */
  readonly body: Json
  /** Origin of the answer, for packing its seals. */
  readonly origin: string
}

/** Turns the frames of an upstream into neutral events. Synchronous: one frame in, its events out. */
export interface EventParser<E> {
  parse(frame: Frame): Iterable<E>
  /** The upstream closed: what is still to say. A stream cut before its end yields a `failure`. */
  end(): Iterable<E>
}

/** Turns neutral events into the frames of a client. */
export interface EventPrinter<E> {
  print(event: E): Iterable<Frame>
  /** Losses met while printing, complete once the last event was written. */
  readonly losses: readonly Loss[]
  /** Complete once the last event was written. */
  readonly unshown?: Unshown
}
