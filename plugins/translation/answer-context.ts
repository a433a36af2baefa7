import { encodeFrame } from '../../engine/kit.ts'
import type {
  Asked,
  AnyClientCodec,
  Candidate,
  Envelope,
  Host,
  Loss,
  Measurement,
  Metered,
  Reply,
  Scope,
  Services,
  Source,
  Upstream,
} from '../../engine/index.ts'
import type { EventHandlers } from './event-handlers.ts'
import type { Released } from './told-call.ts'

/** Everything that is needed to turn an answer into a reply. */
export interface AnswerContext {
  readonly request: Envelope
  readonly candidate: Candidate
  readonly upstream: Upstream
  readonly scope: Scope
  readonly host: Host
  /** Estimates tokens that the provider did not report. */
  readonly tokens: Services['tokens']
  /** The client's protocol. */
  readonly codec: AnyClientCodec
  /** Whether the answer has the name of the model's record instead of the provider's name. */
  readonly named: boolean
  /** Takes what the provider reported to have used for an answer that is an error. */
  readonly used: (reported: Pick<Metered, 'usage'>) => void
  /** Watchers, maps and gates of stages; absent if there are none. */
  readonly handlers: EventHandlers | undefined
  /** Takes what gates have released, if somebody wants to know it. */
  readonly released: Released | undefined
  /** Maps for this client alone, after the others; absent if there are none. */
  readonly shown: EventHandlers | undefined
}

/** A body for the client, its measurement once it is over, and the losses known so far. */
export interface ClientAnswer {
  readonly body: Reply['body']
  readonly measurement: Measurement
  readonly losses: readonly Loss[]
}

const comment = Buffer.from(': keepalive\n\n')

/** Events for the client, in chunks of whole events unless the stream is `torn`. */
export function eventStream(
  { codec, handlers }: AnswerContext,
  source: Source,
  torn?: () => boolean,
): ClientAnswer['body'] {
  const sign = codec.keepalive ? Buffer.from(encodeFrame(codec.keepalive)) : comment
  const keepalive = () => (torn?.() ? undefined : sign)
  const body = { kind: 'stream', source, type: 'text/event-stream; charset=utf-8', keepalive } as const
  return handlers?.hasGates ? { ...body, held: true } : body
}

/** The client's request, for the printers of its protocol. */
export function asked({ request, candidate, scope }: AnswerContext): Asked {
  return {
    id: scope.id,
    model: candidate.model.name,
    stream: request.stream,
    body: request.sent,
    origin: candidate.origin,
  }
}
