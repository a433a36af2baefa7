import type { Json } from '../spec/json.ts'
import type { AnyService } from '../spec/service.ts'
import type { Path } from './diagnostics.ts'
import type { Registry } from './registry.ts'

type Services = Registry['services']

/** A JSON Schema of settings, as far as sections read it. */
export interface Schema {
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, object>>
}

/** A setting that has a place of its own in the file, and can be written nowhere else. */
export interface PlacedSetting {
  readonly section: string
  readonly name: string
  /** A field of the file, and a field in it. */
  readonly place: readonly [string, string]
  readonly schema: object
}

/** A setting whose value is given elsewhere, in the environment or in a place of its own in the file. */
export interface Overridden {
  readonly section: string
  /** Its name, or the path to one that is part of another: `traces.enabled`. */
  readonly field: string
  /** The environment variable, or the place in the file. */
  readonly variable: string
  readonly value: Json
  /** Its place in the file; absent: the environment gives it, or the file is not valid. */
  readonly path?: Path
}

/** The settings of a service that have a place of their own in the file; undefined: the file is not valid. */
export function givenPlaced(service: AnyService, overridden: readonly Overridden[]): readonly Overridden[] | undefined {
  const own = placedSettings(new Map([[service.name, service]])).map(({ name }) => name)
  const { section } = service
  const given = overridden.filter((one) => one.path && one.section === section && own.includes(one.field))
  return given.length === own.length ? given : undefined
}

/** The settings that have a place of their own in the file: those whose schema has `x-place`, such as `mcp.commands`. */
export function placedSettings(services: Services): readonly PlacedSetting[] {
  return [...services.values()].flatMap(({ section, settings }) =>
    Object.entries((settings as Schema).properties ?? {}).flatMap(([name, schema]) => {
      const [field, inner] = placeOf(schema)
      return field === undefined || inner === undefined ? [] : [{ section, name, place: [field, inner], schema }]
    }),
  )
}

/** The fields of the file that hold nothing but such settings, with their schemas. */
export function placedFields(services: Services): Readonly<Record<string, object>> {
  const byField = Map.groupBy(placedSettings(services), ({ place: [field] }) => field)
  return Object.fromEntries(
    [...byField].map(([field, settings]) => {
      const properties = Object.fromEntries(settings.map(({ place: [, inner], schema }) => [inner, schema]))
      const description = 'Settings that only this file can have.'
      return [field, { type: 'object', additionalProperties: false, default: {}, description, properties }]
    }),
  )
}

function placeOf(schema: object): readonly string[] {
  return (schema as { readonly 'x-place'?: string })['x-place']?.split('.') ?? []
}

const stripped = new WeakMap<Schema, Schema>()

/** A schema of settings without those that have another place. The same object for the same schema, because compiled schemas are cached by identity. */
export function withoutPlaced<S extends Schema>(schema: S): S {
  const known = stripped.get(schema)
  if (known) return known as S
  const entries = Object.entries(schema.properties ?? {})
  const kept = entries.filter(([, one]) => placeOf(one).length === 0)
  const made = kept.length === entries.length ? schema : { ...schema, properties: Object.fromEntries(kept) }
  stripped.set(schema, made)
  return made
}
