import type { Failure } from './error.ts'
import type { Json, JsonObject } from './json.ts'
import type { Offer } from './open-provider.ts'
import type { Envelope } from './slots.ts'
import type { Frame } from './source.ts'
import type { Asked, Loss } from './translation.ts'
import type { Metered, Units } from './usage.ts'

/** What the gateway changes of a request that is passed on as its client wrote it. */
export interface Amendment {
  /** Top-level fields that the upstream gets in place of the client's own. */
  readonly fields: JsonObject
  /** What the client said and the upstream does not hear. */
  readonly losses?: readonly Loss[]
}

/** Frames of a relayed stream that are for the gateway alone, because its client has not asked for them. */
export interface Hidden {
  /** What stands in the bytes of each of them, and nearly never in those of others. */
  readonly sign: Buffer
  is(frame: Frame): boolean
}

/** Keeps one relayed stream legal. What is legal stays what its upstream sent, byte for byte. */
export interface StreamGuard {
  /** What the client gets of whole events whose lines end in LF. */
  pass(events: Buffer): Uint8Array
  /** Whether an event with this beginning may pass that is too large to be looked at as a whole. */
  large(beginning: Buffer): boolean
  /** Frames that the stream lacks, now that its upstream has ended it, or that it broke for the reason given. */
  end(failure?: Failure): readonly Frame[]
}

/** What passing on takes that both sides of an exchange speak: only a codec of both sides has it. */
export interface Relaying {
  readonly meter: {
    /** Of a whole answer. */
    reply(body: Json): Metered
    /**
     * Of a streamed answer, given the whole frames at its start and at its end.
     * `complete` is false when the protocol's terminal frame is missing.
     */
    stream(first: readonly Frame[], last: readonly Frame[]): Metered & { readonly complete: boolean }
    /** Of the end of an event that was too large to be kept; undefined when it cannot be the protocol's last one. */
    torn?(end: string): Metered | undefined
    /**
     * What was used beside tokens, as the answer tells it, or else the request: `answer` is the whole answer, or the last
     * event of a streamed one; null where neither could be read.
     */
    units?(request: JsonObject, answer: Json, complete: boolean): Units
    /** Bytes of UTF-8 that the model has said in a frame of a streamed answer, its reasoning and calls included. */
    said?(frame: Frame): number
  }
  /** Where the gateway wants something else than a client whose request and answer are passed on as they are. */
  readonly relay?: {
    /** What else the upstream has to be told, or not to be told. Throws for what must not be passed on to it. */
    amend?(request: Pick<Envelope, 'body' | 'headers'>, offer: Offer): Amendment | undefined
    /** What of the stream the client of this body must not see. */
    hides?(body: JsonObject): Hidden | undefined
  }
  /** Frames that end a stream which broke after its first byte. */
  fail?(failure: Failure, asked: Asked): readonly Frame[]
  /**
   * Frames that a relayed stream still lacks although its upstream has ended it, or is about to with `[DONE]`; `last` is
   * the latest frame that was passed on.
   */
  close?(asked: Asked, last?: Frame): readonly Frame[]
  /** In place of `fail` and `close`: watches over one relayed stream of a protocol that is strict about how its streams go on and end. */
  guard?(asked: Asked): StreamGuard
}
