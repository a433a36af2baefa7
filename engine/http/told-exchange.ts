import type { Bag } from '../pipeline/bag.ts'
import type { Outcome } from '../spec/slots.ts'
import type { ToldExchange } from '../spec/telling.ts'
import { exchanges, toldError } from '../telling/channels.ts'
import type { ExchangeScope } from './scope.ts'

/**
 * Reports the start of an exchange.
 * @param protocol the protocol of the pipeline's clients
 * @returns reports the end: its outcome, or what was thrown; without a promise, because there is one per request
 */
export function tellExchange(
  pipeline: string,
  protocol: string | undefined,
  slots: Bag,
  scope: ExchangeScope,
): (outcome: Outcome | undefined, thrown?: unknown) => void {
  const message = begun(pipeline, protocol, slots, scope)
  const over = exchanges.begin(message)
  scope.trace = message.trace
  return (outcome, thrown) => {
    if (outcome === undefined) return over(toldError(thrown))
    addKnown(message, slots, outcome)
    const { error } = outcome
    over(error && { code: error.code, ...(error.at === undefined ? {} : { at: error.at }) })
  }
}

function begun(
  pipeline: string,
  protocol: string | undefined,
  { ingress }: Bag,
  { id, parent, trace }: ExchangeScope,
): ToldExchange {
  const message: { -readonly [K in keyof ToldExchange]: ToldExchange[K] } = { id, pipeline }
  if (parent !== undefined) message.parent = parent
  if (protocol !== undefined) message.protocol = protocol
  if (ingress) {
    message.transport = ingress.transport
    message.method = ingress.method
    message.path = ingress.path
  }
  if (trace !== undefined) message.trace = trace
  return message
}

/** Adds what is known at the end, field by field: a copy would cost more than the message. */
function addKnown(message: ToldExchange, slots: Bag, { status, result, bytes, firstByte, duration }: Outcome): void {
  const { principal, request, model, bill } = slots
  message.status = status
  message.result = result
  message.bytes = bytes
  message.lastByte = duration
  if (firstByte !== undefined) message.firstByte = firstByte
  if (principal?.kind === 'key') {
    message.key = { id: principal.id, name: principal.name }
    if (principal.tags !== undefined) message.tags = principal.tags
  }
  const member = principal?.kind === 'member' ? principal.id : principal?.owner
  if (member !== undefined) message.member = member
  if (request) {
    message.operation = request.operation
    message.protocol = request.protocol
    message.stream = request.stream
    if (request.model !== '') message.requested = () => request.model.slice(0, 128)
  }
  if (model) {
    message.model = model.model.name
    message.record = model.model.record ?? model.model.name
    message.provider = model.provider.name
  }
  if (bill) message.bill = bill
}
