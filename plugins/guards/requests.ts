import { GatewayError } from '../../engine/index.ts'
import type {
  Envelope,
  Host,
  Json,
  Judged,
  JudgedRequest,
  JudgedText,
  Principal,
  Scope,
  Span,
} from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { GuardedExchange, OutcomeWord } from './exchange.ts'
import { maskOf, masked } from './masking.ts'
import type { MaskedSpan, Masking } from './masking.ts'
import { withOneMeaning } from './one-meaning.ts'
import type { Judgement, Rule } from './rule.ts'
import { textsIn, withTexts } from './texts.ts'
import type { RequestText } from './texts.ts'

/** What surrounds the judging of a request. */
export interface Around {
  readonly host: Host
  readonly scope: Scope
  readonly principal: Principal | undefined
  readonly exchange: GuardedExchange
  readonly masking: (request: Envelope) => Masking
  /** Whether no other candidate is left. */
  readonly isLast: boolean
  /** What the client reads of the first guard that has denied the answer of this try; undefined: none has. */
  denied: string | undefined
}

/**
 * Judges a request: first the masks, one after another, then all others beside each other on the masked texts. Resolves
 * with the request as it may go on; rejects with the error of the first denial, which ends the other judgements.
 */
export async function guardRequest(rules: readonly Rule[], given: Envelope, around: Around): Promise<Envelope> {
  let request = rules.every((rule) => rule.isShadow || rule.action === 'flag')
    ? given
    : withOneMeaning(given, around.host)
  for (const rule of rules.filter((one) => one.masks)) request = await maskedRequest(rule, request, around)
  const others = rules.filter((one) => !one.masks && !one.isShadow)
  for (const rule of rules.filter((one) => one.isShadow)) watch(rule, request, around)
  if (others.length === 0) return request
  const ending = new AbortController()
  const said = saidIn(request, around)
  const judging = others.map(async (rule) => {
    const judged = judgedRequest(rule, said)
    const judgement = await rule.judge(judged, around.host, around.scope, ending.signal)
    judgedOne(rule, judgement, judged, { ...around, request })
  })
  try {
    await Promise.all(judging)
  } catch (error) {
    ending.abort(new Error('another guard has denied the request'))
    await Promise.allSettled(judging)
    throw error
  }
  return request
}

async function maskedRequest(rule: Rule, request: Envelope, around: Around): Promise<Envelope> {
  const judged = judgedRequest(rule, saidIn(request, around))
  const judgement = await rule.judge(judged, around.host, around.scope)
  if ('failed' in judgement) {
    judgedOne(rule, judgement, judged, { ...around, request })
    return request
  }
  const { found } = judgement
  const masking = () => around.masking(request)
  const spans = (found.spans ?? []).flatMap((span) => partsOf(span, judged.texts, rule, masking))
  const outcome = found.hit ? (found.action === 'flag' ? 'flagged' : 'masked') : 'passed'
  around.exchange.tell(rule, 'input', judgement, outcome, spans.length || undefined)
  if (outcome !== 'masked') return request
  const changed = masked(rule, { ...found, spans }, judged.texts, masking())
  const changes = new Map(
    [...changed].flatMap(([index, text]) => {
      const before = judged.texts[index]
      return before ? [[keyOf(before), text] as const] : []
    }),
  )
  const { protocol } = request
  return request.rewrite((body) => withTexts(body, protocol, (text) => changes.get(keyOf(text))))
}

/** The places of a place in a text that others make up: it counts where it goes over several of them. */
function partsOf(
  span: Span,
  texts: readonly RequestJudged[],
  rule: Rule,
  masking: () => Masking,
): readonly MaskedSpan[] {
  const { text: joined = '', of } = texts[span.text] ?? {}
  if (of === undefined) return [span]
  const parts: MaskedSpan[] = []
  let from = 0
  for (const text of of) {
    const length = texts[text]?.text.length ?? 0
    const [start, end] = [Math.max(span.start - from, 0), Math.min(span.end - from, length)]
    if (start < end) parts.push({ text, start, end, mask: '' })
    from += length
  }
  const [first, ...rest] = parts
  if (first === undefined || rest.length === 0) return []
  return [{ ...first, mask: maskOf(rule, span.entity, joined.slice(span.start, span.end), masking()) }, ...rest]
}

/** Of two texts that are the same, both change. */
function keyOf({ role, text }: Pick<RequestText, 'role' | 'text'>): string {
  return `${role}\n${text}`
}

/** Throws where a judgement of a request is a denial, or none that could pass. */
function judgedOne(
  rule: Rule,
  judgement: Judgement,
  judged: RequestJudgement,
  { exchange, request }: Around & { readonly request: Envelope },
): void {
  if ('failed' in judgement) {
    exchange.tell(rule, 'input', judgement, 'error')
    if (rule.isClosed) throw new GatewayError('guard_unavailable', { guard: rule.name })
    return
  }
  const { found } = judgement
  const denies = found.hit && rule.action !== 'flag' && found.action !== 'flag'
  exchange.tell(rule, 'input', judgement, found.hit ? (denies ? 'denied' : 'flagged') : 'passed')
  if (denies) throw denial(rule, found.message, placeOf(found, judged, request))
}

/** Judges in shadow: the request goes on meanwhile. */
function watch(rule: Rule, request: Envelope, around: Around): void {
  const judged = judgedRequest(rule, saidIn(request, around))
  const judging = Promise.resolve(rule.judge(judged, around.host, around.scope)).then((judgement) => {
    around.exchange.tell(rule, 'input', judgement, watchedOutcome(rule, judgement))
  })
  around.exchange.wait(judging)
}

/** What a guard that only watches would have done. */
export function watchedOutcome({ action }: Rule, judgement: Judgement): OutcomeWord {
  if ('failed' in judgement) return 'error'
  const { hit, action: most } = judgement.found
  if (!hit) return 'passed'
  return action === 'flag' || most === 'flag' ? 'flagged' : action === 'mask' ? 'masked' : 'denied'
}

/** The error of a denied request. */
function denial(rule: Rule, message: string | undefined, param: string | undefined): GatewayError {
  const reason = message ?? rule.message
  return new GatewayError('content_filter', { reason }, param === undefined ? {} : { param })
}

/** The place of what was found, in the body that the client has sent: others may have completed it since. */
function placeOf(
  found: Extract<Judgement, { readonly found: unknown }>['found'],
  { texts }: RequestJudgement,
  { body, sent, protocol }: Envelope,
): string | undefined {
  const [span] = found.spans ?? []
  const judged = texts[span?.text ?? -1]
  if (judged === undefined || body === sent) return judged?.at
  const [first] = (judged.of ?? []).flatMap((index) => texts[index] ?? [])
  const { at, text } = first ?? judged
  const own = textsIn(sent, protocol).findLast((one) => one.text === text)
  return own?.at ?? (typeof sent['previous_response_id'] === 'string' ? 'previous_response_id' : at)
}

/** A text of a request, or several that a provider reads as one. */
interface RequestJudged extends JudgedText {
  /** Numbers of the texts that make it up. */
  readonly of?: readonly number[]
}

/** The texts that follow each other in one message, together: a value may be cut over them. */
function joinedTexts(texts: readonly RequestText[]): readonly RequestJudged[] {
  if (!texts.some(({ at }) => at.endsWith('].text'))) return []
  const groups: number[][] = []
  const parentOf = ({ at, turn }: RequestText) => {
    const [parent] = /^.*(?=\[\d+\]\.text$)/.exec(at) ?? []
    return parent === undefined ? undefined : `${turn} ${parent}`
  }
  for (const [index, text] of texts.entries()) {
    const before = texts[index - 1]
    const parent = parentOf(text)
    if (before && parent !== undefined && before.role === text.role && parentOf(before) === parent)
      groups.at(-1)?.push(index)
    else groups.push([index])
  }
  return groups.flatMap((of) => {
    const [first] = of.map((index) => texts[index])
    if (first === undefined || of.length === 1) return []
    const { at, role } = first
    return [{ at, role, text: of.map((index) => texts[index]?.text ?? '').join(''), from: 0, of }]
  })
}

/** What of a request is judged. */
type RequestJudgement = Judged & { readonly texts: readonly RequestJudged[] }

/** What a request says, whoever judges it. */
interface Said {
  readonly all: readonly RequestText[]
  readonly tools: readonly Json[]
  readonly asked: JudgedRequest
}

function saidIn(request: Envelope, { scope, principal }: Around): Said {
  const { body, protocol } = request
  const { tools } = body
  return {
    all: textsIn(body, protocol),
    tools: Array.isArray(tools) ? (tools as readonly Json[]) : [],
    asked: askedOf(request, scope, principal),
  }
}

function judgedRequest(rule: Rule, { all, tools, asked: request }: Said): RequestJudgement {
  // An answer that has begun, which the model goes on with, is no end of a turn.
  const asked = all.findLast(({ role }) => role === 'user' || role === 'tool')?.turn ?? Infinity
  const last = all.findLast(({ role, turn }) => role === 'assistant' && turn < asked)?.turn ?? -1
  const isWanted = ({ role, turn }: RequestText) => rule.covers(role) && (rule.record.scope === 'all' || turn > last)
  const wanted = all.filter(isWanted)
  const texts = wanted.map(({ at, role, text }): RequestJudged => ({ at, role, text, from: 0 }))
  if (rule.longest !== undefined) texts.push(...joinedTexts(wanted))
  return { texts, tool_calls: [], tools, side: 'input', final: true, window: null, request }
}

/** What a guard learns of a request. */
export function askedOf(request: Envelope, scope: Scope, principal: Principal | undefined): JudgedRequest {
  const { protocol, operation, model, stream, headers, body } = request
  const key = principal?.kind === 'key' ? { id: principal.id, name: principal.name } : undefined
  return {
    id: scope.id,
    protocol,
    operation,
    model,
    stream,
    ...(key ? { key: { ...key, ...(principal?.owner === undefined ? {} : { owner: principal.owner }) } } : {}),
    tags: principal?.tags ?? {},
    end_user: endUserIn(body),
    headers,
    body,
    ...(operation === 'generate' ? { neutral: () => request.neutral('generate') } : {}),
  }
}

function endUserIn({ user, safety_identifier: safe, metadata }: Envelope['body']): string | null {
  const own = isObject(metadata) ? metadata['user_id'] : undefined
  const named = [safe, user, own].find((one) => typeof one === 'string')
  return typeof named === 'string' ? named : null
}
