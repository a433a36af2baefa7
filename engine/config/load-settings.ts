import type { ModelRecord } from '../spec/catalog.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { isObject } from '../spec/json.ts'
import { checkOffers } from './check-offers.ts'
import { crossCheck } from './cross-check.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { Environment } from './interpolate.ts'
import { isPattern } from '../spec/model-pattern.ts'
import type { Registry } from './registry.ts'
import { loadSections } from './sections.ts'
import { serverSettings } from './server-settings.ts'
import { settingsFormat } from './settings.ts'
import type { ApiKeySettings, ProviderSettings, Settings, SettingsFile } from './settings.ts'
import type { Path, Source } from './source.ts'
import { didYouMean } from './suggest.ts'
import { validator } from './validate.ts'

/** Settings, or at least what could be read of them, with everything that is wrong. */
export interface LoadedSettings {
  /** Complete when there are no diagnostics. */
  readonly settings: Settings | undefined
  readonly diagnostics: readonly Diagnostic[]
  /** What is probably a mistake and can be served. */
  readonly warnings: readonly Diagnostic[]
  /** Lines that say which providers and keys are off, and why. */
  readonly off: readonly string[]
}

/** Validates the configuration file against the settings, the registered provider types and itself. */
export function loadSettings(source: Source, registry: Registry, environment: Environment): LoadedSettings {
  const checked = validator(settingsFormat)(source, [], source.value ?? {})
  const file = checked.value as unknown as SettingsFile
  const diagnostics = [...checked.diagnostics, ...unsetVariables(source)]
  const providers = objects(file.providers).map(([entry, index]) =>
    provider(source, registry, entry, index, diagnostics),
  )
  const found = [...crossCheck(source, file, registry), ...checkOffers(source, file, providers, registry)]
  const warnings = found.filter(({ warning }) => warning)
  diagnostics.push(...found.filter(({ warning }) => !warning))
  const sections = loadSections(source, file.server_config as Json, registry, diagnostics)
  const listen = override(environment, 'PORT', settingsFormat.properties.listen, file.listen, 'port', diagnostics)
  const overridden = {
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
    logging: override(
      environment,
      'LOG_LEVEL',
      serverSettings.properties.logging,
      sections.logging,
      'level',
      diagnostics,
    ),
  }
  if (diagnostics.length > 0) return { settings: undefined, diagnostics, warnings, off: [] }

  const keys = (file.api_keys as readonly ApiKeySettings[]).map((key, index) => ({
    key,
    unset: unsetAt(source, ['api_keys', index]),
  }))
  const settings: Settings = {
    listen: overridden.listen,
    database: overridden.database,
    ...(overridden.key_value === undefined ? {} : { key_value: overridden.key_value }),
    shutdown: file.shutdown,
    plugins: file.plugins,
    pipelines: file.pipelines,
    providers: providers.filter((entry) => entry !== undefined),
    models: (file.models as readonly Omit<ModelRecord, 'upstream_model'>[]).map((model) => ({
      upstream_model: isPattern(model.name) ? '*' : model.name,
      ...model,
    })),
    api_keys: keys.filter(({ unset }) => unset.length === 0).map(({ key }) => key),
    server_config: { ...sections, logging: overridden.logging },
  }
  const off = [
    ...offLine(source, settings.providers),
    ...keys.flatMap(({ key, unset }) =>
      unset.length === 0 ? [] : [`API key "${key.name}" is off: ${isNotSet(unset)}`],
    ),
  ]
  return { settings, diagnostics, warnings, off }
}

/** One line for all providers that are off: a configuration may name many for the case that their keys are there. */
function offLine(source: Source, providers: readonly ProviderSettings[]): string[] {
  const off = providers.flatMap(({ name }, index) => {
    const unset = unsetAt(source, ['providers', index])
    return unset.length === 0 ? [] : [{ name, unset }]
  })
  const [first, ...others] = off
  if (first === undefined) return []
  if (others.length === 0) return [`provider "${first.name}" is off: ${isNotSet(first.unset)}`]
  const lacking = off.map(({ name, unset }) => `${name} (${[...new Set(unset)].join(', ')})`)
  return [`${off.length} providers are off until their variables are set: ${lacking.join(', ')}`]
}

/** The strings of a list that may be malformed, with their places: what to load before the settings are checked. */
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

/** The folder of the pipelines that a configuration names; the usual one need not exist. */
export function pipelinesFolder(source: Source): { readonly text: string; readonly optional: boolean } {
  const usual = settingsFormat.properties.pipelines.default
  const given = written(source, 'pipelines')
  const text = typeof given === 'string' ? given : usual
  return { text, optional: text === usual }
}

function written(source: Source, field: 'plugins' | 'pipelines'): Json | undefined {
  return isObject(source.value) ? source.value[field] : undefined
}

function provider(
  source: Source,
  registry: Registry,
  entry: JsonObject,
  index: number,
  diagnostics: Diagnostic[],
): ProviderSettings | undefined {
  if (typeof entry['name'] !== 'string' || typeof entry['type'] !== 'string') return undefined
  const { name, type, ...own } = entry
  const path = ['providers', index]
  const plugin = registry.providers.get(type)
  if (plugin === undefined) {
    const message = `no provider type "${type}"${didYouMean(type, registry.providers.keys())}`
    if (!registry.incomplete) diagnostics.push(source.report([...path, 'type'], 'unknown-provider-type', message))
    return undefined
  }
  const checked = validator(plugin.config as object)(source, path, own)
  diagnostics.push(...checked.diagnostics)
  const unset = unsetAt(source, path)
  return { name, type, config: checked.value as JsonObject, ...(unset.length > 0 ? { off: isNotSet(unset) } : {}) }
}

/** Variables without which nothing can be left off: those outside providers and keys, and in their names. */
function unsetVariables(source: Source): Diagnostic[] {
  return source.missing
    .filter(
      ({ path: [section, , field] }) =>
        !['providers', 'api_keys'].includes(String(section)) || field === 'name' || field === 'type',
    )
    .map(({ path, name }) =>
      source.report(path, 'unset-variable', `${name} is not set; set it or write \${${name}:-default}`),
    )
}

function unsetAt(source: Source, path: Path): string[] {
  return source.missing
    .filter((entry) => path.every((step, index) => entry.path[index] === step))
    .map((entry) => entry.name)
}

function isNotSet(variables: readonly string[]): string {
  return `${[...new Set(variables)].join(', ')} ${variables.length > 1 ? 'are' : 'is'} not set`
}

/** A section with one field taken from the environment when it is set there. */
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

const wrappers = new WeakMap<object, object>()

function wrapped(property: object): object {
  const made = wrappers.get(property) ?? { type: 'object', properties: { value: property } }
  wrappers.set(property, made)
  return made
}

// A file with the wrong shape is still searched for what else is wrong with it.
function objects(items: unknown): [JsonObject, number][] {
  return Array.isArray(items)
    ? items.flatMap((item: unknown, index): [JsonObject, number][] => (isObject(item) ? [[item, index]] : []))
    : []
}
