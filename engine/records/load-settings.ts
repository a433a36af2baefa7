import { wordsOf } from '../pipeline/named.ts'
import type { Deployment, ModelRecord } from '../spec/catalog.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { isObject } from '../spec/json.ts'
import type { SettingsAround } from '../spec/service.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Environment } from '../config/interpolate.ts'
import { isPattern } from '../spec/model-pattern.ts'
import type { Registry } from '../config/registry.ts'
import { nounOf } from './record-names.ts'
import type { GivenRecord } from './record-names.ts'
import {
  checkRecords,
  declaredRecords,
  isNotSet,
  missingAt,
  namesOfRecords,
  typedParts,
  typedRecords,
} from './records.ts'
import type { CheckedRecord, RecordSet } from './records.ts'
import { placedSettings } from '../config/placed-settings.ts'
import { askingItself, checkFile, isReachable } from './file-checks.ts'
import { loadSections, valuesOf } from './sections.ts'
import type { Overridden } from '../config/placed-settings.ts'
import type { SectionSet } from './sections.ts'
import { serverSettings } from '../config/server-settings.ts'
import { fileFormat, settingsFormat } from '../config/settings.ts'
import type { ProviderSettings, Settings, SettingsFile } from '../config/settings.ts'
import type { Path } from '../config/diagnostics.ts'
import type { Source } from '../config/source.ts'
import { validator } from '../config/validate.ts'
import { vendorRecords } from './vendors.ts'
import type { Vendors } from './vendors.ts'

/** The settings as far as they could be read, with all findings. */
export interface LoadedSettings {
  /** Complete if there are no diagnostics. */
  readonly settings: Settings | undefined
  /** The records declared in the files that their schemas accept. */
  readonly records: RecordSet
  readonly sections: SectionSet
  /** Settings of sections that the environment overrides. */
  readonly overridden: readonly Overridden[]
  readonly diagnostics: readonly Diagnostic[]
  /** Probable mistakes that do not prevent serving. */
  readonly warnings: readonly Diagnostic[]
  /** Lines that name the records that are off, with the reason. */
  readonly off: readonly string[]
  /** The unset variables that switch records off, where they stand. */
  readonly unset: readonly Diagnostic[]
}

/**
 * Validates the configuration file with the schema of the settings and the registered components.
 * @param vendors a second source of records
 */
export function loadSettings(
  source: Source,
  registry: Registry,
  environment: Environment,
  vendors?: Vendors,
): LoadedSettings {
  const checked = validator(fileFormat(registry))(source, [], source.value ?? {})
  const file = checked.value as unknown as SettingsFile
  const own = declaredRecords(source, registry)
  const added = vendors ? vendorRecords(vendors, own, registry) : []
  const { records, diagnostics: found } = checkRecords([...own, ...added], registry)
  const findings = [...checked.diagnostics, ...unsetVariables(source, registry), ...found]
  const names = { ...wordsOf(registry), ...namesOfRecords(records, registry) }
  const overridden = [
    ...overriddenSettings(environment, findings),
    ...decidedByVariables(registry, environment, findings),
    ...givenInPlace(registry, file, checked.diagnostics.length === 0),
  ]
  const declared = new Map<object, GivenRecord>([...records.values()].flat().map(({ value, given }) => [value, given]))
  const warn: SettingsAround['warn'] = (record, path, code, message) => {
    const given = declared.get(record)
    if (given) findings.push({ ...given.source.report([...given.path, ...path], code, message), warning: true })
  }
  const known = {
    ...registry,
    names,
    records: typedRecords(records, true),
    overridden,
    models: catalogOf(records, file.catalog).models,
    sharesStore: file.key_value !== undefined || (environment['REDIS_URL'] ?? '') !== '',
    isReachable: isReachable(environment['HOST'] || file.listen?.host),
    warn,
  }
  const sections = loadSections(source, file.server_config as Json, known, findings)
  const warnings = findings.filter(({ warning }) => warning)
  const diagnostics = findings.filter(({ warning }) => !warning)
  const listen = override(environment, 'PORT', settingsFormat.properties.listen, file.listen, 'port', diagnostics)
  const opening = {
    listen: override(environment, 'HOST', settingsFormat.properties.listen, listen, 'host', diagnostics),
    database: override(
      environment,
      'DATABASE_URL',
      settingsFormat.properties.database,
      file.database,
      'url',
      diagnostics,
    ),
    key_value: override(
      environment,
      'REDIS_URL',
      settingsFormat.properties.key_value,
      file.key_value,
      'url',
      diagnostics,
    ),
  }
  if (diagnostics.length > 0)
    return { settings: undefined, records, sections, overridden, diagnostics, warnings, off: [], unset: [] }
  checkFile(opening, file, (path, code, message) =>
    warnings.push({ ...source.report(path, code, message), warning: true }),
  )
  warnings.push(...askingItself(records, opening.listen))

  const settings: Settings = {
    listen: opening.listen,
    database: opening.database,
    ...(opening.key_value === undefined ? {} : { key_value: opening.key_value }),
    shutdown: file.shutdown,
    client_timeouts: file.client_timeouts,
    ...(file.catalog === undefined ? {} : { catalog: file.catalog }),
    ...(file.updates === undefined ? {} : { updates: file.updates }),
    plugins: file.plugins,
    pipelines: file.pipelines,
    ...catalogOf(records, file.catalog),
    server_config: valuesOf(sections),
  }
  const off = [...registry.records.values()].flatMap((type) => offLine(nounOf(type), records.get(type.name) ?? []))
  const unset = [...records.values()].flat().flatMap(switchedOff)
  return { settings, records, sections, overridden, diagnostics, warnings, off, unset }
}

/** The settings with a catalog of other records, and with other sections. */
export function withRecords(settings: Settings, records: RecordSet, sections: Settings['server_config']): Settings {
  return { ...settings, ...catalogOf(records, settings.catalog), server_config: sections }
}

/** The providers and models of records. */
export function catalogOf(
  records: RecordSet,
  catalog: Settings['catalog'],
): Pick<Settings, 'providers' | 'models' | 'complete'> {
  const [providers, models] = [records.get('provider') ?? [], records.get('model') ?? []]
  const type = catalog?.prices === 'off' ? undefined : models[0]?.type
  const values = new Map(providers.map(({ name, value }) => [name, value]))
  const complete = (model: ModelRecord) => type?.complete?.(model, (name) => values.get(name)) ?? model
  return {
    providers: providers.map(providerSettings),
    models: models.map((record) => complete(modelRecord(record))),
    complete,
  }
}

/** The settings from which the engine opens a provider. */
function providerSettings({ type: known, value, given, off }: CheckedRecord): ProviderSettings {
  const { name, type, config } = typedParts(known, value)
  const reach = reachOf(value, given.stored === undefined)
  return { name, type, config, reach, ...(off === undefined ? {} : { off }) }
}

/** How far a record may connect. Only the file, whose operator wrote the addresses, can allow link-local ones. */
function reachOf(value: JsonObject, isDeclared: boolean): ProviderSettings['reach'] {
  if (isDeclared) return value['allow_link_local'] === true ? 'any' : 'private'
  return value['allow_private'] === true ? 'private' : 'public'
}

/** A model record as its schema gives it. */
type GivenModel = Omit<ModelRecord, 'provider' | 'upstream_model' | 'deployments' | 'enabled'> & {
  readonly provider?: string
  readonly upstream_model?: string
  readonly enabled?: boolean
  readonly deployments?: readonly (Omit<Deployment, 'upstream_model'> & { readonly upstream_model?: string })[]
}

/** The model record in the catalog: its own provider and upstream model are those of its first place. */
function modelRecord({ name, value }: CheckedRecord): ModelRecord {
  const { enabled = true, deployments: further = [], ...given } = value as unknown as GivenModel
  const usual = given.upstream_model ?? (isPattern(name) ? '*' : name)
  const own = given.provider === undefined ? [] : [{ provider: given.provider, upstream_model: usual, weight: 1 }]
  const places = [...own, ...further.map((place) => ({ upstream_model: usual, ...place }))]
  const { provider = '', upstream_model = usual } = places[0] ?? {}
  return {
    ...given,
    provider,
    upstream_model,
    ...(further.length > 0 ? { deployments: places } : {}),
    ...(enabled ? {} : { enabled }),
  }
}

/** The variables that switch a record off, at the values that need them. */
function switchedOff({ type, name, given: { source, path } }: CheckedRecord): Diagnostic[] {
  return missingAt(source, path).map((one) => {
    const message = `${one.name} is not set, so the ${nounOf(type)} "${name}" is off; set it, or write \${${one.name}:-default}`
    return { ...source.report(one.path, 'unset-variable', message), warning: true }
  })
}

/** One line for all records of a type that are off: a configuration may declare many in case their keys are set. */
function offLine(noun: string, records: readonly CheckedRecord[]): string[] {
  const off = records.filter(({ unset }) => unset.length > 0)
  const [first, ...others] = off
  if (first === undefined) return []
  if (others.length === 0) return [`${noun} "${first.name}" is off: ${isNotSet(first.unset)}`]
  const lacking = off.map(({ name, unset }) => `${name} (${[...new Set(unset)].join(', ')})`)
  return [`${off.length} ${noun}s are off until their variables are set: ${lacking.join(', ')}`]
}

/**
 * The texts in a list that may be malformed, with their paths. Plugins are loaded before the settings are validated.
 */
export function pluginEntries(source: Source): { readonly text: string; readonly path: Path; optional: boolean }[] {
  const usual = settingsFormat.properties.plugins.default
  const given = written(source, 'plugins') ?? usual
  return Array.isArray(given)
    ? given.flatMap((text: Json, index) =>
        typeof text === 'string' && text !== ''
          ? [{ text, path: ['plugins', index], optional: usual.some((word) => word === text) }]
          : [],
      )
    : []
}

/** The pipelines folder of a configuration. The default folder may be missing. */
export function pipelinesFolder(source: Source): { readonly text: string; readonly optional: boolean } {
  const usual = settingsFormat.properties.pipelines.default
  const given = written(source, 'pipelines')
  const text = typeof given === 'string' ? given : usual
  return { text, optional: text === usual }
}

/** Whether the built-in configuration is a second source of records. */
export function wantsVendors(source: Source): boolean {
  return written(source, 'vendors') === 'environment'
}

function written(source: Source, field: 'plugins' | 'pipelines' | 'vendors'): Json | undefined {
  return isObject(source.value) ? source.value[field] : undefined
}

/** Unset variables that do not just switch a record off: those outside of optional records, and in record names. */
function unsetVariables(source: Source, { records }: Registry): Diagnostic[] {
  const optional = new Set([...records.values()].flatMap((type) => (type.optional ? [type.place] : [])))
  return source.missing
    .filter(({ path: [section, , field] }) => !optional.has(String(section)) || field === 'name' || field === 'type')
    .map(({ path, name }) =>
      source.report(path, 'unset-variable', `${name} is not set; set it or write \${${name}:-default}`),
    )
}

/** A section with one field overridden by the environment, if the variable is set. */
function override<T>(
  environment: Environment,
  variable: string,
  schema: { readonly properties: Readonly<Record<string, object>> },
  section: T,
  field: string,
  diagnostics: Diagnostic[],
): T {
  const text = environment[variable]
  if (text === undefined || text === '') return section
  const report = (_: Path, code: string, message: string): Diagnostic => ({
    file: variable,
    line: 1,
    column: 1,
    code,
    message,
  })
  const source: Source = { file: variable, value: text, missing: [], interpolated: () => true, report }
  const checked = validator(wrapped(schema.properties[field] ?? {}))(source, [], { value: text })
  diagnostics.push(...checked.diagnostics)
  return { ...section, [field]: (checked.value as JsonObject)['value'] }
}

/** Section settings that the environment overrides. */
function overriddenSettings(environment: Environment, diagnostics: Diagnostic[]): Overridden[] {
  const none: { readonly level?: Json } = {}
  const { logging } = serverSettings.properties
  const { level } = override(environment, 'LOG_LEVEL', logging, none, 'level', diagnostics)
  return level === undefined ? [] : [{ section: 'logging', field: 'level', variable: 'LOG_LEVEL', value: level }]
}

/** Settings of sections that the variables of services decide. What they say wrong does not prevent serving. */
function decidedByVariables({ services }: Registry, environment: Environment, diagnostics: Diagnostic[]): Overridden[] {
  return [...services.values()].flatMap((service) => {
    const { section } = service
    const { decides = [], mistakes = [] } = service.variables?.(environment) ?? {}
    for (const { variable, message, warning } of mistakes)
      diagnostics.push({
        file: variable,
        line: 1,
        column: 1,
        code: 'environment',
        message,
        warning: true,
        ...(warning ? {} : { fails: true }),
      })
    return decides.map(({ setting, variable, value }) => ({ section, field: setting, variable, value }))
  })
}

/** The settings of sections that have a place of their own in the file. */
function givenInPlace({ services }: Registry, file: SettingsFile, isValid: boolean): Overridden[] {
  return placedSettings(services).map(({ section, name, place: [field, inner] }) => {
    const { [field]: given } = file as unknown as JsonObject
    const value = (isObject(given) && given[inner]) || null
    return { section, field: name, variable: `${field}.${inner}`, value, ...(isValid ? { path: [field, inner] } : {}) }
  })
}

const wrappers = new WeakMap<object, object>()

function wrapped(property: object): object {
  const made = wrappers.get(property) ?? { type: 'object', properties: { value: property } }
  wrappers.set(property, made)
  return made
}
