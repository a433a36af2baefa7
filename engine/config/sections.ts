import type { FromSchema } from 'json-schema-to-ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { Refusal } from '../spec/refusal.ts'
import type { AnyService } from '../spec/service.ts'
import type { Diagnostic } from './diagnostics.ts'
import { wordsOfThrown } from './plugin-error.ts'
import type { Registry } from './registry.ts'
import { serverSettings } from './server-settings.ts'
import type { Path, Source } from './source.ts'
import { didYouMean } from './suggest.ts'
import type { ReportOf } from './uses.ts'
import { validator } from './validate.ts'

/** The sections of `server_config` as they were checked: those of the engine, and those of services by their names. */
export type Sections = JsonObject & {
  readonly [N in keyof EngineSections]: FromSchema<EngineSections[N]>
}

type EngineSections = typeof serverSettings.properties

/** What one owner has in one section; several may share a section, each with properties of its own. */
interface Part {
  readonly section: string
  /** Absent: the engine. */
  readonly service?: AnyService
  readonly schema: Schema
}

interface Schema {
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, object>>
}

type Services = ReadonlyMap<string, AnyService>

const engineParts = Object.entries(serverSettings.properties).map(([section, schema]): Part => ({ section, schema }))

function partsOf(services: Services): Part[] {
  const others = [...services.values()].map((service): Part => {
    const { section, settings } = service
    return { section, service, schema: settings as Schema }
  })
  return [...engineParts, ...others.filter(({ schema }) => namesOf(schema).length > 0)]
}

function namesOf({ properties = {} }: Schema): string[] {
  return Object.keys(properties)
}

/** Finds settings that two own. */
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

/** What a service reads of the sections: the properties that are its own. */
export function settingsOf({ section, settings }: AnyService, sections: JsonObject): JsonObject {
  return picked(sections[section], settings as Schema)
}

/**
 * Checks `server_config`, each part with the schema of its owner, and fills defaults in. A name that nobody owns may
 * belong to a plugin that could not be loaded, and is told only when all are there.
 */
export function loadSections(
  source: Source,
  given: Json | undefined,
  { services, incomplete }: Pick<Registry, 'services' | 'incomplete'>,
  diagnostics: Diagnostic[],
): Sections {
  const written = isObject(given) ? given : {}
  const sections: Record<string, JsonObject> = {}
  const parts = partsOf(services)
  for (const [section, own] of Map.groupBy(parts, (part) => part.section)) {
    const path = ['server_config', section]
    const value = written[section]
    if (value !== undefined && !isObject(value)) {
      diagnostics.push(...validator(sectionFormat)(source, path, value).diagnostics)
      continue
    }
    const checked = own.map((part) => checkedPart(part, source, path, value, diagnostics))
    sections[section] = Object.assign({}, ...checked) as JsonObject
    const known = own.flatMap(({ schema }) => namesOf(schema))
    if (!incomplete) diagnostics.push(...unknown(source, path, value, known))
  }
  const names = new Set(parts.map(({ section }) => section))
  if (!incomplete) diagnostics.push(...unknown(source, ['server_config'], written, names))
  return sections as unknown as Sections
}

const sectionFormat = { type: 'object' } as const

function checkedPart(
  { schema, service }: Part,
  source: Source,
  path: Path,
  section: JsonObject | undefined,
  diagnostics: Diagnostic[],
): Json {
  const checked = validator(schema)(source, path, picked(section, schema))
  diagnostics.push(...checked.diagnostics)
  if (service?.check && checked.diagnostics.length === 0) {
    const report = (inner: Path, message: string) =>
      diagnostics.push(source.report([...path, ...inner], 'service', message))
    try {
      service.check(checked.value as JsonObject, report)
    } catch (error) {
      if (error instanceof Refusal) report(error.path, error.message)
      else report([], `the service "${service.name}" cannot check its settings: ${wordsOfThrown(error)}`)
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

/** The schema of `server_config` as a whole, for editors and the reference: every section with all that stands in it. */
export function sectionsSchema(services: Services): typeof serverSettings {
  const sections = [...Map.groupBy(partsOf(services), ({ section }) => section)].map(([section, parts]) => {
    const schemas = parts.map(({ schema }) => schema)
    const required = schemas.flatMap((schema) => schema.required ?? [])
    const described = schemas.flatMap(({ description = '' }) => description || [])
    const merged = {
      type: 'object',
      additionalProperties: false,
      ...(required.length > 0 ? { required } : { default: {} }),
      description: [...new Set(described)].join(' '),
      properties: Object.assign({}, ...schemas.map(({ properties }) => properties)) as object,
    }
    return [section, merged] as const
  })
  return { ...serverSettings, properties: Object.fromEntries(sections) } as unknown as typeof serverSettings
}
