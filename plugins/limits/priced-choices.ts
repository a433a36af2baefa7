import type { Candidate, Envelope, Host, ModelRecord } from '../../engine/index.ts'
import { asText, choicesIn, recordNamed } from '../../engine/kit.ts'
import { choiceUnpriced } from './refusal.ts'

type Reading = Pick<Host, 'catalog' | 'codec' | 'upstreamCodec'>

/** Further models that a request names at a candidate; undefined for one that has no record. */
export function furtherModels(
  request: Envelope,
  candidate: Candidate,
  host: Reading,
): readonly (ModelRecord | undefined)[] {
  const chosen = choicesIn(request, candidate.offer, host)
  if (chosen.length === 0) return none
  return chosen
    .filter(({ choice }) => choice.chooses === 'model')
    .map(({ value }) => recordNamed(asText(value), candidate, host.catalog))
}

const none: readonly never[] = []

interface Checking {
  readonly host: Reading
  /** Whether no amount limits the request: then a candidate without any price may do anything, as nobody knows its cost. */
  readonly isFree: boolean
  /** The operator lets pass what has no price. */
  readonly costsNothing: boolean
  readonly target: { readonly virtual?: boolean } | undefined
}

/**
 * The candidates at which everything that the request chooses has a price. Throws if the requested model is none of
 * them, or if none is left.
 */
export function pricedIn(
  request: Envelope,
  candidates: readonly Candidate[],
  { host, isFree, costsNothing, target }: Checking,
): readonly Candidate[] {
  if (costsNothing) return candidates
  let params: Map<Candidate, string> | undefined
  for (const candidate of candidates) {
    if (isFree && candidate.model.pricing === undefined) continue
    const param = unpricedChoice(request, candidate, host)
    if (param !== undefined) (params ??= new Map()).set(candidate, param)
  }
  if (params === undefined) return candidates
  const unpriced = params
  const [first] = candidates
  const param = first && unpriced.get(first)
  if (param !== undefined && (target?.virtual !== true || unpriced.size === candidates.length))
    throw choiceUnpriced(first?.model.name ?? request.model, param)
  return candidates.filter((candidate) => !unpriced.has(candidate))
}

/** The place of the first choice that no price bills. */
function unpricedChoice(request: Envelope, candidate: Candidate, host: Reading): string | undefined {
  const { pricing } = candidate.model
  return choicesIn(request, candidate.offer, host).find(({ choice: { chooses, price }, value }) => {
    if (chooses === 'model') return recordNamed(asText(value), candidate, host.catalog)?.pricing === undefined
    return price === undefined || pricing?.[price] === undefined
  })?.param
}
