import { GatewayError } from '../../engine/index.ts'
import { isObject, tiers } from '../../engine/kit.ts'
import type { DecideAnswer, DecideReply, Given, Host, Json, Outcome, Scope, Tier } from '../../engine/index.ts'
import type { Judgement } from './consultation.ts'
import { places, tierAt } from './question.ts'

/** Two probabilities that are closer than this are the same once they are rounded to two decimals. */
const close = 0.02
/** Sums of decimal fractions are wrong by less than this. */
const precision = 1e6

/** What the answer to the question says. */
export function judgementOf(answer: DecideAnswer | undefined): Omit<Judgement, 'asked'> {
  if (answer?.type === 'refusal') return { error: 'refused' }
  if (answer?.type !== 'choice') return { error: 'unparseable' }
  const masses = answer.assumed ? undefined : massesOf(answer.probabilities)
  const distribution = masses && (Object.fromEntries(tiers.map((tier, index) => [tier, masses[index]])) as Distribution)
  const told = distribution ? { distribution } : {}
  const verdict = tierAt(answer.choice)
  if (verdict === undefined) return { ...told, error: 'abstained' }
  if (masses && isTie(masses)) return { ...told, error: 'ambiguous' }
  const mass = distribution?.[verdict] ?? answer.confidence
  return { ...told, verdict, ...(mass === undefined ? {} : { mass }) }
}

type Distribution = Readonly<Record<Tier, number>>

/** The probabilities of the tiers, of which the sum is 1; undefined: the upstream gave no tier any. */
function massesOf(probabilities: readonly number[]): readonly number[] | undefined {
  const given = places.map((place) => probabilities[place] ?? 0)
  const sum = given.reduce((total, mass) => total + mass, 0)
  return sum > 0 ? given.map((mass) => rounded(mass / sum)) : undefined
}

function isTie(masses: readonly number[]): boolean {
  const [first = 0, second = 0] = masses.toSorted((one, other) => other - one)
  return rounded(first - second) < close
}

export function rounded(value: number): number {
  return Math.round(value * precision) / precision
}

/**
 * The answer of the judge in neutral form, before its translation: that tells whether it has probabilities. Undefined
 * if it is none.
 */
export function answerOf(
  { request, model, upstream, answer }: Given<never, 'request' | 'model' | 'upstream' | 'answer'>,
  host: Host,
): DecideAnswer | undefined {
  if (!request || !model || !answer) return undefined
  if (answer.kind === 'neutral-reply') return (answer.reply as DecideReply).answers[0]
  if (answer.kind !== 'whole') return undefined
  const { reply } = host.upstreamCodec(model.offer.protocol ?? '')
  const restore = upstream?.restore ?? { tools: new Map(), questions: request.neutral('decide').questions }
  try {
    return (reply?.parse(answer.body, restore, model.offer) as DecideReply | undefined)?.answers[0]
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** Errors of the gateway for which the judge has a word of its own. */
const words: Readonly<Record<string, string>> = {
  stage_timeout: 'deadline',
  upstream_timeout: 'deadline',
  upstream_invalid_response: 'unparseable',
  upstream_unreachable: 'unreachable',
  // Without a status, the connection broke.
  upstream_error: 'unreachable',
  provider_off: 'unreachable',
}

/** A word for the failure of a call; undefined: it did not fail. */
export function failureOf({ error }: Outcome, { notes }: Pick<Scope, 'notes'>): string | undefined {
  if (error === undefined) return undefined
  const tries = notes.get('tries')
  const last: Json | undefined = Array.isArray(tries) ? (tries.at(-1) as Json) : undefined
  const status = isObject(last) ? last['status'] : undefined
  return typeof status === 'number' ? `http_${status}` : (words[error.code] ?? error.code)
}

/** What the end of a call tells of the judge: it works, it fails, or nothing. */
export function saysWhat(error: string | undefined): 'ok' | 'fault' | undefined {
  if (error === undefined || ['refused', 'abstained', 'ambiguous'].includes(error)) return 'ok'
  return /^(deadline|unparseable|unreachable|http_\d+)$/.test(error) ? 'fault' : undefined
}
