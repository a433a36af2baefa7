import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { display, sortDiagnostics } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Configuration } from '../records/configuration.ts'
import { isReachable } from '../records/file-checks.ts'
import { guessableBy } from '../secrets/guessable.ts'
import { hashContents } from '../config/files.ts'
import { hideSecrets, secretsHider } from '../records/hidden-findings.ts'
import type { Environment } from '../config/interpolate.ts'
import { loadPlugins } from '../components/load-plugins.ts'
import {
  catalogOf,
  loadSettings,
  pipelinesFolder,
  pluginEntries,
  wantsVendors,
  withRecords,
} from '../records/load-settings.ts'
import type { LoadedSettings } from '../records/load-settings.ts'
import { namesOfRecords, typedRecords } from '../records/records.ts'
import type { RecordSet } from '../records/records.ts'
import type { Registry } from '../config/registry.ts'
import { defaultConfigFile, shipped as everything } from '../config/shipped.ts'
import type { Shipped } from '../config/shipped.ts'
import { sectionType, valuesOf } from '../records/sections.ts'
import { fitSections } from '../records/stored-sections.ts'
import { readSource } from '../config/source.ts'
import { besideStored, noteOfVendors, readVendors } from '../records/vendors.ts'
import type { Source } from '../config/source.ts'
import { fitRecords, leftOutLine } from '../records/stored-records.ts'
import type { Unopened } from '../records/stored-records.ts'
import type { Advice } from '../proof/check-duties.ts'
import { unpaidDuty } from '../proof/duty-proof.ts'
import { loadPipelines } from '../proof/load.ts'
import type { LoadedPipelines } from '../proof/load.ts'
import { wordsOf } from '../pipeline/named.ts'
import type { KnownNames } from '../pipeline/named.ts'
import { triesOf } from '../pipeline/attempt.ts'
import { attemptsOf } from '../pipeline/nodes.ts'
import type { Pipeline } from '../pipeline/nodes.ts'
import { withSettings } from '../pipeline/options.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { StoredRecords } from '../store/records.ts'

/** Where a configuration is loaded from. */
export interface ConfigurationOptions {
  /** Path of the configuration file. */
  readonly file: string
  /** The folder to which relative paths in it refer; default: the working directory. */
  readonly root?: string
  readonly environment: Environment
  /** Plugins and pipelines available without configuration; default: those of the product. */
  readonly shipped?: Shipped
}

/**
 * Loads and checks a configuration with its plugins and pipelines. Mistakes in them become diagnostics, never a
 * rejection.
 */
export async function loadConfiguration(options: ConfigurationOptions): Promise<Configuration> {
  const { environment, shipped = everything } = options
  const root = await realpath(options.root ?? process.cwd())
  const wanted = resolve(root, options.file)
  const file = (await isMissing(wanted, root)) ? (shipped.config ?? wanted) : wanted
  const diagnostics: Diagnostic[] = []
  const { source, text, readable } = await readConfigurationFile(file, display(file, root), environment, diagnostics)

  const entries = pluginEntries(source).map(({ text, path, optional }) => ({
    text,
    optional,
    report: (code: string, message: string) => source.report(path, code, message),
  }))
  const plugins = await loadPlugins(entries, { root, configFile: wanted, shipped: shipped.plugins })
  const registry = readable ? plugins.registry : { ...plugins.registry, incomplete: true }
  const builtIn = file !== shipped.config && wantsVendors(source) ? shipped.config : undefined
  const vendorsText = builtIn === undefined ? undefined : await readFile(builtIn, 'utf8')
  const vendors = builtIn && vendorsText ? readVendors(builtIn, vendorsText, environment) : undefined
  const sources = [source, ...(vendors ? [vendors.source] : [])]
  const loaded: LoadedSettings = readable ? loadSettings(source, registry, environment, vendors) : unread
  const known = loaded.settings && namesOfRecords(loaded.records, registry)
  const pipelines = await readPipelines(source, root, registry, { environment, shipped, known })
  diagnostics.push(...plugins.diagnostics, ...loaded.diagnostics, ...pipelines.diagnostics)

  const secret = environment['SLUICE_SECRET']
  const guessable = secret ? guessableBy(secret) : undefined
  const unpaid = advised(pipelines.advice, registry, loaded)
  diagnostics.push(...unpaid.filter(({ warning }) => !warning))
  const warnings = [
    ...plugins.warnings,
    ...loaded.warnings,
    ...pipelines.warnings,
    ...beyondTries(loaded.records, loaded.settings?.server_config, pipelines.pipelines),
    ...unpaid.filter(({ warning }) => warning),
    ...(guessable === undefined
      ? []
      : [{ ...source.report([], 'weak-secret', weakSecret(guessable)), warning: true as const }]),
  ]

  // One hash per part: reading the files again for a hash would miss changes in between.
  const parts = [
    hashContents([{ file, content: text }]),
    ...(builtIn && vendorsText ? [hashContents([{ file: builtIn, content: vendorsText }])] : []),
    ...plugins.hashes,
    pipelines.hash,
  ]
  const version = hashContents([{ file: '', content: parts.join() }]).slice(0, 12)
  const files = [...new Set([file, ...(builtIn ? [builtIn] : []), ...plugins.files, ...pipelines.files])].sort()
  return {
    source,
    ...(vendors ? { vendors } : {}),
    sources,
    ...(file === wanted ? {} : { without: display(wanted, root) }),
    ...(text.trim() === '' ? { blank: source.report([], 'file', blank) } : {}),
    settings: loaded.settings,
    records: loaded.records,
    sections: loaded.sections,
    overridden: loaded.overridden,
    registry,
    pipelines: pipelines.pipelines,
    diagnostics: hideSecrets(sortDiagnostics(diagnostics), sources, registry),
    warnings: hideSecrets(sortDiagnostics(warnings), sources, registry),
    advice: pipelines.advice,
    notes: sortDiagnostics([...pipelines.notes, ...noteOfVendors(loaded.records, source, vendors)]),
    off: loaded.off,
    unset: file === shipped.config ? [] : loaded.unset,
    version,
    fileVersion: version,
    files,
    folders: [...new Set([dirname(wanted), ...plugins.folders, ...pipelines.folders])],
  }
}

const weakSecret = (why: string) =>
  `SLUICE_SECRET can be guessed, because ${why}; "sluice secret rotate" replaces it by a random one`

const blank = 'is empty; a comment in it says that this is meant'

const unread: LoadedSettings = {
  settings: undefined,
  records: new Map(),
  sections: new Map(),
  overridden: [],
  diagnostics: [],
  warnings: [],
  off: [],
  unset: [],
}

/**
 * A valid configuration together with the stored records that are compatible with it.
 * @param unopened records to leave out in any case
 */
export function withStored(
  files: Configuration,
  { revision, records: stored }: StoredRecords,
  unopened?: Unopened,
): Configuration {
  const { settings, registry, version, off, overridden, sources, pipelines } = files
  if (settings === undefined || revision === 0) return files
  const { true: kept = [], false: named = [] } = Object.groupBy(stored, ({ type }) => `${type === sectionType}`)
  const declared = besideStored(files.records, named, files.vendors)
  const fitted = fitRecords(named, registry, declared, unopened)
  const names = { ...wordsOf(registry), ...namesOfRecords(fitted.records, registry) }
  const records = typedRecords(fitted.records, true)
  const sharesStore = settings.key_value !== undefined
  const { models } = catalogOf(fitted.records, settings.catalog)
  const known = { names, records, models, sharesStore, isReachable: isReachable(settings.listen.host) }
  const around = { registry, declared: files.sections, overridden, ...known }
  const { sections, leftOut: withoutSections, warnings: ofSections } = fitSections(kept, around, unopened)
  const hide = secretsHider(sources, registry, stored)
  // Stored sections may make more or fewer tries than those of the file, and may have other settings.
  const warnings = files.warnings.filter(({ code }) => code !== tooManyFallbacks && code !== unpaidDuty)
  const beyond = beyondTries(fitted.records, valuesOf(sections), pipelines)
  const unpaid = advised(files.advice, registry, { records: fitted.records, sections })
  const leftOut = [...fitted.leftOut, ...withoutSections].map((one) => ({ ...one, findings: hide(one.findings) }))
  return {
    ...files,
    settings: withRecords(settings, fitted.records, valuesOf(sections)),
    records: fitted.records,
    sections,
    revision,
    leftOut,
    version: `${version}-${revision}`,
    off: [...off, ...leftOut.map(leftOutLine)],
    diagnostics: [...files.diagnostics, ...unpaid.filter(({ warning }) => !warning)],
    warnings: [
      ...warnings,
      ...hide([...fitted.warnings, ...ofSections, ...beyond, ...unpaid.filter(({ warning }) => warning)]),
    ],
  }
}

/** The advice that concerns these settings and records: warnings, and errors where something would be missed. */
function advised(
  advice: readonly Advice[],
  { services }: Registry,
  { records, sections }: Pick<Configuration, 'records' | 'sections'>,
): readonly Diagnostic[] {
  const on = typedRecords(records)
  return advice.flatMap(({ service: name, unless, pipeline, warning }): readonly Diagnostic[] => {
    const missed = unless?.(on)
    if (missed !== undefined) {
      const { warning: _, message, ...finding } = warning
      return [{ ...finding, message: `the pipeline "${pipeline}" would pass over ${missed}: ${message}` }]
    }
    if (name === undefined) return [warning]
    const service = services.get(name)
    if (service === undefined) return []
    const { properties = {} } = service.settings as {
      readonly properties?: Readonly<Record<string, { default?: Json }>>
    }
    const value = sections.get(service.section)?.value ?? {}
    const isChanged = ([field, { default: usual }]: [string, { default?: Json }]) =>
      value[field] !== undefined && !isDeepStrictEqual(value[field], usual)
    return Object.entries(properties).some(isChanged) ? [warning] : []
  })
}

/** The code of its findings. */
const tooManyFallbacks = 'tries'

/** Finds fallbacks that no attempt reaches, because it makes fewer tries than there are candidates. */
function beyondTries(
  records: RecordSet,
  sections: JsonObject = {},
  pipelines: readonly Pipeline[],
): readonly Diagnostic[] {
  const attempts = pipelines.flatMap(({ stages }) => attemptsOf(stages)).filter(({ over }) => over === 'candidates')
  const tries = Math.max(0, ...attempts.map((one) => triesOf(withSettings(one.options, one.settings, sections)).tries))
  if (tries === 0) return []
  return (records.get('model') ?? []).flatMap(({ name, value, given }) =>
    ((value['fallbacks'] ?? []) as readonly string[]).slice(tries - 1).map((fallback, at) => {
      const message = `"${fallback}" is never asked: "${name}" and its fallbacks get ${tries} tries in all`
      const place = [...given.path, 'fallbacks', tries - 1 + at]
      return { ...given.source.report(place, tooManyFallbacks, message), warning: true as const }
    }),
  )
}

async function readConfigurationFile(
  file: string,
  name: string,
  environment: Environment,
  diagnostics: Diagnostic[],
): Promise<{ source: Source; text: string; readable: boolean }> {
  const read = await readFile(file, 'utf8').then(
    (text) => ({ text, ...readSource(name, text, environment) }),
    (error: NodeJS.ErrnoException) => {
      const { source } = readSource(name, '', environment)
      const finding = source.report([], 'file', `cannot be read: ${error.code ?? error.message}`)
      return { text: '', source, diagnostics: [finding] }
    },
  )
  diagnostics.push(...read.diagnostics)
  const readable = read.diagnostics.every(({ code }) => code === 'interpolation')
  return { source: read.source, text: read.text, readable }
}

/** Whether the configuration file does not exist and was not named explicitly. */
async function isMissing(file: string, root: string): Promise<boolean> {
  if (file !== resolve(root, defaultConfigFile)) return false
  return stat(file).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT' || error.code === 'ENOTDIR',
  )
}

async function readPipelines(
  source: Source,
  root: string,
  registry: Registry,
  { environment, shipped, known }: { environment: Environment; shipped: Shipped; known: KnownNames | undefined },
): Promise<LoadedPipelines> {
  const { text, optional } = pipelinesFolder(source)
  const own = resolve(root, text)
  const folders = { own, shipped: shipped.pipelines, root }
  const found = await loadPipelines(folders, registry, environment, known)
  if (found.missing === undefined || optional) return found
  const finding = source.report(['pipelines'], 'pipelines', `there is no folder "${display(own, root)}"`)
  return { ...found, diagnostics: [finding, ...found.diagnostics] }
}
