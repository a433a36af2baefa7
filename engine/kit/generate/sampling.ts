import { fits } from '../../pipeline/match.ts'
import type { GenerateRequest } from '../../spec/generate.ts'
import type { Json, JsonObject } from '../../spec/json.ts'
import { defined, isObject } from '../../spec/json.ts'
import type { Offer } from '../../spec/open-provider.ts'
import type { Amendment } from '../../spec/relaying.ts'
import type { Losses } from './losses.ts'

const words = ['all', 'one', 'none', 'unless_effort'] as const

/** Which of temperature, top_p and top_k a model takes. */
export type Sampling = (typeof words)[number]

/** JSON Schema of the trait `sampling`, for the traits of a codec. */
export const samplingTrait = {
  anyOf: [{ enum: [...words] }, { type: 'object', additionalProperties: { enum: [...words] } }],
  default: 'all',
  description:
    'Takes `temperature`, `top_p` and `top_k`: `all`; `one`: not the first two together; `none`; `unless_effort`: all, unless the request sets an effort of reasoning. Or a map from names of models, with `*`, to these words, of which the first that fits counts.',
} as const

/** What decides about sampling: the trait of the offer, and the provider's name of the model. */
export interface Sampled {
  readonly offer: Pick<Offer, 'traits'>
  readonly model: string
}

function samplingOf({ offer: { traits }, model }: Sampled): Sampling {
  const trait = traits?.['sampling']
  return isObject(trait) ? namedIn(trait, model) : wordOf(trait)
}

/** The words that were found, by the map and the name of the model. */
const found = new WeakMap<JsonObject, Map<string, Sampling>>()

function namedIn(map: JsonObject, model: string): Sampling {
  const known = found.get(map) ?? new Map<string, Sampling>()
  const before = known.get(model)
  if (before !== undefined) return before
  const word = wordOf(Object.entries(map).find(([name]) => fits(model, name))?.[1])
  // A model with a wildcard in its name has as many names as its clients send.
  if (known.size < mostFound) found.set(map, known.set(model, word))
  return word
}

const mostFound = 1000

/** `true` and `false` are earlier words for `all` and `none`. */
function wordOf(given: Json | undefined): Sampling {
  if (given === undefined) return 'all'
  if (given === false) return 'none'
  return words.find((word) => word === given) ?? 'all'
}

type Fields = Pick<GenerateRequest, 'temperature' | 'topP' | 'topK'>
type Named = readonly (readonly [field: keyof Fields, name: string])[]

const usual: Named = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
]

/**
 * Fields that a model refuses, and whether something is lost with them: 1 is the default of the first two. Undefined,
 * as for nearly all requests, if it takes what is given.
 */
function refusedOf(
  { temperature, topP, topK }: Fields,
  effort: Json | undefined,
  sampled: Sampled,
): ReadonlyMap<keyof Fields, boolean> | undefined {
  if (temperature === undefined && topP === undefined && topK === undefined) return undefined
  const takes = samplingOf(sampled)
  if (takes === 'all') return undefined
  if (takes === 'one') {
    if (temperature === undefined || topP === undefined) return undefined
    return new Map([temperature === 1 ? ['temperature', false] : ['topP', topP !== 1]])
  }
  if (takes === 'unless_effort' && (typeof effort !== 'string' || effort === 'none')) return undefined
  const refused = new Map<keyof Fields, boolean>()
  if (temperature !== undefined) refused.set('temperature', temperature !== 1)
  if (topP !== undefined) refused.set('topP', topP !== 1)
  if (topK !== undefined) refused.set('topK', true)
  return refused
}

const because = 'the model takes no such field'

/** The sampling of a request that the model takes. */
export function takenSampling(request: GenerateRequest, sampled: Sampled, losses: Losses): Fields {
  const { temperature, topP, topK, reasoning } = request
  const given = defined({ temperature, topP, topK })
  const refused = refusedOf(given, reasoning?.effort, sampled)
  if (!refused) return given
  for (const [field, name] of usual) if (refused.get(field)) losses.add(name, because)
  return Object.fromEntries(Object.entries(given).filter(([field]) => !refused.has(field as keyof Fields)))
}

/**
 * A relayed body without the sampling that the model refuses; undefined if it takes all.
 * @param names the fields of the body, in place of `temperature`, `top_p` and `top_k`
 */
export function amendedSampling(
  body: JsonObject,
  effort: Json | undefined,
  sampled: Sampled,
  names: Named = usual,
): Amendment | undefined {
  // Most requests are relayed to models that take everything.
  if (samplingOf(sampled) === 'all') return undefined
  const given: { -readonly [F in keyof Fields]?: number } = {}
  for (const [field, name] of names) {
    const value = body[name]
    if (typeof value === 'number') given[field] = value
  }
  const refused = refusedOf(given, effort, sampled)
  if (!refused) return undefined
  const cut = names.filter(([field, name]) => refused.has(field) && typeof body[name] === 'number')
  return {
    fields: Object.fromEntries(cut.map(([, name]) => [name, undefined])),
    losses: usual.filter(([field]) => refused.get(field)).map(([, field]) => ({ field, because })),
  }
}
