import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject, ShownRecord } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { FindListed } from './match-listed.ts'
import { isSynced, metadataFields, syncedIn } from './synced.ts'

/**
 * What becomes of a field: `set`: it had no value; `change`; `keep_hand`: a person set it; `same`; `refused`: the price
 * differs more than tenfold; `unmatched`: the list does not know the model.
 */
export type Action = 'set' | 'change' | 'keep_hand' | 'same' | 'refused' | 'unmatched'

export interface Difference {
  readonly model: string
  /** Such as `pricing.input`; null: the model is unmatched. */
  readonly field: string | null
  readonly old: Json
  readonly new: Json
  /** New by old; null where there is no number to compare with. */
  readonly ratio: number | null
  readonly action: Action
}

/** A price that differs by more than this is probably a mistake of the list. */
const most = 10

/** How models differ from a list, field by field. */
export function differences(
  models: readonly ShownRecord[],
  what: 'pricing' | 'metadata',
  find: FindListed,
  providers: ReadonlyMap<string, JsonObject>,
  force: boolean,
): readonly Difference[] {
  return models.flatMap((record): readonly Difference[] => {
    const { shown, name } = record
    const [first] = placesOf(shown)
    const listed = first && find(providers.get(first.provider), first.upstreamModel)
    if (listed === undefined)
      return [{ model: name, field: null, old: null, new: null, ratio: null, action: 'unmatched' }]
    const { pricing, ...facts } = listed.facts
    const given =
      what === 'pricing' ? inPricing(pricing) : metadataFields.map((field) => [field, facts[field]] as const)
    return given.flatMap(([field, value]) => (value === undefined ? [] : [difference(record, field, value, force)]))
  })
}

function inPricing(pricing: JsonObject): readonly (readonly [string, Json | undefined])[] {
  return Object.entries(pricing).map(([name, value]) => [`pricing.${name}`, value] as const)
}

function placesOf({ provider, upstream_model: own, deployments }: JsonObject) {
  const [first] = deployments as readonly { readonly provider: string; readonly upstream_model: string }[]
  if (typeof provider === 'string') return [{ provider, upstreamModel: own as string }]
  return first ? [{ provider: first.provider, upstreamModel: first.upstream_model }] : []
}

function difference(record: ShownRecord, field: string, value: Json, force: boolean): Difference {
  const { name, value: given, notes = {}, source } = record
  const old = valueAt(given, field)
  const ratio = ratioOf(old, value)
  const hasValue = isWritten(record, field, old)
  const isHand = source === 'file' || (hasValue && !isSynced(syncedIn(notes), field, old))
  const action = ((): Action => {
    if (isDeepStrictEqual(old, value)) return 'same'
    if (isHand) return 'keep_hand'
    if (old === undefined || !hasValue) return 'set'
    return field.startsWith('pricing.') && !force && isFar(old, value) ? 'refused' : 'change'
  })()
  return { model: name, field, old: old ?? null, new: value, ratio, action }
}

/** Whether somebody gave the field: a default of the schema is nobody's word. */
function isWritten({ value, notes = {} }: ShownRecord, field: string, old: Json | undefined): boolean {
  if (old === undefined) return false
  const written = notes['written']
  if (field.startsWith('pricing.') || typeof old !== 'boolean') return true
  return Array.isArray(written) ? (written as readonly Json[]).includes(field) : value[field] !== undefined
}

function valueAt(value: JsonObject, field: string): Json | undefined {
  const [first = '', second] = field.split('.')
  const outer = value[first]
  return second === undefined ? outer : isObject(outer) ? outer[second] : undefined
}

function ratioOf(old: Json | undefined, value: Json): number | null {
  return typeof old === 'number' && typeof value === 'number' && old > 0 ? value / old : null
}

/** Whether two prices, or any of two lists of prices for long inputs, differ more than tenfold either way. */
function isFar(old: Json, value: Json): boolean {
  if (typeof old === 'number' && typeof value === 'number') return old > value * most || value > old * most
  if (!Array.isArray(old) || !Array.isArray(value)) return false
  return old.some((tier: Json, at) => {
    const other = (value as readonly Json[])[at]
    return (
      isObject(tier) &&
      isObject(other) &&
      Object.keys(tier).some((name) => isFar(tier[name] ?? null, other[name] ?? null))
    )
  })
}

/** The fields that a list of differences writes into a model, as a merge patch. */
export function patchOf(changes: readonly Difference[]): JsonObject {
  const written = changes.map(({ field, new: value }) => [field ?? '', value] as const)
  const pricing = written.flatMap(([field, value]) =>
    field.startsWith('pricing.') ? [[field.slice(8), value] as const] : [],
  )
  const others = written.filter(([field]) => !field.startsWith('pricing.'))
  return { ...Object.fromEntries(others), ...(pricing.length > 0 ? { pricing: Object.fromEntries(pricing) } : {}) }
}
