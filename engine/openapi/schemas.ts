import { formOf } from '../kit/schema-form.ts'
import type { Registry } from '../config/registry.ts'
import { typeField, typesOf } from '../records/records.ts'
import type { AnyRecord } from '../spec/record.ts'
import { sectionNames, sectionSchema, sectionSecrets, sectionType } from '../records/sections.ts'
import { patchSchema } from '../json/merge-patch.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'

/** Keywords that only the gateway reads. */
const own = /ErrorMessage$|^x-(?:names|inputs|gives|setting|place|record)$/
/** Keywords whose value has schemas: one, a list, or by names. */
const withOne = new Set(['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'])
const withList = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const withNames = new Set(['properties', 'patternProperties', '$defs'])

/**
 * Makes schemas of a document from those of declarations: without keywords that only the gateway reads, and with the
 * fields of records and sections where `x-record` names their type.
 */
export class Schemas {
  /** The schemas that others refer to, by name. */
  readonly named: Record<string, JsonObject> = {}
  readonly #registry: Registry
  readonly #shared: ReadonlyMap<object, string>

  /** @param shared schemas that several operations use, by their names */
  constructor(registry: Registry, shared: ReadonlyMap<object, string>) {
    this.#registry = registry
    this.#shared = shared
  }

  /** @param isPatch whether the records in it are merge patches (RFC 7396) */
  of(schema: object, isPatch = false): JsonObject {
    const name = this.#shared.get(schema)
    return name === undefined
      ? this.#made(schema as JsonObject, isPatch)
      : this.refer(name, () => this.#made(schema as JsonObject, isPatch))
  }

  #made(given: JsonObject, isPatch: boolean): JsonObject {
    const { 'x-record': type, description } = given
    if (typeof type === 'string') {
      const fields = type === sectionType ? this.#sections(isPatch) : this.#record(type, isPatch)
      if (fields !== undefined) return { ...fields, ...(description === undefined ? {} : { description }) }
    }
    // A file of a form, which the gateway describes by its name and size.
    if (typeof given['contentMediaType'] === 'string')
      return { type: 'string', contentMediaType: given['contentMediaType'] }
    const inner = (one: Json | undefined): Json => (isObject(one) ? this.of(one, isPatch) : (one ?? null))
    const entries = Object.entries(given).flatMap(([word, value = null]): [string, Json][] => {
      if (own.test(word)) return []
      if (withOne.has(word)) return [[word, inner(value)]]
      if (withList.has(word)) return [[word, (value as readonly Json[]).map(inner)]]
      if (!withNames.has(word)) return [[word, value]]
      const members = Object.entries(value as JsonObject).map(([name, one]) => [name, inner(one)] as const)
      return [[word, Object.fromEntries(members)]]
    })
    const isList = [given['type']].flat().includes('array')
    return { ...Object.fromEntries(entries), ...(isList && given['items'] === undefined ? { items: {} } : {}) }
  }

  /** A reference to a schema that is made when it is first needed. */
  refer(name: string, make: () => JsonObject): JsonObject {
    if (!Object.hasOwn(this.named, name)) this.named[name] = make()
    return { $ref: `#/components/schemas/${name}` }
  }

  /** A schema of the document, or the one that it refers to: of several, the first. */
  open(schema: JsonObject): JsonObject {
    const { $ref: reference, anyOf } = schema
    if (typeof reference === 'string') return this.named[reference.replace('#/components/schemas/', '')] ?? {}
    const [first] = Array.isArray(anyOf) ? (anyOf as readonly JsonObject[]) : []
    return first?.['$ref'] === undefined ? schema : this.open(first)
  }

  #record(type: string, isPatch: boolean): JsonObject | undefined {
    const record = this.#registry.records.get(type)
    if (record === undefined) return undefined
    const { schema, secrets, typed } = record
    return this.#referred(type, isPatch, () => {
      const form = formOf(schema, secrets)
      return typed === undefined
        ? form
        : { ...form, properties: { ...(form['properties'] as JsonObject), ...this.#typed(record) } }
    })
  }

  /** The further fields of a record whose type names a component. */
  #typed(record: AnyRecord): JsonObject {
    const anyOf = [...typesOf(record, this.#registry).values()].map(({ name, config, secrets }) =>
      this.refer(`${record.typed}.${name}`, () => this.of(formOf(config, secrets))),
    )
    return { config: { description: `Its further fields, by its ${typeField(record)}.`, anyOf } }
  }

  #sections(isPatch: boolean): JsonObject {
    const { services } = this.#registry
    const anyOf = [...sectionNames(services)].map((name) =>
      this.#referred(`section.${name}`, isPatch, () => {
        // Nobody is shown secrets, so none of its settings is always there.
        const { required: _, ...form } = formOf(sectionSchema(name, services), sectionSecrets(name, services))
        return form
      }),
    )
    return { anyOf }
  }

  #referred(name: string, isPatch: boolean, make: () => JsonObject): JsonObject {
    return this.refer(isPatch ? `${name}.patch` : name, () => this.of(isPatch ? patchOf(make()) : make()))
  }
}

/** The schema of a merge patch, whose examples change what need not be there. */
function patchOf(schema: JsonObject): JsonObject {
  const { examples = [], required = [] } = schema as {
    readonly examples?: readonly JsonObject[]
    readonly required?: readonly string[]
  }
  const changes = examples.map((one) =>
    Object.fromEntries(Object.entries(one).filter(([name]) => !required.includes(name))),
  )
  return { ...patchSchema(schema), ...(changes.length === 0 ? {} : { examples: changes }) }
}
