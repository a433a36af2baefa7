import { GatewayError } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'
import type { Envelope, Json, Offer } from '../../../engine/index.ts'

/** Prefix of the beta feature by which a provider stores a conversation; a date follows. */
const threads = 'message-threads-'

/** Changes nothing. Rejects a `thread` that the provider would ignore, because its history would be lost silently. */
export function amend({ body, headers }: Pick<Envelope, 'body' | 'headers'>, { traits }: Offer): undefined {
  if (!isObject(body.thread)) return
  const asked = String(headers['anthropic-beta'] ?? '').split(',')
  const passed = asked.map((beta) => beta.trim()).filter((beta) => passes(beta, traits?.['betas']))
  if (!passed.some((beta) => beta.startsWith(threads))) throw threadRefused()
}

/** Whether a beta feature is forwarded: all of them, unless the offer has a list. */
function passes(beta: string, betas: Json | undefined): boolean {
  return Array.isArray(betas) ? betas.includes(beta) : true
}

/** The gateway does not store the conversation. The `error_code` makes official clients send all of it. */
export function threadRefused(): GatewayError {
  const reason = 'Threads are not held here: send the whole conversation without `thread`.'
  return new GatewayError('invalid_request', { reason }, { details: { error_code: 'thread_unsupported_request' } })
}
