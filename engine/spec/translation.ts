import type { MediaSource } from './part.ts'
import type { ModelRecord } from './catalog.ts'
import type { DecideQuestion } from './decide.ts'
import type { Json } from './json.ts'
import type { Offer } from './open-provider.ts'
import type { Frame } from './source.ts'

/** A field of a request or an answer that could not be translated, and why. */
export interface Loss {
  readonly field: string
  readonly because: string
  /** Images, files and sounds in whose place a text was printed. */
  readonly media?: readonly MediaSource[]
}

/** Data of an answer's items that the client is not shown but later turns need, by item id. */
export type Unshown = ReadonlyMap<string, string>

/** A printed value, with the losses of its translation. */
export interface Printed<T> {
  readonly body: T
  readonly losses: readonly Loss[]
  /** For an answer. */
  readonly unshown?: Unshown
  /** Stop sequences of a request that the upstream's protocol cannot express; the gateway cuts the answer there. */
  readonly cuts?: readonly string[]
  /** Data for the same codec to restore the client's names in the answer to this request. */
  readonly restore?: Restore
}

/** Names that were changed for an upstream, by the changed name. */
export interface Restore {
  /** The questions that the answer belongs to. */
  readonly questions?: readonly DecideQuestion[]
  readonly tools: ReadonlyMap<
    string,
    { readonly name: string; readonly namespace?: string; readonly kind: 'function' | 'custom' }
  >
}

/** The model and provider for which a request is printed. */
export interface PrintTarget {
  /**
   * Whether to add cache breakpoints for a client whose protocol has none: never, if the client names a cache, or
   * always.
   */
  readonly caching?: 'off' | 'asked' | 'auto'
  /** The provider's name of the model. */
  readonly model: string
  readonly record: ModelRecord
  readonly offer: Offer
  /** Provider and model family: seals of other origins are dropped. */
  readonly origin: string
}

/** The parts of a request that printing its answer needs. */
export interface Asked {
  /** The exchange id; an answer's id is derived from it if a protocol must not show the upstream's. */
  readonly id: string
  /** The model name for the answer. */
  readonly model: string
  readonly stream: boolean
  /** The client's body, unchanged. */
  readonly body: Json
  /** Origin of the answer, for packing its seals. */
  readonly origin: string
}

/** Converts the frames of an upstream to neutral events, synchronously. */
export interface EventParser<E> {
  parse(frame: Frame): Iterable<E>
  /** The upstream closed the stream. Returns the remaining events; for a truncated stream, a `failure`. */
  end(): Iterable<E>
}

/** Converts neutral events to the frames of a client. */
export interface EventPrinter<E> {
  print(event: E): Iterable<Frame>
  /** Losses of the translation, complete once the last event was written. */
  readonly losses: readonly Loss[]
  /** Complete once the last event was written. */
  readonly unshown?: Unshown
}
