import type { AllRecords, JsonObject, RecordView } from '../../engine/index.ts'
import { isObject, isPattern, shape, timeText, withTimes } from '../../engine/kit.ts'
import { modelSchema } from './model-schema.ts'
import type { Model } from './model-schema.ts'
import { placesIn } from './places.ts'
import { isSynced, syncedIn } from './synced.ts'

/** Every field of a model, with null for what is unset. */
const unset = Object.fromEntries(Object.keys(modelSchema.properties).map((field) => [field, null]))

/** The fields that every model shows. */
export const always = [
  ...Object.keys(modelSchema.properties),
  'created_at',
  'updated_at',
  'problem',
  'pricing_source',
  'priced_at',
  'available',
]

/** JSON Schema of the fields that clients see beside those of the record. */
export const shownFields = {
  pricing_source: shape.word(['hand', 'sync', 'list', 'none'], 'Where its prices are from.'),
  priced_at: shape.orNull(shape.time('When its prices were set.')),
  listed_pricing: shape.object(
    {
      pricing: shape.map({}, 'The prices of the list.'),
      source: shape.text('The list.'),
      date: shape.text('The day of the list.'),
    },
    {},
    'The prices that are charged because the record has none.',
  ),
  available: shape.flag('Whether requests can use it.'),
}

/** What clients see of a model: all its fields, where its prices are from, and whether it can be used. */
export function showModel(shown: JsonObject, record: RecordView, all: AllRecords): JsonObject {
  const problem = problemOf(record, all)
  return {
    ...unset,
    ...withTimes(shown),
    ...placesOf(record),
    ...pricingOf(record, all),
    available: problem === null,
    problem,
  }
}

/** The places of a model with the names that are asked for there. */
function placesOf({ name, value }: RecordView): JsonObject {
  const { provider, upstream_model: upstream = isPattern(name) ? '*' : name, deployments = [] } = value
  const places = (deployments as readonly JsonObject[]).map((place) => ({ upstream_model: upstream, ...place }))
  return { ...(provider === undefined ? {} : { upstream_model: upstream }), deployments: places }
}

/** A listed price is no part of the record, so that changes of the record do not store it. */
function pricingOf({ name, value: { pricing }, notes = {} }: RecordView, all: AllRecords): JsonObject {
  const { listed, pricing: price } = all.served(name) ?? {}
  if (listed !== undefined)
    return {
      pricing_source: 'list',
      priced_at: timeText(Date.parse(listed.date)),
      listed_pricing: { pricing: { ...price } as JsonObject, ...listed },
    }
  if (!isObject(pricing) || Object.keys(pricing).length === 0) return { pricing_source: 'none', priced_at: null }
  const synced = syncedIn(notes)
  const isFromList = Object.entries(pricing).every(([field, price]) => isSynced(synced, `pricing.${field}`, price))
  const at = notes['priced_at']
  return { pricing_source: isFromList ? 'sync' : 'hand', priced_at: typeof at === 'number' ? timeText(at) : null }
}

/** Why no request can use a model: it is off or left out, or so are all its providers. */
function problemOf({ name, problem }: RecordView, all: AllRecords): string | null {
  if (problem !== undefined) return problem
  const model = all.of('model').find((one) => one.name === name) as Model
  const off = placesIn(model).map(({ provider }) => [provider, all.off('provider', provider)] as const)
  return off.every(([, reason]) => reason !== undefined)
    ? off.map(([provider, reason]) => `the provider "${provider}" is off: ${reason}`).join('; ')
    : null
}
