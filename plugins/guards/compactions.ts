import { GatewayError } from '../../engine/index.ts'
import { answering, isObject } from '../../engine/kit.ts'
import type { Envelope, Json, JsonObject, Judged, UpstreamAnswer } from '../../engine/index.ts'
import { masked } from './masking.ts'
import { askedOf, watchedOutcome } from './requests.ts'
import type { Around } from './requests.ts'
import type { Judgement, Rule } from './rule.ts'
import { textsIn, withTexts } from './texts.ts'
import type { RequestText } from './texts.ts'
import type { TokenTable } from './token-table.ts'

/** What a denied compaction has used. */
type Used = (body: JsonObject) => void

/**
 * Lets guards judge a conversation that its provider has compacted, as far as it can be read. What the client has sent
 * itself is no text of the provider. A denial fails the try with the tag `guard`: the conversation is compacted in
 * another way, or not at all.
 */
export async function guardCompaction(
  rules: readonly Rule[],
  answer: UpstreamAnswer,
  request: Envelope,
  { around, used }: { readonly around: Around; readonly used: Used },
): Promise<UpstreamAnswer> {
  if (answer.kind !== 'whole' || !isObject(answer.body) || !Array.isArray(answer.body['output'])) return answer
  const sent = new Set(textsIn(request.body, request.protocol).map(({ text }) => text))
  const { body } = answer
  let output: Json = body['output'] ?? null
  try {
    for (const rule of rules) output = await judgedOutput(rule, output, { sent, request, around })
  } catch (error) {
    used(body)
    throw error
  }
  return withChanged(answer, restoredOutput(output, around.exchange.tokens))
}

/** A compacted conversation that nobody judges, with what tokens stand for. */
export function restoredCompaction(answer: UpstreamAnswer, tokens: TokenTable): UpstreamAnswer {
  const output = answer.kind === 'whole' && isObject(answer.body) ? answer.body['output'] : undefined
  return Array.isArray(output) ? withChanged(answer, restoredOutput(output as Json, tokens)) : answer
}

function restoredOutput(output: Json, tokens: TokenTable): Json {
  return tokens.longest === 0 ? output : withOutput(output, ({ text }) => tokens.restored(text))
}

function withChanged(answer: UpstreamAnswer, output: Json): UpstreamAnswer {
  if (answer.kind !== 'whole' || !isObject(answer.body) || output === answer.body['output']) return answer
  const body = { ...answer.body, output }
  return answering(answer.operation, { ...answer, body, bytes: Buffer.from(JSON.stringify(body)) })
}

interface Surroundings {
  readonly sent: ReadonlySet<string>
  readonly request: Envelope
  readonly around: Around
}

async function judgedOutput(rule: Rule, output: Json, { sent, request, around }: Surroundings): Promise<Json> {
  const { exchange, host, scope, principal } = around
  const texts = textsOf(output).filter(({ text }) => rule.coversPart('text') && !sent.has(text))
  if (texts.length === 0) return output
  const judged: Judged = {
    texts: texts.map(({ at, text }) => ({ at: at.replace('input', 'output'), role: 'assistant', text, from: 0 })),
    tool_calls: [],
    tools: [],
    side: 'output',
    final: true,
    window: null,
    request: askedOf(request, scope, principal),
  }
  const tell = (judgement: Judgement) => exchange.tell(rule, 'output', judgement, watchedOutcome(rule, judgement))
  if (rule.isShadow) {
    exchange.wait(Promise.resolve(rule.judge(judged, host, scope)).then(tell))
    return output
  }
  const judgement = await rule.judge(judged, host, scope)
  tell(judgement)
  if ('failed' in judgement) {
    if (rule.isClosed) throw new GatewayError('guard_unavailable', { guard: rule.name })
    return output
  }
  const { found } = judgement
  if (!found.hit || rule.action === 'flag' || found.action === 'flag') return output
  if (!rule.masks)
    throw new GatewayError('content_filter', { reason: found.message ?? rule.message }, { tags: ['guard'] })
  const changed = masked(rule, found, judged.texts, around.masking(request))
  const changes = new Map([...changed].map(([index, text]) => [texts[index]?.text, text]))
  return withOutput(output, ({ text }) => changes.get(text))
}

function textsOf(output: Json): readonly RequestText[] {
  return textsIn({ input: output }, 'responses')
}

function withOutput(output: Json, replace: (text: RequestText) => string | undefined): Json {
  return withTexts({ input: output }, 'responses', replace)['input'] ?? null
}
