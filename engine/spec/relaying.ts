import type { Failure } from './error.ts'
import type { Json, JsonObject } from './json.ts'
import type { Offer } from './open-provider.ts'
import type { Envelope } from './slots.ts'
import type { Frame } from './source.ts'
import type { Asked, Loss, Unshown } from './translation.ts'
import type { Metered, Units } from './usage.ts'

/** Changes to a request that is otherwise relayed as its client wrote it. */
export interface Amendment {
  /** Top-level fields that replace the client's own. */
  readonly fields: JsonObject
  /** What the client requested and the upstream does not receive. */
  readonly losses?: readonly Loss[]
  /** For fields that an upstream may refuse: whether a failure says so. The request is then sent without them. */
  refused?(failure: Failure): boolean
}

/** Frames of a relayed stream that only the gateway reads, because its client did not request them. */
export interface Hidden {
  /** Bytes that occur in each of these frames, and hardly ever in others. */
  readonly sign: Buffer
  is(frame: Frame): boolean
}

/** Keeps one relayed stream valid. Valid events are relayed byte for byte. */
export interface StreamKeeper {
  /** The bytes for the client, given complete events whose lines end in LF. */
  pass(events: Buffer): Uint8Array
  /** What was left out of the events because the client has not requested it. */
  readonly unshown?: Unshown
  /** Whether an event too large to be buffered may pass, judged by its beginning. */
  large(beginning: Buffer): boolean
  /** Frames to add after the upstream has ended the stream, or after it failed for the given reason. */
  end(failure?: Failure): readonly Frame[]
}

/** What relaying needs of a protocol spoken on both sides; only a codec of both sides implements it. */
export interface Relaying {
  readonly meter: {
    /** Measures a whole answer. */
    reply(body: Json): Metered
    /**
     * Measures a streamed answer by the complete frames at its start and at its end. `complete` is false when the
     * protocol's terminal frame is missing.
     */
    stream(first: readonly Frame[], last: readonly Frame[]): Metered & { readonly complete: boolean }
    /**
     * Measures the rest of an event that was too large to be kept; undefined when it cannot be the protocol's last
     * event.
     */
    torn?(end: string): Metered | undefined
    /**
     * Usage other than tokens, according to the answer, or else the request. `answer` is the whole answer, or the
     * last event of a stream; null if it could not be read. `delivered` is undefined unless the stream was counted.
     */
    units?(request: JsonObject, answer: Json, complete: boolean, delivered?: number): Units
    /**
     * Types of events that each deliver one of what `units` counts, such as an image. They are counted while a stream
     * is relayed (`delivered`), by the first bytes of each event, which may be megabytes long.
     */
    readonly delivers?: readonly string[]
    /** UTF-8 bytes of model output in a frame of a stream, including reasoning and calls. */
    said?(frame: Frame): number
  }
  /** Differences between relaying and plain copying. */
  readonly relay?: {
    /**
     * Fields to add or remove in the request for the upstream. Throws for a request that must not be relayed.
     * @param model the provider's name of the model
     */
    amend?(request: Pick<Envelope, 'body' | 'headers'>, offer: Offer, model: string): Amendment | undefined
    /** Frames of the stream to hide from the client that sent this body. */
    hides?(body: JsonObject): Hidden | undefined
    /** A whole answer without what the client has not requested. */
    shown?(bytes: Buffer, asked: Asked): { readonly bytes: Buffer; readonly unshown: Unshown }
  }
  /** Frames that end a stream that failed after its first byte. */
  fail?(failure: Failure, asked: Asked): readonly Frame[]
  /**
   * Frames to add before the end of a relayed stream, when its upstream has ended it or is about to with `[DONE]`.
   * @param last the latest frame that was relayed
   */
  close?(asked: Asked, last?: Frame): readonly Frame[]
  /** Instead of `fail` and `close`: keeps a relayed stream valid where a protocol fixes the order of its events. */
  keeper?(asked: Asked): StreamKeeper
}
