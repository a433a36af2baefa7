import { isObject } from '../spec/json.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Environment } from '../config/interpolate.ts'
import { namesOf, nounOf } from './record-names.ts'
import type { GivenRecord } from './record-names.ts'
import { declaredRecords, missingAt, unsetAt } from './records.ts'
import type { RecordSet } from './records.ts'
import type { Registry } from '../config/registry.ts'
import { readSource } from '../config/source.ts'
import type { Missing, Source } from '../config/source.ts'

/** The built-in configuration as a second source of records: those that variables of the environment switch on. */
export interface Vendors {
  readonly source: Source
  /** Where it needs which variable, set or not. */
  readonly needed: readonly Missing[]
}

/** Reads the text of the built-in configuration. */
export function readVendors(file: string, text: string, environment: Environment): Vendors {
  // Without an environment every variable is missing.
  const { missing } = readSource(file, text, {}).source
  return { source: readSource(file, text, environment).source, needed: missing }
}

/**
 * The records whose variables are all set, with those that refer to them. A record whose name the operator has declared
 * is left out, and with it those that refer to it.
 */
export function vendorRecords(
  { source, needed }: Vendors,
  declared: readonly GivenRecord[],
  registry: Registry,
): readonly GivenRecord[] {
  const taken = namesIn(declared)
  const free = declaredRecords(source, registry).filter((one) => !isNamed(one, taken))
  const on = free.filter(({ path }) => variablesAt(needed, path).length > 0 && unsetAt(source, path).length === 0)
  const names = new Set(on.map(nameOf))
  return free.filter((one) => on.includes(one) || names.has(fieldOf(one, 'provider')))
}

/** Records without those of the built-in configuration that have the name of a stored one, or refer to such a record. */
export function besideStored(records: RecordSet, stored: readonly StoredRecord[], vendors?: Vendors): RecordSet {
  if (vendors === undefined || stored.length === 0) return records
  const taken = new Set(stored.map(({ type, name }) => keyOf(type, name)))
  const isVendor = ({ source }: GivenRecord) => source === vendors.source
  const hidden = new Set(
    (records.get('provider') ?? [])
      .filter(({ given }) => isVendor(given) && isNamed(given, taken))
      .map(({ given }) => fieldOf(given, 'name')),
  )
  const isKept = (given: GivenRecord) =>
    !isVendor(given) || (!isNamed(given, taken) && !hidden.has(fieldOf(given, 'provider')))
  return new Map([...records].map(([type, list]) => [type, list.filter(({ given }) => isKept(given))]))
}

/** A note of the records that variables have switched on; none: there are no such records. */
export function noteOfVendors(records: RecordSet, source: Source, vendors?: Vendors): readonly Diagnostic[] {
  if (vendors === undefined) return []
  const on = [...records.values()].flat().flatMap(({ type, name, given }) => {
    const variables = given.source === vendors.source ? variablesAt(vendors.needed, given.path) : []
    return variables.length > 0 ? [`${nounOf(type)} "${name}" (${variables.join(', ')})`] : []
  })
  const message =
    on.length > 0 ? `on, because these variables are set: ${on.join(', ')}` : 'no vendor is on: no variable is set'
  return [{ ...source.report(['vendors'], 'vendors', message), note: true }]
}

function variablesAt(needed: readonly Missing[], path: GivenRecord['path']): string[] {
  return [...new Set(missingAt({ missing: needed }, path).map(({ name }) => name))]
}

function namesIn(given: readonly GivenRecord[]): ReadonlySet<string> {
  return new Set(given.flatMap(keysOf))
}

function isNamed(given: GivenRecord, names: ReadonlySet<string>): boolean {
  return keysOf(given).some((key) => names.has(key))
}

function keysOf({ type, value }: GivenRecord): string[] {
  return isObject(value) ? namesOf(type, value).map(({ word }) => keyOf(type.name, word)) : []
}

function keyOf(type: string, name: string): string {
  return JSON.stringify([type, name])
}

function nameOf(given: GivenRecord): unknown {
  return fieldOf(given, 'name')
}

function fieldOf({ value }: GivenRecord, field: string): unknown {
  return isObject(value) ? value[field] : undefined
}
