import { apart } from './runs.ts'
import type { Place } from './runs.ts'
import type { JudgedText, Span } from '../../engine/index.ts'

/**
 * What finds the values of an entity in a text, and how many characters the longest of them has. `seen` is what one pass
 * over the text has found for all entities.
 */
export interface Finder<Seen> {
  readonly find: (text: string, seen: Seen) => Iterable<Place>
  readonly longest: number
}

/** The configuration of a kind that looks for some of its entities; all of them, unless it says which. */
export const entitiesConfig = <const E extends string>(entities: readonly E[]) =>
  ({
    type: 'object',
    additionalProperties: false,
    properties: {
      entities: {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        items: { enum: entities },
        default: entities,
        description: 'What is looked for.',
      },
    },
  }) as const

/** The places of values in texts; one place is enough where nobody needs the others. */
export function placesIn<Seen>(
  texts: readonly Pick<JudgedText, 'text'>[],
  finders: readonly Finder<Seen>[],
  places: boolean,
  see: (text: string) => Seen,
): { readonly hit: boolean; readonly spans: readonly Span[] } {
  const spans: Span[] = []
  for (const [index, { text }] of texts.entries()) {
    const found: Place[] = []
    const seen = see(text)
    for (const { find } of finders)
      for (const place of find(text, seen)) {
        found.push(place)
        if (!places) return { hit: true, spans: [{ text: index, ...place }] }
      }
    spans.push(...apart(found).map((place) => ({ text: index, ...place })))
  }
  return { hit: spans.length > 0, spans }
}
