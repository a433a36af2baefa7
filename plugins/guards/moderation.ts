import { defineGuard } from '../../engine/index.ts'
import type { Span } from '../../engine/index.ts'
import { baseUrl, isObject, jsonService } from '../../engine/kit.ts'

/** Asks a service for moderation, in the form that OpenAI has made usual. */
export default defineGuard({
  name: 'moderation',
  summary: 'Asks a service for moderation: POST {url}/moderations.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['url'],
    properties: {
      url: { ...baseUrl, description: 'Base address of the service, such as https://api.openai.com/v1.' },
      api_key: { type: 'string', minLength: 1, maxLength: 4_096, description: 'Key of the service.' },
      model: { type: 'string', minLength: 1, maxLength: 256, description: 'Its model; unset: that of the service.' },
      thresholds: {
        type: 'object',
        maxProperties: 100,
        additionalProperties: { type: 'number', minimum: 0, maximum: 1 },
        description:
          'Categories that are found from this score on, and no others; unset: what the service has flagged is found.',
      },
    },
  } as const,
  secrets: ['api_key'],
  build({ url, api_key: key, model, thresholds }, host) {
    const service = jsonService(
      `${url.replace(/\/$/, '')}/moderations`,
      key === undefined ? {} : { authorization: `Bearer ${key}` },
      host,
    )
    return async ({ texts }, scope) => {
      if (texts.length === 0) return { hit: false }
      const input = texts.map(({ text }) => text)
      const { results } = await service.ask({ ...(model === undefined ? {} : { model }), input }, scope)
      if (!Array.isArray(results) || results.length !== texts.length)
        throw new Error('it has not answered for each text')
      const found = results.map((result: unknown) => verdictOf(result, thresholds))
      const spans = found.flatMap(({ hit, category }, index): Span[] =>
        hit ? [{ text: index, start: 0, end: input[index]?.length ?? 0, entity: entityOf(category) }] : [],
      )
      const [worst] = found.filter(({ hit }) => hit).toSorted((left, right) => right.score - left.score)
      return worst ? { hit: true, spans, category: worst.category, score: worst.score } : { hit: false }
    }
  },
})

interface Verdict {
  readonly hit: boolean
  readonly category: string
  readonly score: number
}

function verdictOf(result: unknown, thresholds: Readonly<Record<string, number>> | undefined): Verdict {
  if (!isObject(result) || typeof result['flagged'] !== 'boolean') throw new Error('a result does not say "flagged"')
  const { flagged, categories, category_scores: given } = result
  const scores = numbersIn(given)
  if (thresholds === undefined) {
    const named = isObject(categories) ? Object.keys(categories).filter((name) => categories[name] === true) : []
    return { hit: flagged, ...highest(named.length > 0 ? named : Object.keys(scores), scores) }
  }
  for (const name of Object.keys(thresholds))
    if (scores[name] === undefined) throw new Error('a result has no score of a category with a threshold')
  const over = Object.entries(thresholds).flatMap(([name, least]) => ((scores[name] ?? 0) >= least ? [name] : []))
  return { hit: over.length > 0, ...highest(over, scores) }
}

function numbersIn(given: unknown): Readonly<Record<string, number>> {
  const entries = Object.entries(isObject(given) ? given : {})
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
}

function highest(names: readonly string[], scores: Readonly<Record<string, number>>): Omit<Verdict, 'hit'> {
  const [category = 'flagged'] = names.toSorted((left, right) => (scores[right] ?? 0) - (scores[left] ?? 0))
  return { category: category.slice(0, 64), score: Math.min(1, Math.max(0, scores[category] ?? 1)) }
}

function entityOf(category: string): string {
  return category.toLowerCase().replaceAll(/[^a-z0-9]/g, '_')
}
