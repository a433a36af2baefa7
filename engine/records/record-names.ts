import type { KnownNames } from '../pipeline/named.ts'
import { asText, isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { AnyRecord } from '../spec/record.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Diagnostic, Path } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import type { Source } from '../config/source.ts'

/** An unchecked record, and the place for its findings. */
export interface GivenRecord {
  readonly type: AnyRecord
  readonly value: Json
  readonly source: Source
  /** Path to it in its source. */
  readonly path: Path
  /** Its name in messages, such as `the model number 2`. */
  readonly label: string
  /** Absent: the file declares it. */
  readonly stored?: StoredRecord
}

/** The word for a record of a type in messages. */
export function nounOf({ name, schema }: AnyRecord): string {
  return (typeof schema === 'object' && schema.title) || name
}

/** The owner of each name, by type. */
export type Owners = ReadonlyMap<string, ReadonlyMap<string, GivenRecord>>

/** All names, by type. */
export function namesOfOwners(owners: Owners, { records: types }: Registry): KnownNames {
  const names = [...types].map(([name, { patterns }]) => [
    name,
    { words: [...(owners.get(name)?.keys() ?? [])], patterns },
  ])
  return Object.fromEntries(names) as KnownNames
}

/** Assigns each name to a record. If two records of a type have the same name, the later one gets a finding. */
export function claimNames(
  groups: readonly (readonly GivenRecord[])[],
  registry: Registry,
  diagnostics: Diagnostic[],
): Owners {
  return new Map(
    [...registry.records.values()].map((type) => {
      const owners = new Map<string, GivenRecord>()
      const claims = groups.flatMap((given) => {
        const claimed = given.flatMap((one) =>
          one.type === type && isObject(one.value) ? namesOf(type, one.value).map((name) => ({ one, ...name })) : [],
        )
        // A record's own name takes precedence over an alias of another record.
        return claimed.toSorted((left, right) => left.steps.length - right.steps.length)
      })
      for (const { one, word, steps } of claims) {
        const other = owners.get(word)
        if (other === undefined) owners.set(word, one)
        else {
          const message = `the name "${word}" is already taken by ${ownerOf(other, word)}`
          diagnostics.push(one.source.report([...one.path, ...steps], 'duplicate', message))
        }
      }
      return [type.name, owners]
    }),
  )
}

/** Finds texts that must be unique but occur in two records of a type, reported at the later one. */
export function twins(given: readonly GivenRecord[]): readonly Diagnostic[] {
  const owners = new Map<string, string>()
  return given.flatMap(({ type, value, source, path }) =>
    (type.unique ?? []).flatMap((field) => {
      const text = isObject(value) ? value[field] : undefined
      if (!isObject(value) || typeof text !== 'string' || text === '') return []
      const own = JSON.stringify([type.name, field, text])
      const other = owners.get(own)
      if (other === undefined) {
        owners.set(own, asText(value['name']))
        return []
      }
      const message = `the ${nounOf(type)} "${other}" has the same ${titleOf(type, field)}`
      return [source.report([...path, field], 'duplicate', message)]
    }),
  )
}

function titleOf({ schema }: AnyRecord, field: string): string {
  const property = typeof schema === 'object' ? schema.properties?.[field] : undefined
  return (typeof property === 'object' && property.title) || field
}

function ownerOf({ type, value, label }: GivenRecord, word: string): string {
  const name = isObject(value) ? value['name'] : undefined
  return name === word || typeof name !== 'string' ? label : `the ${nounOf(type)} "${name}"`
}

/** The names of an unchecked record, and their paths in it. */
export function namesOf({ aliases }: AnyRecord, value: JsonObject): { readonly word: string; readonly steps: Path }[] {
  const further = aliases === undefined ? undefined : value[aliases]
  const list = Array.isArray(further) ? (further as readonly Json[]) : []
  const named = [
    { word: value['name'], steps: ['name'] },
    ...list.map((word, at) => ({ word, steps: [aliases ?? '', at] })),
  ]
  return named.flatMap(({ word, steps }) => (typeof word === 'string' && word !== '' ? [{ word, steps }] : []))
}
