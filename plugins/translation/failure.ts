import { GatewayError } from '../../engine/index.ts'
import { asGatewayError, scrubbedFailure } from '../../engine/kit.ts'
import type { Failure, GenerateEvent } from '../../engine/index.ts'
import { refused } from './refusal.ts'
import type { AnswerContext } from './answer-context.ts'

/** The failure that a client gets for any error that broke a stream. */
export function failureOf(error: unknown, { host }: AnswerContext): Failure {
  return scrubbedFailure(asGatewayError(error).failure, host.scrub)
}

/** The failure of a stream without a terminal event. */
export function cutShort({ candidate }: AnswerContext): GatewayError {
  const reason = 'the stream ended before it was complete'
  return new GatewayError('upstream_error', { model: candidate.model.name, reason })
}

/**
 * An event of the provider's stream. A failure loses what clients must not see: internal errors and our credentials.
 */
export function shown(event: GenerateEvent, { candidate, host }: AnswerContext): GenerateEvent {
  if (event.type !== 'failure') return event
  return { type: 'failure', failure: refused(event.failure, candidate.model.name, host).failure }
}
