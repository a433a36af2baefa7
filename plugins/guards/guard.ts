import { createHash } from 'node:crypto'
import { GatewayError, defineStage } from '../../engine/index.ts'
import type { Envelope, Given, Host, Json, JsonObject, Scope, Services } from '../../engine/index.ts'
import { isObject, valueAt } from '../../engine/kit.ts'
import { guardAnswer, restored, watches } from './answers.ts'
import { guardCompaction, restoredCompaction } from './compactions.ts'
import { askingPipelines } from './model.ts'
import { guardRequest } from './requests.ts'
import type { Around } from './requests.ts'
import { inOrder } from './rule.ts'
import type { Rule } from './rule.ts'
import { textsIn } from './texts.ts'
import type { TokenTable } from './token-table.ts'

/** Where a stage stands. */
interface Place {
  readonly host: Host
  readonly guards: Services['guards']
  readonly side: 'input' | 'output'
}

type Slots = Given<'request', 'principal' | 'candidates' | 'model' | 'answer'>

/** Judges a request, or an answer. Without guards it does nothing. */
export default defineStage({
  name: 'guard',
  summary: 'Let the guards judge the request, or the answer.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['side'],
    properties: {
      side: {
        enum: ['input', 'output'],
        description:
          'What is judged. `input`: the request. `output`: the answer of the model, between `call` and `translate-back`.',
      },
      of: {
        enum: ['request', 'model'],
        default: 'request',
        description:
          'Whose guards judge a request: those of all requests, the key and the request itself, or, in an `attempt`, those that the model has beside them.',
      },
      runs: {
        type: 'array',
        items: { type: 'string', 'x-names': 'pipeline', 'x-inputs': ['ingress'], 'x-gives': ['reply'] },
        default: Object.values(askingPipelines),
        description: 'Pipelines that kinds of guards run: those by which the kind `model` asks its model.',
      },
    },
  } as const,
  needs: ['request'],
  reads: ['principal', 'candidates', 'model', 'answer'],
  insists: ({ side, of }) => (side === 'output' ? ['model', 'answer'] : of === 'model' ? ['model'] : []),
  provides: [],
  gives: ['request', 'answer'],
  settles: [],
  pays: [
    { duty: 'guard-input', given: { side: 'input', of: 'request' } },
    { duty: 'guard-model', given: { side: 'input', of: 'model' } },
    { duty: 'guard-output', given: { side: 'output' } },
  ],
  uses: ['guards', 'prices'],
  // Longer than the longest timeout of a judgement, for several in turn.
  timeout: '5m',
  build: ({ side, of }, host, { guards, prices }) => {
    const place: Place = { host, guards, side }
    const isOfModel = side === 'input' && of === 'model'
    return (slots, scope, settle) => {
      const { request, answer } = slots
      const isNamed = request.headers['x-gateway-guards'] !== undefined
      if (isOfModel && !guards.hasModels && !guards.hasFeedback) return nothing
      const hasNone = guards.isEmpty && !isNamed && slots.principal?.guards === undefined
      const rules = hasNone ? none : rulesFor(slots, scope, isOfModel, place)
      if (side === 'input' && !hasNone) insistOnOneAnswer(rules, slots, scope, place)
      if (rules.length === 0 && side === 'output') return restoredAlone(answer, guards.tokensOf(scope))
      const told = isOfModel ? toldAgain(request, guards.exchangeOf(scope).feedback) : request
      if (rules.length === 0) return told === request ? nothing : { request: told }
      const around = aroundOf(slots, scope, place)
      const { exchange } = around
      settle(async () => {
        await exchange.judged()
        exchange.count()
      })
      if (side === 'input') {
        const judged = guardRequest(rules, told, around)
        const model = isOfModel ? slots.model?.model.name : undefined
        return exchange.judging(told, judged, model).then((guarded) => ({ request: guarded }))
      }
      if (answer === undefined) return nothing
      if (answer.operation !== 'compact') return { answer: guardAnswer(rules, answer, request, around) }
      const used = (body: JsonObject) => {
        const metered = host.codec(request.protocol).meter?.reply(body)
        if (metered) prices.addFailed(scope, slots.model?.model.pricing, metered)
      }
      return guardCompaction(rules, answer, request, { around, used }).then((guarded) => ({ answer: guarded }))
    }
  },
})

const nothing = {}
const none: readonly never[] = []

/** An answer that nobody judges, with what tokens stand for. */
function restoredAlone(answer: Slots['answer'], tokens: TokenTable | undefined): Pick<Slots, 'answer'> {
  if (answer === undefined || tokens === undefined) return nothing
  const given = answer.operation === 'compact' ? restoredCompaction(answer, tokens) : restored(answer, tokens)
  return given === answer ? nothing : { answer: given }
}

/** The guards of an exchange on one side. Those of a model judge its answers, and requests beside those that have judged. */
function rulesFor(
  { request, principal, model }: Slots,
  scope: Scope,
  isOfModel: boolean,
  { host, guards, side }: Place,
): readonly Rule[] {
  const isOff = (name: string) => host.records.find('guard', name)?.off !== undefined
  const missing = guards.missingOf(principal).find((name) => !isOff(name))
  if (missing !== undefined) throw new GatewayError('guard_unavailable', { guard: missing })
  const all = guards.of({ principal, header: request.headers['x-gateway-guards'] })
  const off = principal?.guards?.off ?? none
  const ofModel = model ? guards.ofModel(model.model, all).filter(({ name }) => !off.includes(name)) : none
  const drawn = (rules: readonly Rule[]) =>
    rules.every(({ record }) => record.sample >= 1) ? rules : rules.filter((rule) => guards.exchangeOf(scope).has(rule))
  if (side === 'output') return drawn([...all, ...ofModel].filter((rule) => rule.judgesAnswers()).toSorted(inOrder))
  // Forms hold files, which no guard judges yet.
  if (request.contentType !== 'application/json') return []
  return drawn((isOfModel ? ofModel : all).filter((rule) => rule.judgesRequests()))
}

/**
 * What holds an answer reads one alone: all guards but those in shadow and those that flag after a stream, and what
 * gives tokens back. Throws `unsupported_parameter` for a request that asks for several.
 */
function insistOnOneAnswer(rules: readonly Rule[], slots: Slots, scope: Scope, place: Place): void {
  const { body, operation, protocol, stream } = slots.request
  const counts = operation === 'generate' ? place.host.codec(protocol).answerCounts : undefined
  const param = counts?.find((path) => Number(valueAt(body, path)) > 1)
  if (param === undefined) return
  const ofAnswers = rulesFor(slots, scope, false, { ...place, side: 'output' })
  const givesBack = rules.some(({ masks, record }) => masks && record.mask === 'token')
  if (!givesBack && ofAnswers.every((rule) => watches(rule, stream))) return
  throw new GatewayError('unsupported_parameter', { param, reason: 'guards judge one answer, not several choices' })
}

function aroundOf({ principal, model, candidates = [] }: Slots, scope: Scope, { host, guards, side }: Place): Around {
  const exchange = guards.exchangeOf(scope)
  return {
    host,
    scope,
    principal,
    exchange,
    isLast: candidates.findIndex((one) => one === model) >= candidates.length - 1,
    denied: undefined,
    masking(request) {
      const { tokens } = exchange
      if (tokens.taken === undefined) tokens.first = firstNumber(request, scope.id)
      tokens.taken ??= takenIn(request)
      return { hashKey: guards.hashKey, keyId: principal?.id ?? '', tokens, isOwn: side === 'input' }
    },
  }
}

/** The request with what a guard says of the last answer, for the next one. */
function toldAgain(request: Envelope, feedback: string): Envelope {
  if (feedback === '' || request.operation !== 'generate') return request
  const neutral = request.neutral('generate')
  const message = { type: 'message', role: 'user', content: [{ type: 'text', text: feedback }] } as const
  return request.with({ neutral: { ...neutral, items: [...neutral.items, message] } })
}

/** Whether the client's own text contains a token. */
function takenIn({ body, protocol }: Envelope): (token: string) => boolean {
  const texts = textsIn(body, protocol).map(({ text }) => text)
  return (token) => texts.some((text) => text.includes(token))
}

/** Where tokens begin, so that none is one of a part of the conversation that only its provider can read. */
function firstNumber({ body, missing }: Envelope, id: string): number {
  const sealed = compactionsIn(body['input']).join()
  const isUnknown = missing !== undefined && (sealed === '' || typeof body['previous_response_id'] === 'string')
  const opaque = isUnknown || (body['conversation'] ?? null) !== null ? id : sealed
  if (opaque === '') return 1
  return 1_000 + (createHash('sha256').update(opaque).digest().readUInt32BE() % 900_000)
}

/** What a client sends of compactions that its provider has sealed: the same with each turn. */
function compactionsIn(input: Json | undefined): readonly string[] {
  const items = Array.isArray(input) ? (input as readonly Json[]) : []
  return items.flatMap((item) => {
    const sealed = isObject(item) && item['type'] === 'compaction' ? item['encrypted_content'] : undefined
    return typeof sealed === 'string' ? [sealed] : []
  })
}
