import { GatewayError } from '../../engine/index.ts'
import { asGatewayError, scrubbedFailure } from '../../engine/kit.ts'
import type { Failure, GenerateEvent } from '../../engine/index.ts'
import { refused } from './refusal.ts'
import type { AnswerContext } from './answer-context.ts'

/** Whatever broke a stream, as the client is to read it. */
export function failureOf(error: unknown, { host }: AnswerContext): Failure {
  return scrubbedFailure(asGatewayError(error).failure, host.scrub)
}

/** Why a stream fails whose provider has not said its last word. */
export function cutShort({ candidate }: AnswerContext): GatewayError {
  const reason = 'the stream ended before it was complete'
  return new GatewayError('upstream_error', { model: candidate.model.name, reason })
}

/** An event of the provider's stream, without what of a failure is not the client's to read: its own trouble, our credentials. */
export function shown(event: GenerateEvent, { candidate, host }: AnswerContext): GenerateEvent {
  if (event.type !== 'failure') return event
  return { type: 'failure', failure: refused(event.failure, candidate.model.name, host).failure }
}
