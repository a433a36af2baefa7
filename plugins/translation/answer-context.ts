import { encodeFrame } from '../../engine/kit.ts'
import type {
  Asked,
  AnyClientCodec,
  Candidate,
  Envelope,
  Host,
  Loss,
  Measurement,
  Reply,
  Scope,
  Services,
  Source,
  Upstream,
} from '../../engine/index.ts'
import type { EventHandlers } from './event-handlers.ts'

/** What giving an answer back takes. */
export interface AnswerContext {
  readonly request: Envelope
  readonly candidate: Candidate
  readonly upstream: Upstream
  readonly scope: Scope
  readonly host: Host
  /** What estimates the tokens that nobody has told. */
  readonly tokens: Services['tokens']
  /** The client's protocol. */
  readonly codec: AnyClientCodec
  /** The answer names the model as its record does, whatever the provider calls it. */
  readonly named: boolean
  /** What stages make of the events of the answer; absent: nothing. */
  readonly handlers: EventHandlers | undefined
}

/** A body for the client, what tells its usage afterwards, and the losses known by now. */
export interface ClientAnswer {
  readonly body: Reply['body']
  readonly measurement: Measurement
  readonly losses: readonly Loss[]
}

const comment = Buffer.from(': keepalive\n\n')

/** Events for the client, in chunks of whole ones but where the stream is `torn`. */
export function eventStream({ codec }: AnswerContext, source: Source, torn?: () => boolean): ClientAnswer['body'] {
  const sign = codec.keepalive ? Buffer.from(encodeFrame(codec.keepalive)) : comment
  const keepalive = () => (torn?.() ? undefined : sign)
  return { kind: 'stream', source, type: 'text/event-stream; charset=utf-8', keepalive }
}

/** What the client asked, for the printers of its protocol. */
export function asked({ request, candidate, scope }: AnswerContext): Asked {
  return {
    id: scope.id,
    model: candidate.model.name,
    stream: request.stream,
    body: request.sent,
    origin: candidate.origin,
  }
}
