import { defineGuard, definePlugin } from 'sluice'
import { baseUrl, isObject, jsonService } from 'sluice/kit'

/** Asks the analyzer of Presidio: POST /analyze with all texts, which answers a list of places for each. */
const presidio = defineGuard({
  name: 'presidio',
  summary: 'Asks the analyzer of Presidio where personal data is.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['url'],
    properties: {
      url: { ...baseUrl, description: 'Address of the analyzer.' },
      language: { type: 'string', minLength: 2, default: 'en', description: 'Language of the texts.' },
      entities: {
        type: 'array',
        minItems: 1,
        items: { type: 'string' },
        description: 'Entities of Presidio that are looked for, such as PERSON; unset: all.',
      },
      score: { type: 'number', minimum: 0, maximum: 1, default: 0.5, description: 'Least score that counts.' },
    },
  } as const,
  build({ url, language, entities, score }, host) {
    const service = jsonService(`${url.replace(/\/$/, '')}/analyze`, {}, host)
    return async ({ texts }, scope) => {
      if (texts.length === 0) return { hit: false }
      const text = texts.map((one) => one.text)
      const body = { text, language, score_threshold: score, ...(entities && { entities }) }
      const answer = await service.askAny(body, scope)
      if (!Array.isArray(answer) || answer.length !== text.length) throw new Error('it has not answered for each text')
      const spans = text.flatMap((one, index) =>
        placesIn(answer[index], one).map((place) => ({ text: index, ...place })),
      )
      return { hit: spans.length > 0, spans }
    }
  },
})

function placesIn(found: unknown, text: string) {
  if (!Array.isArray(found)) throw new Error('it has not answered a list of places')
  // Presidio counts characters, and a guard UTF-16 units, of which an emoji has two.
  const units = [0]
  for (const character of text) units.push((units.at(-1) ?? 0) + character.length)
  return found.map((place: unknown) => {
    const { start, end, entity_type: entity } = isObject(place) ? place : {}
    const [from, to] = [units[Number(start)], units[Number(end)]]
    if (from === undefined || to === undefined || typeof entity !== 'string') throw new Error('a place is not there')
    return { start: from, end: to, entity }
  })
}

export default definePlugin({ name: 'presidio', summary: 'Guards by Presidio.', guards: [presidio] })
