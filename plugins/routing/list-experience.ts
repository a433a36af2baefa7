import { defineStage, noConfig } from '../../engine/index.ts'
import type { JsonObject, ModelRecord, Services, Tier } from '../../engine/index.ts'
import { jsonReply, readQuery, timeText } from '../../engine/kit.ts'
import { betaQuantile } from './beta.ts'
import { levelOf, needOf, priorMean } from './score.ts'
import type { RoutingSettings } from './settings.ts'

/** The complexity in the middle of each tier, for which a model is shown. */
const middle: Readonly<Record<Tier, number>> = { SIMPLE: 0.165, MEDIUM: 0.5, COMPLEX: 0.835 }

type Known = Awaited<ReturnType<Services['experience']['known']>>[number]

/** Answers what was learned of each model, per mode and tier. Figures of latency and caches are those of this process. */
export default defineStage({
  name: 'list-experience',
  summary: 'List what was learned of the models that virtual models choose among.',
  config: noConfig,
  uses: ['experience', 'smart_routing'],
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build: (_, { catalog }, { experience, smart_routing: routing }) => {
    const models = new Map(catalog.models.map((model) => [model.name, model]))
    return async ({ ingress }) => {
      readQuery(ingress.query)
      const known = (await experience.known()).flatMap((one) => {
        const model = models.get(one.model)
        return model ? [rowOf(one, model, experience, routing.settings)] : []
      })
      return { reply: jsonReply({ data: known }) }
    }
  },
})

function rowOf(
  { feedback, updatedAt, ...place }: Known,
  record: ModelRecord,
  experience: Services['experience'],
  { experience: rules }: RoutingSettings,
): JsonObject {
  const { model, mode, tier } = place
  const mean = priorMean(needOf(middle[tier], mode), levelOf(record.quality_tier))
  const { window, prior_strength: strength, implicit } = rules
  const { a, b, pulls } = experience.posterior(place, { mean, window, strength, implicit })
  const { reliability, firstByte, slowFirstByte, cacheReads } = experience.outcomes(model, tier, 'now')
  return {
    model,
    mode,
    tier,
    pulls,
    mean: a / (a + b),
    low: betaQuantile(0.025, a, b),
    high: betaQuantile(0.975, a, b),
    strength: a + b,
    reliability,
    latency_ms: { p50: firstByte, p95: slowFirstByte },
    feedback: { ...feedback },
    cache_affinity: cacheReads,
    updated_at: updatedAt > 0 ? timeText(updatedAt) : null,
  }
}
