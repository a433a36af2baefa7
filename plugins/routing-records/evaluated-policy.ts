import { Refusal } from '../../engine/index.ts'
import type { CommandOutput, JsonObject, Services } from '../../engine/index.ts'
import { columns, momentIn, timeText } from '../../engine/kit.ts'
import { ratedRows } from './corpora.ts'
import { rateable } from './decision.ts'

type Sources = Pick<Services, 'requests' | 'routing_records' | 'smart_routing'>

interface Asked {
  readonly policy: JsonObject
  /** A date and time; undefined: all ratings count. */
  readonly since: string | undefined
}

/**
 * Prints how good the choices of another policy would have been, as rated requests tell. Returns 1 if they say too little.
 * Throws a `Refusal` for what is no policy or no time.
 */
export async function evaluatedPolicy(
  { policy, since }: Asked,
  sources: Sources,
  { out, error, json }: CommandOutput,
): Promise<number> {
  const from = since === undefined ? 0 : momentIn(since)
  if (from === undefined) throw new Refusal(`--since "${since}" is no time; write it as ${timeText(0)}`)
  const found = sources.smart_routing.evaluation(await rated(sources, from), policy)
  const { rows, logged, ess, clipped, snips, doubly_robust: robust } = found
  if (json) out(JSON.stringify(found))
  if (snips === null || robust === null) {
    error(
      `sluice: ${rows} rated requests say too little of this policy: ` +
        `their effective sample size is ${shortened(ess)}, and at least 100 is needed`,
    )
    return 1
  }
  if (json) return 0
  const estimate = ({ value, low, high }: typeof snips) =>
    `${shortened(value)}, between ${shortened(low)} and ${shortened(high)}`
  const facts = [
    ['rated requests', `${rows}, effective sample size ${shortened(ess)}, weights cut: ${shortened(100 * clipped)} %`],
    ['mean reward', `${shortened(logged)} as it was`],
    ['snips', estimate(snips)],
    ['doubly robust', estimate(robust)],
  ]
  out(columns(facts, '  '))
  return 0
}

/** The rated decisions since a time. A model that is stronger than needed gave an answer that is good enough. */
async function rated(sources: Sources, since: number): Promise<{ routing: JsonObject; reward: number }[]> {
  const found: { routing: JsonObject; reward: number }[] = []
  for await (const some of ratedRows(sources, since))
    for (const { row, label } of some) {
      const routing = rateable(row)
      if (routing) found.push({ routing, reward: label.signal === 'weak' ? 0 : 1 })
    }
  return found
}

function shortened(value: number): string {
  return String(Number(value.toPrecision(4)))
}
