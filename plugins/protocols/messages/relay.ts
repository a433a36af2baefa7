import { GatewayError } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'
import type { Envelope, Json, Offer } from '../../../engine/index.ts'

/** Versions of the feature by which a provider holds a conversation; what follows is a date. */
const threads = 'message-threads-'

/** Nothing is changed. A `thread` that the provider would not heed is refused: its history would be lost in silence. */
export function amend({ body, headers }: Pick<Envelope, 'body' | 'headers'>, { traits }: Offer): undefined {
  if (!isObject(body.thread)) return
  const asked = String(headers['anthropic-beta'] ?? '').split(',')
  const passed = asked.map((beta) => beta.trim()).filter((beta) => passes(beta, traits?.['betas']))
  if (!passed.some((beta) => beta.startsWith(threads))) throw threadRefused()
}

/** Whether a feature is passed on: any, unless the offer lists those that are. */
function passes(beta: string, betas: Json | undefined): boolean {
  return Array.isArray(betas) ? betas.includes(beta) : true
}

/** The conversation is not held here, and this `error_code` makes official clients send it whole. */
export function threadRefused(): GatewayError {
  const reason = 'Threads are not held here: send the whole conversation without `thread`.'
  return new GatewayError('invalid_request', { reason }, { details: { error_code: 'thread_unsupported_request' } })
}
