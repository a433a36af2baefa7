import type { Catalog, Given, JsonObject, ModelRecord, Services, Usage } from '../../engine/index.ts'
import type { JudgeSettings } from './gate.ts'

type Holders = Pick<Services, 'limits' | 'api_keys' | 'members' | 'tokens' | 'prices'>

/**
 * Whether budgets admit a call of the judge. It must leave room for the request itself: otherwise a judge that only
 * watches could be the reason for which a request is refused.
 */
export class Affordability {
  readonly #catalog: Pick<Catalog, 'find'>
  readonly #services: Holders

  constructor(catalog: Pick<Catalog, 'find'>, services: Holders) {
    this.#catalog = catalog
    this.#services = services
  }

  /** Never rejects. */
  async admits(
    question: JsonObject,
    settings: JudgeSettings,
    { principal, shortlist }: Given<'shortlist', 'principal'>,
  ): Promise<boolean> {
    const { limits } = this.#services
    try {
      const tightest = await limits.tightest(principal, this.#services)
      if (tightest === undefined) return true
      const cost = this.#costOf(question, settings)
      if (cost === undefined) return false
      return cost + this.#costOfRequest(shortlist) <= tightest.left
    } catch {
      // Nobody knows what is left: the request itself will tell its client.
      return false
    }
  }

  /** In micro-USD; undefined: there is no price, and the limits refuse that. */
  #costOf(question: JsonObject, { model, price }: JudgeSettings): number | undefined {
    const { limits, tokens, prices } = this.#services
    const pricing = price ? { input: price.input } : this.#catalog.find(model ?? '')?.pricing
    const input = tokens.ofBytes(Buffer.byteLength(JSON.stringify(question)))
    const cost = prices.costOf({ ...nothing, input }, pricing)
    return cost ?? (limits.settings.budget.unknown_price === 'allow' ? 0 : undefined)
  }

  /** Of the dearest model that may serve it, in micro-USD. */
  #costOfRequest({ entries, input, maxOutput }: Given<'shortlist', never>['shortlist']): number {
    const { limits, prices } = this.#services
    const { assumed_output_tokens: assumed } = limits.settings
    const outputOf = ({ max_output_tokens: most = assumed }: ModelRecord) => maxOutput ?? Math.min(most, assumed)
    const costs = entries.map(({ model }) =>
      prices.costOf({ ...nothing, input, output: outputOf(model) }, model.pricing),
    )
    return Math.max(0, ...costs.map((cost) => cost ?? 0))
  }
}

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
