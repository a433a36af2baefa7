import type { Catalog, JsonObject, Services, Usage } from '../../engine/index.ts'
import { asText, isObject } from '../../engine/kit.ts'
import type { Row } from './decision.ts'

/** A decision, as experience is told of it. */
type Decision = Parameters<Services['experience']['reward']>[0]

/** What a row says of its decision, with the next cheaper model as of now, which a rating may be evidence for, too. */
export function ratedDecision(
  row: Row,
  routing: JsonObject,
  catalog: Catalog,
  prices: Pick<Services['prices'], 'costOf'>,
): Decision {
  const model = asText(routing['served']) || asText(routing['chosen'])
  const [mode, tier] = [routing['mode'], routing['tier']] as [Decision['mode'], Decision['tier']]
  const costs = new Map(
    [model, ...passedIn(routing)].map((name) => [
      name,
      prices.costOf(expectedOf(routing), catalog.find(name)?.pricing),
    ]),
  )
  return { id: row.id, at: row.at, key: row.key_id, model, mode, tier, cheaper: cheaperThan(model, costs) }
}

/** The models that passed every gate of the decision. */
function passedIn({ propensity }: JsonObject): readonly string[] {
  const arms = isObject(propensity) ? propensity['arms'] : undefined
  if (!Array.isArray(arms)) return []
  return arms.filter(isObject).flatMap(({ model, pass }) => (pass === true ? [asText(model)] : []))
}

/** The tokens that the decision reckoned with. */
function expectedOf({ estimate }: JsonObject): Usage {
  const { input, output } = isObject(estimate) ? estimate : {}
  return { input: Number(input ?? 0), cacheRead: 0, cacheWrite: 0, output: Number(output ?? 0), reasoning: 0 }
}

/** The dearest of those that cost less; null: there is none, or the model has no price. */
function cheaperThan(model: string, costs: ReadonlyMap<string, number | undefined>): string | null {
  const own = costs.get(model)
  let best: { readonly name: string; readonly cost: number } | undefined
  for (const [name, cost] of costs)
    if (own !== undefined && cost !== undefined && cost < own && cost > (best?.cost ?? -1)) best = { name, cost }
  return best?.name ?? null
}
