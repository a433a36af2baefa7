import { namesIn, unknownNames } from '../pipeline/named.ts'
import type { KnownNames } from '../pipeline/named.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { Refusal } from '../spec/error.ts'
import type { TypedRecords } from '../spec/record.ts'
import type { AnyService, SectionReport, SettingsAround } from '../spec/service.ts'
import type { Diagnostic, Path } from '../config/diagnostics.ts'
import { wordsOfThrown } from '../config/plugin-error.ts'
import type { Registry } from '../config/registry.ts'
import { serverChecks } from './server-checks.ts'
import { givenPlaced, placedSettings, withoutPlaced } from '../config/placed-settings.ts'
import type { Overridden, Schema } from '../config/placed-settings.ts'
import { serverSettings } from '../config/server-settings.ts'
import type { Sections } from '../config/server-settings.ts'
import type { Source } from '../config/source.ts'
import { speaksToClients } from '../config/speaking.ts'
import { didYouMean } from '../config/suggest.ts'
import type { ReportOf } from '../config/uses.ts'
import { validator } from '../config/validate.ts'
import type { StoredRecord } from '../store/records.ts'

/** The record type of stored sections of `server_config`. */
export const sectionType = 'section'

/** A section in a configuration. */
export interface CheckedSection {
  readonly name: string
  /** With defaults filled in. */
  readonly value: JsonObject
  /** The source for its findings, and its path there. */
  readonly source: Source
  readonly path: Path
  readonly from: 'file' | 'database' | 'default'
  readonly stored?: StoredRecord
}

/** The sections of a configuration, by name. */
export type SectionSet = ReadonlyMap<string, CheckedSection>

/** The properties of one owner in a section; several owners may share a section. */
interface Part {
  readonly section: string
  /** Absent: the engine. */
  readonly service?: AnyService
  readonly schema: Schema
  /** Checks what the schema cannot express. */
  readonly check?: (settings: JsonObject, report: SectionReport, records: TypedRecords, around: SettingsAround) => void
}

type Services = ReadonlyMap<string, AnyService>

const engineChecks = serverChecks as Readonly<Record<string, Part['check']>>
const engineParts = Object.entries(serverSettings.properties).map(([section, schema]): Part => {
  const check = engineChecks[section]
  return { section, schema, ...(check && { check }) }
})

function partsOf(services: Services): Part[] {
  const others = [...services.values()].flatMap((service): Part[] => {
    const { section, settings } = service
    const check: Part['check'] = (...given) => service.check?.(...given)
    const schema = settings as Schema
    return namesOf(schema).length > 0 ? [{ section, service, schema: withoutPlaced(schema), check }] : []
  })
  return [...engineParts, ...others]
}

function namesOf({ properties = {} }: Schema): string[] {
  return Object.keys(properties)
}

/** Finds settings that two owners claim. */
export function checkSections(services: Services, report: ReportOf): void {
  const owners = new Map<string, string>()
  for (const { section, service, schema } of partsOf(services))
    for (const name of namesOf(schema)) {
      const path = `server_config.${section}.${name}`
      const other = owners.get(path)
      if (other === undefined) owners.set(path, service ? `the service "${service.name}"` : 'the engine')
      else if (service) report(service, 'duplicate', `service "${service.name}": ${path} belongs to ${other}`)
    }
}

/** The settings of a service: its own properties of its section. */
export function settingsOf({ section, settings }: AnyService, sections: JsonObject): JsonObject {
  return picked(sections[section], settings as Schema)
}

/** What checking sections takes. */
export interface SectionsKnown
  extends
    Pick<Registry, 'services' | 'incomplete' | 'codecs'>,
    Pick<SettingsAround, 'models' | 'sharesStore' | 'isReachable' | 'warn'> {
  /** Names to which settings can refer. */
  readonly names: KnownNames
  /** The records of these names, also those that are off. */
  readonly records: TypedRecords
  readonly overridden: readonly Overridden[]
}

/**
 * Checks `server_config` of a file. An unknown name is reported only if all plugins were loaded, because it may belong
 * to a missing one.
 */
export function loadSections(
  source: Source,
  given: Json | undefined,
  known: SectionsKnown,
  diagnostics: Diagnostic[],
): SectionSet {
  const written = isObject(given) ? given : {}
  const names = sectionNames(known.services)
  if (!known.incomplete) diagnostics.push(...unknown(source, ['server_config'], written, names))
  const sections = new Map<string, CheckedSection>()
  for (const name of names) {
    const from = written[name] === undefined ? 'default' : 'file'
    const place = { name, source, path: ['server_config', name], from } as const
    const value = checkSection(place, written[name], known, diagnostics)
    if (value) sections.set(name, { ...place, value })
  }
  return sections
}

/** The names of all known sections. */
export function sectionNames(services: Services): ReadonlySet<string> {
  return new Set(partsOf(services).map(({ section }) => section))
}

/** A section with its defaults, each part checked with the schema of its owner; undefined if it is not an object. */
export function checkSection(
  { name, source, path }: Pick<CheckedSection, 'name' | 'source' | 'path'>,
  value: Json | undefined,
  known: SectionsKnown,
  diagnostics: Diagnostic[],
): JsonObject | undefined {
  if (value !== undefined && !isObject(value)) {
    diagnostics.push(...validator(sectionFormat)(source, path, value).diagnostics)
    return undefined
  }
  const { services, incomplete, overridden } = known
  const own = partsOf(services).filter(({ section }) => section === name)
  const checked = own.map((part) => checkedPart(part, source, path, value, known, diagnostics))
  const fields = own.flatMap(({ schema }) => namesOf(schema))
  if (!incomplete) diagnostics.push(...unknown(source, path, value, fields))
  const fixed = overridden.filter(({ section }) => section === name)
  const merged = Object.assign({}, ...checked) as JsonObject
  return fixed.reduce((settings, one) => withSetting(settings, one.field.split('.'), one.value), merged)
}

/** Settings with another value at a path. */
function withSetting(settings: JsonObject, [field = '', ...rest]: readonly string[], value: Json): JsonObject {
  const inner = settings[field]
  return { ...settings, [field]: rest.length === 0 ? value : withSetting(isObject(inner) ? inner : {}, rest, value) }
}

/** The secret fields in a setting; undefined for an unknown setting, whose secrets are unknown. */
export function secretsOfSetting(section: string, field: string, services: Services): readonly string[] | undefined {
  if (placedSettings(services).some((one) => one.section === section && one.name === field)) return []
  const owner = partsOf(services).find((one) => one.section === section && namesOf(one.schema).includes(field))
  return owner && (owner.service?.secrets ?? [])
}

/** The names of the secret fields in a section, at any depth. */
export function sectionSecrets(section: string, services: Services): readonly string[] {
  return [...services.values()].flatMap((one) => (one.section === section ? (one.secrets ?? []) : []))
}

/** The values of sections, by name. */
export function valuesOf(sections: SectionSet): Sections {
  return Object.fromEntries([...sections].map(([name, { value }]) => [name, value])) as unknown as Sections
}

const sectionFormat = { type: 'object' } as const

function checkedPart(
  part: Part,
  source: Source,
  path: Path,
  section: JsonObject | undefined,
  { names, records, overridden, codecs, models, sharesStore, isReachable, warn }: SectionsKnown,
  diagnostics: Diagnostic[],
): Json {
  const { schema, service } = part
  const given = picked(section, schema)
  const checked = validator(schema)(source, path, given)
  diagnostics.push(...checked.diagnostics)
  diagnostics.push(...unknownNames(namesIn(schema, given, { source, path }), names))
  const placed = service ? givenPlaced(service, overridden) : []
  if (checked.diagnostics.length === 0 && placed !== undefined) {
    const report: SectionReport = (inner, message, code = service ? 'service' : 'section', as = 'error') => {
      const place = placed.find(({ field }) => field === inner[0])?.path
      const finding = source.report(place ? [...place, ...inner.slice(1)] : [...path, ...inner], code, message)
      diagnostics.push(as === 'warning' ? { ...finding, warning: true } : finding)
    }
    try {
      const elsewhere = Object.fromEntries(placed.map(({ field, value }) => [field, value]))
      const settings = { ...(checked.value as JsonObject), ...elsewhere }
      const clients = [...codecs.values()].filter(speaksToClients)
      const around = { written: given, codecs: clients, models, sharesStore, isReachable, warn }
      part.check?.(settings, report, records, around)
    } catch (error) {
      if (error instanceof Refusal) report(error.path, error.message)
      else report([], `the service "${service?.name}" cannot check its settings: ${wordsOfThrown(error)}`)
    }
  }
  return checked.value
}

function picked(section: Json | undefined, schema: Schema): JsonObject {
  if (!isObject(section)) return {}
  const names = new Set(namesOf(schema))
  return Object.fromEntries(Object.entries(section).filter(([name]) => names.has(name)))
}

function unknown(source: Source, path: Path, value: JsonObject | undefined, known: Iterable<string>): Diagnostic[] {
  const names = new Set(known)
  return Object.keys(value ?? {})
    .filter((name) => !names.has(name))
    .map((name) => {
      const message = `unknown field "${name}"${didYouMean(name, names)}`
      return source.report([...path, name], 'additionalProperties', message, 'key')
    })
}

/** The schema of `server_config` as a whole, for editors and the reference. */
export function sectionsSchema(services: Services): typeof serverSettings {
  const names = [...sectionNames(services)]
  const sections = names.map((name) => [name, withoutPlaced(sectionSchema(name, services))] as const)
  return { ...serverSettings, properties: Object.fromEntries(sections) } as unknown as typeof serverSettings
}

/** The schema of a whole section; settings that have another place in the file are read-only. */
export function sectionSchema(name: string, services: Services): JsonObject {
  const schemas = partsOf(services).flatMap(({ section, schema }) => (section === name ? [schema] : []))
  const placed = placedSettings(services).filter(({ section }) => section === name)
  const readOnly = Object.fromEntries(placed.map((one) => [one.name, { ...one.schema, readOnly: true }]))
  const required = schemas.flatMap((schema) => schema.required ?? [])
  const described = schemas.flatMap(({ description = '' }) => description || [])
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 ? { required } : { default: {} }),
    description: [...new Set(described)].join(' '),
    properties: Object.assign({}, ...schemas.map(({ properties }) => properties), readOnly) as JsonObject,
  }
}

/** The defaults of a section. */
export function sectionDefaults(name: string, services: Services): JsonObject {
  const parts = partsOf(services).filter(({ section }) => section === name)
  return Object.assign({}, ...parts.map(({ schema }) => validator(schema)(nowhere, [], {}).value)) as JsonObject
}

/** A source for values that are nowhere written, such as defaults. */
export const nowhere: Source = {
  file: '',
  value: {},
  missing: [],
  interpolated: () => false,
  report: (_path, code, message) => ({ file: '', line: 0, column: 0, code, message }),
}
