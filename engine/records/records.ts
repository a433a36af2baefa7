import { namesIn, unknownNames, wordsOf } from '../pipeline/named.ts'
import type { KnownNames } from '../pipeline/named.ts'
import { asText, isObject } from '../spec/json.ts'
import type { AnyGuard } from '../spec/guard.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { Offer } from '../spec/open-provider.ts'
import { Refusal } from '../spec/error.ts'
import type { ModelRecord } from '../spec/catalog.ts'
import type { AllRecords, AnyRecord, RecordName, RecordReport, Records, TypedRecords } from '../spec/record.ts'
import type { Diagnostic, Path } from '../config/diagnostics.ts'
import { checkTraits, knownOffers } from './offers.ts'
import { wordsOfThrown } from '../config/plugin-error.ts'
import { claimNames, namesOf, namesOfOwners, nounOf, twins } from './record-names.ts'
import type { GivenRecord, Owners } from './record-names.ts'
import type { Registry } from '../config/registry.ts'
import type { Missing, Source } from '../config/source.ts'
import { speaksToUpstreams } from '../config/speaking.ts'
import { didYouMean } from '../config/suggest.ts'
import { validator } from '../config/validate.ts'

/** A record that its schema accepts. */
export interface CheckedRecord {
  readonly type: AnyRecord
  readonly name: string
  /** With defaults filled in. */
  readonly value: JsonObject
  readonly given: GivenRecord
  /** Unset variables that switch it off. */
  readonly unset: readonly string[]
  /** Why it is off: unset variables, or its own switch. Absent: it is on. */
  readonly off?: string
}

/** The records of a configuration by type, in the order of their declaration. */
export type RecordSet = ReadonlyMap<string, readonly CheckedRecord[]>

/** The records that a configuration file declares. */
export function declaredRecords(source: Source, registry: Registry): GivenRecord[] {
  const file = isObject(source.value) ? source.value : {}
  return [...registry.records.values()].flatMap((type) => {
    const list = file[type.place]
    return (Array.isArray(list) ? list : []).map((value: Json, index) => ({
      type,
      value,
      source,
      path: [type.place, index],
      label: `the ${nounOf(type)} number ${index + 1}`,
    }))
  })
}

/**
 * Checks records together: each with its schema, then their names and references, then each with the check of its type.
 * @param before records checked earlier: they can be referred to, and keep their names
 */
export function checkRecords(
  given: readonly GivenRecord[],
  registry: Registry,
  before: RecordSet = new Map(),
): { readonly records: RecordSet; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const checked = given.flatMap((one) => checkedRecord(one, registry, diagnostics) ?? [])
  const byType = Map.groupBy(checked, ({ type }) => type)
  const records: RecordSet = new Map(
    [...registry.records].map(([name, type]) => [name, [...(before.get(name) ?? []), ...(byType.get(type) ?? [])]]),
  )
  const earlier = [...before.values()].flatMap((list) => list.map((record) => record.given))
  const owners = claimNames([earlier, given], registry, diagnostics)
  diagnostics.push(...twins([...earlier, ...given]))
  const known = { ...wordsOf(registry), ...namesOfOwners(owners, registry) }
  for (const { type, value, source, path } of given) {
    const word = type.typed !== undefined && isObject(value) ? value[typeField(type)] : undefined
    const component = typeof word === 'string' ? typesOf(type, registry).get(word) : undefined
    for (const schema of [type.schema, component?.config]) {
      const named = namesIn(schema as Parameters<typeof namesIn>[0], value, { source, path })
      diagnostics.push(...unknownNames(named, known))
    }
  }
  const all = allRecords(records, owners, registry)
  for (const {
    type,
    value,
    given: { source, path, stored },
  } of checked) {
    const report: RecordReport = (steps, code, message, as) => {
      const finding = source.report([...path, ...steps], code, message)
      const isWarning = as === 'warning' || (as === 'lenient' && stored === undefined)
      diagnostics.push(isWarning ? { ...finding, warning: true } : finding)
    }
    try {
      type.check?.(value, all, report)
      if (type.typed === 'guard') registry.guards.get(asText(value['kind']))?.check?.(value, all, report)
    } catch (error) {
      if (error instanceof Refusal) report(error.path, 'record', error.message)
      else report([], 'record', `the record "${type.name}" cannot be checked: ${wordsOfThrown(error)}`)
    }
  }
  return { records, diagnostics }
}

/** The names of records, by type. */
export function namesOfRecords(records: RecordSet, { records: types }: Registry): KnownNames {
  return Object.fromEntries(
    [...types].map(([name, type]) => {
      const words = (records.get(name) ?? []).flatMap(({ value }) => namesOf(type, value).map(({ word }) => word))
      return [name, { words, patterns: type.patterns }]
    }),
  )
}

/** The records that are on, as services see them; with `evenOff`, all records. */
export function typedRecords(records: RecordSet, evenOff = false): TypedRecords {
  const on = (type: string) => (records.get(type) ?? []).filter(({ off }) => evenOff || off === undefined)
  const bearer = (type: string, name: string) =>
    on(type).find((one) => one.name === name) ?? on(type).find((one) => bears(one, name))
  return {
    of: <N extends RecordName>(type: N) => on(type).map(({ value }) => value) as unknown as readonly Records[N][],
    find: <N extends RecordName>(type: N, name: string) =>
      bearer(type, name)?.value as unknown as Records[N] | undefined,
  }
}

function bears({ type, value }: CheckedRecord, name: string): boolean {
  return namesOf(type, value).some(({ word }) => word === name)
}

function checkedRecord(given: GivenRecord, registry: Registry, diagnostics: Diagnostic[]): CheckedRecord | undefined {
  const { type, value, source, path } = given
  const base = validator(type.schema as object)(source, path, value)
  diagnostics.push(...base.diagnostics)
  if (!isObject(base.value)) return undefined
  // A record without a name is told of its other mistakes, too.
  const fields = type.typed === undefined ? base : typedFields(given, base.value, registry, diagnostics)
  const isSound = base.diagnostics.length === 0 && fields?.diagnostics.length === 0
  if (!isSound || typeof base.value['name'] !== 'string') return undefined
  const [record, unset] = [fields.value as JsonObject, unsetAt(source, path)]
  const off = unset.length > 0 ? isNotSet(unset) : isSwitchedOff(type, record) ? 'it is disabled' : undefined
  return { type, name: base.value['name'], value: record, given, unset, ...(off === undefined ? {} : { off }) }
}

/** What a record is told to lack. */
export function isNotSet(variables: readonly string[]): string {
  return `${[...new Set(variables)].join(', ')} ${variables.length > 1 ? 'are' : 'is'} not set`
}

function isSwitchedOff({ switch: field }: AnyRecord, value: JsonObject): boolean {
  return field !== undefined && value[field] === false
}

/** The fields of a record that belong to the component named by its `type`. */
function typedFields(
  { type: known, source, path }: GivenRecord,
  record: JsonObject,
  registry: Registry,
  diagnostics: Diagnostic[],
): { readonly value: JsonObject; readonly diagnostics: readonly Diagnostic[] } | undefined {
  const field = typeField(known)
  if (typeof record[field] !== 'string') return undefined
  const { own, type: word, config: given } = typedParts(known, record)
  const types = typesOf(known, registry)
  const type = types.get(word)
  if (type === undefined) {
    const message = `no ${known.typed} ${field} "${word}"${didYouMean(word, types.keys())}`
    if (!registry.incomplete)
      diagnostics.push(source.report([...path, field], `unknown-${known.typed}-${field}`, message))
    return undefined
  }
  const checked = validator(type.config as object)(source, path, given)
  const config = checked.value as JsonObject
  diagnostics.push(...checked.diagnostics)
  const provider = known.typed === 'provider' ? registry.providers.get(word) : undefined
  if (provider && unsetAt(source, path).length === 0)
    diagnostics.push(...checkTraits(source, path, config, provider, registry.codecs))
  return { value: { ...own, ...config }, diagnostics: checked.diagnostics }
}

/** The parts of a record whose `type` names a component: the fields of every such record, and those of its type. */
export function typedParts(
  known: AnyRecord,
  value: JsonObject,
): {
  readonly name: string
  readonly type: string
  readonly own: JsonObject
  readonly config: JsonObject
} {
  const fields = ownFields(known)
  const entries = Object.entries(value)
  const { name, [typeField(known)]: type } = value as Readonly<Record<string, string>> & { readonly name: string }
  const own = Object.fromEntries(entries.filter(([field]) => fields.has(field)))
  const config = Object.fromEntries(entries.filter(([field]) => !fields.has(field)))
  return { name, type: String(type), own, config }
}

/** The field of a record that names its component. */
export function typeField({ typed }: AnyRecord): 'type' | 'kind' {
  return typed === 'guard' ? 'kind' : 'type'
}

/** What every component has that a record names. */
type RecordComponent = Pick<AnyGuard, 'name' | 'summary' | 'stability' | 'config' | 'secrets' | 'destinations'>

/** The components that the records of a type name. */
export function typesOf(
  { typed }: AnyRecord,
  { providers, guards }: Pick<Registry, 'providers' | 'guards'>,
): ReadonlyMap<string, RecordComponent> {
  return typed === 'guard' ? guards : providers
}

/** The fields that every record of a type has. */
export function ownFields({ schema }: AnyRecord): ReadonlySet<string> {
  return new Set(Object.keys((typeof schema === 'object' && schema.properties) || {}))
}

/** The records of a checked configuration, as the checks of their types see them. */
export function recordsAround(records: RecordSet, registry: Registry, models: readonly ModelRecord[] = []): AllRecords {
  const given = [...records.values()].flatMap((list) => list.map((record) => record.given))
  return allRecords(records, claimNames([given], registry, []), registry, models)
}

function allRecords(
  records: RecordSet,
  owners: Owners,
  registry: Registry,
  models: readonly ModelRecord[] = [],
): AllRecords {
  const values = new Map([...records].map(([name, list]) => [name, list.map(({ value }) => value)]))
  const byGiven = new Map([...records.values()].flat().map(({ given, value }) => [given, value]))
  const byName = new Map(
    [...records].map(([type, list]) => [type, new Map(list.map((record) => [record.name, record]))]),
  )
  const offers = new Map<string, readonly Offer[] | undefined>()
  const offersOf = ({ type: known, name, value }: CheckedRecord) => {
    if (!offers.has(name)) {
      const { type, config } = typedParts(known, value)
      offers.set(name, knownOffers(registry.providers.get(type), config, registry.codecs))
    }
    return offers.get(name)
  }
  return {
    of: <N extends RecordName>(type: N) => (values.get(type) ?? []) as unknown as readonly Records[N][],
    find<N extends RecordName>(type: N, name: string) {
      const owner = owners.get(type)?.get(name)
      return (owner && byGiven.get(owner)) as unknown as Records[N] | undefined
    },
    offers(name, evenOff = false) {
      const provider = byName.get('provider')?.get(name)
      return provider && (evenOff || provider.off === undefined) ? offersOf(provider) : undefined
    },
    served: (name) => models.find((model) => model.name === name),
    off: (type, name) => byName.get(type)?.get(name)?.off,
    codec(protocol) {
      const codec = registry.codecs.get(protocol)
      return codec && speaksToUpstreams(codec) ? codec : undefined
    },
  }
}

/** Unset variables at or below a path. */
export function unsetAt(source: Source, path: Path): string[] {
  return missingAt(source, path).map(({ name }) => name)
}

/** The same with their places. */
export function missingAt(source: Pick<Source, 'missing'>, path: Path): Missing[] {
  return source.missing.filter((entry) => path.every((step, index) => entry.path[index] === step))
}
