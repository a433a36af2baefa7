import { defineAction } from '../../engine/index.ts'
import type { JsonObject, ModelRecord, Services, Tier } from '../../engine/index.ts'
import { shape, tiers, timeText, virtualModels } from '../../engine/kit.ts'
import { betaQuantile } from './beta.ts'
import { levelOf, needOf, priorMean } from './score.ts'
import type { RoutingSettings } from './settings.ts'

/** The complexity in the middle of each tier, for which a model is shown. */
const middle: Readonly<Record<Tier, number>> = { SIMPLE: 0.165, MEDIUM: 0.5, COMPLEX: 0.835 }

type Known = Awaited<ReturnType<Services['experience']['known']>>[number]

const milliseconds = (description: string) => shape.orNull(shape.number(`${description}, in milliseconds.`))
const share = (description: string) => shape.orNull(shape.number(description))

/** Answers what was learned of each model, per mode and tier. Figures of latency and caches are those of this process. */
export default defineAction({
  name: 'list-experience',
  summary: 'Answer what was learned of the models that virtual models choose among.',
  route: 'GET /api/routing/experience',
  access: { role: 'admin' },
  answer: shape.all(
    shape.object({
      model: shape.text('Name of the model.'),
      mode: shape.word(virtualModels, 'The virtual model.'),
      tier: shape.word(tiers, 'The tier of the requests.'),
      pulls: shape.number('How often it was chosen.'),
      mean: shape.number('The probability that its answer is good enough.'),
      low: shape.number('Its 2.5th percentile.'),
      high: shape.number('Its 97.5th percentile.'),
      strength: shape.number('How much is known: the sum of the parameters of the distribution.'),
      reliability: share('The share of its tries that answered.'),
      latency_ms: shape.object(
        { p50: milliseconds('Median'), p95: milliseconds('95th percentile') },
        {},
        'Time to the first byte.',
      ),
      feedback: shape.object(
        {
          ok: shape.number('That it was right.'),
          weak: shape.number('That it was too weak.'),
          strong: shape.number('That it was stronger than necessary.'),
        },
        {},
        'How often people said what of it.',
      ),
      cache_affinity: share('The share of its input that it read from a cache.'),
      updated_at: shape.orNull(shape.time('When the last of it was learned.')),
    }),
  ),
  uses: ['experience', 'smart_routing'],
  async run(_input, { experience, smart_routing: routing }, _scope, { catalog }) {
    const models = new Map(catalog.models.map((model) => [model.name, model]))
    const data = (await experience.known()).flatMap((one) => {
      const model = models.get(one.model)
      return model ? [rowOf(one, model, experience, routing.settings)] : []
    })
    return { data }
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
