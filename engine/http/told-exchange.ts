import type { Bag } from '../pipeline/bag.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'
import type { Ingress, Outcome } from '../spec/slots.ts'
import type { ToldExchange } from '../spec/telling.ts'
import { exchanges, toldError } from '../telling/channels.ts'
import type { ExchangeScope } from './scope.ts'

type Message = { -readonly [K in keyof ToldExchange]: ToldExchange[K] }

/**
 * Reports the start of an exchange.
 * @returns reports the end: its outcome, or what was thrown; without a promise, because there is one per request
 */
export function tellExchange(
  pipeline: CompiledPipeline,
  slots: Bag,
  scope: ExchangeScope,
): (outcome: Outcome | undefined, thrown?: unknown) => void {
  const message = begun(pipeline, slots, scope)
  if (scope.calls) scope.calls.exchange = message
  const over = exchanges.begin(message)
  return (outcome, thrown) => {
    if (outcome === undefined) return over(toldError(thrown))
    addKnown(message, slots, outcome, scope)
    const { error } = outcome
    over(error && { code: error.code, ...(error.at === undefined ? {} : { at: error.at }) })
  }
}

/** All fields of a message, so that none has to be added to it: that would move the others each time. */
const blank = {
  id: undefined,
  pipeline: undefined,
  configVersion: undefined,
  protocol: undefined,
  parent: undefined,
  transport: undefined,
  method: undefined,
  path: undefined,
  route: undefined,
  trace: undefined,
  status: undefined,
  result: undefined,
  bytes: undefined,
  firstByte: undefined,
  lastByte: undefined,
  firstContent: undefined,
  lastContent: undefined,
  key: undefined,
  member: undefined,
  tags: undefined,
  operation: undefined,
  stream: undefined,
  requested: undefined,
  model: undefined,
  record: undefined,
  provider: undefined,
  tries: undefined,
  losses: undefined,
  bill: undefined,
  duration: undefined,
} satisfies Readonly<Partial<Record<keyof ToldExchange, undefined>>>

function begun(
  { name, version, protocol }: CompiledPipeline,
  { ingress }: Bag,
  { id, parent, trace }: ExchangeScope,
): Message {
  const message = { ...blank, id, pipeline: name } as object as Message
  if (version !== undefined) message.configVersion = version
  if (protocol !== undefined) message.protocol = protocol
  if (parent !== undefined) message.parent = parent
  if (ingress) {
    message.transport = ingress.transport
    message.method = ingress.method
    message.path = asked(ingress)
    message.route = ingress.path
  }
  if (trace !== undefined) message.trace = trace
  return message
}

/** Adds what is known at the end, field by field: a copy would cost more than the message. */
function addKnown(
  message: Message,
  slots: Bag,
  { status, result, bytes, firstByte, duration }: Outcome,
  scope: ExchangeScope,
): void {
  const { principal, request, target, model, bill } = slots
  message.status = status
  message.result = result
  message.bytes = bytes
  message.lastByte = duration
  if (firstByte !== undefined) message.firstByte = firstByte
  if (principal?.kind === 'key') message.key = { id: principal.id, name: principal.name }
  const member = principal?.kind === 'member' ? principal.id : principal?.owner
  if (member !== undefined) message.member = member
  if (principal?.tags !== undefined) message.tags = principal.tags
  if (request) {
    message.operation = request.operation
    message.protocol = request.protocol
    message.stream = request.stream
    if (target) message.requested = request.model.slice(0, 256)
  }
  if (model) {
    message.model = model.model.name
    message.provider = model.provider.name
  }
  const record = model?.model ?? target?.model
  if (record) message.record = record.pattern ?? record.name
  message.tries = model !== undefined || scope.notes.has('tries') ? scope.attempt : 0
  const losses = lossesIn(slots)
  if (losses.length > 0) message.losses = losses
  scope.calls?.addContentTimes(message, scope.started)
  if (bill) message.bill = bill
}

/** The path with the values of its parameters. */
function asked({ path, params }: Ingress): string {
  if (!path.includes(':') && !path.includes('*')) return path
  return path.replaceAll(/(?<=\/)(?::(\w+)|\*)/g, (word, name = '*') => params[String(name)] ?? word)
}

/** Most fields that are told: a client can invent any number of them. */
const mostLosses = 20
const none: readonly string[] = []

function lossesIn({ upstream, measurement }: Bag): readonly string[] {
  try {
    const [sent = none, answered = none] = [upstream?.losses, measurement?.read().losses]
    if (sent.length + answered.length === 0) return none
    const all = [...sent, ...answered].map((loss) => (loss as { readonly field: string }).field.slice(0, 128))
    return [...new Set(all)].slice(0, mostLosses)
  } catch {
    // An answer that cannot be read is reported where it is billed.
    return none
  }
}
