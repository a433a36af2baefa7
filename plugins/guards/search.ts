import { pii } from './pii-places.ts'
import { apart } from './runs.ts'
import type { Place, Searched } from './runs.ts'
import { secrets } from './secrets-places.ts'

export const searched = { pii, secrets } as const

export interface SearchInput {
  readonly kind: keyof typeof searched
  readonly entities: readonly string[]
  readonly texts: readonly string[]
  /** Whether places are wanted; otherwise one is enough. */
  readonly places: boolean
}

export interface SearchOutput {
  readonly hit: boolean
  readonly spans: readonly (Place & { readonly text: number })[]
}

/** Finds the values of entities in texts. It runs in the worker pool where that takes long, otherwise at once. */
export default function search(input: SearchInput): SearchOutput {
  return searchAtOnce(input, Infinity) as SearchOutput
}

/** For how many characters it takes as long as for one place at which a value may be, at worst. */
const placeCost = 60

/** The same, unless it would take longer than for so many characters: then undefined. */
export function searchAtOnce({ kind, ...input }: SearchInput, most: number): SearchOutput | undefined {
  return placesIn(searched[kind] as Searched<unknown>, input, most)
}

function placesIn<Seen>(
  { see, sizeOf, finders }: Searched<Seen>,
  { entities, texts, places }: Omit<SearchInput, 'kind'>,
  most: number,
): SearchOutput | undefined {
  let cost = texts.reduce((sum, { length }) => sum + length, 0)
  if (cost > most) return undefined
  const seen = texts.map(see)
  for (const one of seen) cost += placeCost * sizeOf(one)
  if (cost > most) return undefined
  const spans: (Place & { readonly text: number })[] = []
  for (const [index, text] of texts.entries()) {
    const found: Place[] = []
    for (const [entity, finder] of Object.entries(finders))
      for (const place of entities.includes(entity) ? finder.find(text, seen[index] as Seen) : []) {
        found.push(place)
        if (!places) return { hit: true, spans: [{ text: index, ...place }] }
      }
    for (const place of apart(found)) spans.push({ text: index, ...place })
  }
  return { hit: spans.length > 0, spans }
}
