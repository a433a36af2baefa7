import type { JsonObject } from '../spec/json.ts'
import {
  aliasesFormat,
  armFormat,
  attemptFormat,
  pipelineFormat,
  switchFormat,
  timeoutFormat,
  timeoutWord,
} from '../config/format.ts'
import { wordsOf } from '../pipeline/named.ts'
import type { KnownNames } from '../pipeline/named.ts'
import type { Registry } from '../config/registry.ts'
import { clientProtocols } from '../config/speaking.ts'
import { fileProperties, listOf } from '../records/file-properties.ts'
import { typeField, typesOf } from '../records/records.ts'
import type { AnyRecord } from '../spec/record.ts'
import { settingsFormat } from '../config/settings.ts'

const dialect = 'https://json-schema.org/draft/2020-12/schema'

/**
 * JSON Schema of a pipeline file, for editors: every registered stage with its fields, and the known names for
 * completion.
 */
export function pipelineSchema(registry: Registry, names: KnownNames = {}): JsonObject {
  const stages = sorted(registry.stages)
  const known: KnownNames = { ...names, ...wordsOf(registry) }
  const steps = { type: 'array', items: { $ref: '#/$defs/step' } }
  const words: Record<string, unknown> = {
    use: named(
      { type: 'string', 'x-names': 'pipeline', description: 'Runs the stages of another pipeline here.' },
      known,
    ),
    act: {
      type: ['string', 'null'],
      anyOf: [{ enum: [null, ...registry.actions.keys()] }, { type: 'string' }],
      description: 'Runs an action: the one named, or that of the route.',
    },
    switch: {
      ...switchFormat,
      items: { ...armFormat, properties: { ...armFormat.properties, do: { ...armFormat.properties.do, ...steps } } },
    },
    attempt: {
      ...editable(attemptFormat),
      properties: {
        ...(editable(attemptFormat) as typeof attemptFormat).properties,
        do: { ...attemptFormat.properties.do, ...steps },
      },
    },
  }
  const withFields = stages.map(([name, stage]) => [
    name,
    { description: told(stage, registry), ...editable(named(stage.config as Schema, known)), type: ['object', 'null'] },
  ])
  const { properties } = pipelineFormat
  const pipeline = {
    ...pipelineFormat,
    properties: {
      ...properties,
      protocol: { ...properties.protocol, enum: clientProtocols(registry.codecs).sort() },
      stages: { ...properties.stages, ...steps },
      finally: { ...properties.finally, ...steps },
    },
  }
  const bare = stages.filter(
    ([, { config }]) => ((config as { required?: readonly string[] }).required ?? []).length === 0,
  )
  return {
    $schema: dialect,
    title: 'Pipeline',
    anyOf: [
      { $ref: '#/$defs/pipeline' },
      {
        type: 'object',
        additionalProperties: false,
        required: ['endpoints'],
        properties: { endpoints: { type: 'array', items: { $ref: '#/$defs/pipeline' } }, aliases: aliasesFormat },
      },
      { type: 'object', additionalProperties: false, required: ['aliases'], properties: { aliases: aliasesFormat } },
    ],
    $defs: {
      pipeline,
      step: {
        anyOf: [
          { enum: ['act', ...bare.map(([name]) => name)] },
          {
            type: 'object',
            minProperties: 1,
            maxProperties: 2,
            // A step is one name with an optional timeout.
            dependentSchemas: { [timeoutWord]: { minProperties: 2 } },
            if: { maxProperties: 2, minProperties: 2 },
            // oxlint-disable-next-line unicorn/no-thenable
            then: { required: [timeoutWord] },
            additionalProperties: false,
            properties: { ...words, ...Object.fromEntries(withFields), [timeoutWord]: timeoutFormat },
          },
        ],
      },
    },
  }
}

/**
 * JSON Schema of the configuration file, for editors: every type of record, every registered provider type with its
 * fields.
 */
export function settingsSchema(registry: Registry): JsonObject {
  const lists = [...registry.records.values()].map((type) => {
    const items = type.typed === undefined ? (type.schema as Schema) : typedSchema(type, registry)
    return [type.place, listOf(type, oneOfThese(items, wordsOf(registry)))] as const
  })
  const properties = { ...fileProperties(registry), ...Object.fromEntries(lists) }
  const format = editable({ ...settingsFormat, properties })
  return { $schema: dialect, title: 'Configuration', ...(format as JsonObject) }
}

/** The schema of records that name a component, including the fields of each component. */
function typedSchema(record: AnyRecord, registry: Registry): Schema {
  const schema = record.schema as Schema
  const field = typeField(record)
  const types = sorted(typesOf(record, registry)).map(([name, type]) => ({ name, type, config: type.config as Form }))
  if (types.length === 0) return schema
  const common = schema['properties'] as Readonly<Record<string, Schema>>
  const required = (schema['required'] ?? []) as readonly string[]
  const allOf = types.map(({ name, type, config }) => ({
    if: { properties: { [field]: { const: name } }, required: [field] },
    // oxlint-disable-next-line unicorn/no-thenable
    then: {
      ...config,
      description: told(type, registry),
      required: [...required, ...(config.required ?? [])],
      properties: { ...common, [field]: { const: name }, ...config.properties },
    },
  }))
  const one = { ...common[field], enum: types.map(({ name }) => name) }
  return { ...schema, properties: { ...common, [field]: one }, allOf }
}

/** What editors show of a component: its sentence, and how stable it is. */
function told(component: { readonly summary: string }, { stable }: Registry): string {
  return `${component.summary} ${stable.has(component) ? 'Stable.' : 'Beta: it may change in any version.'}`
}

interface Form {
  readonly required?: readonly string[]
  readonly properties?: object
}

interface Schema {
  readonly [keyword: string]: unknown
}

/** A text whose value comes from the environment. */
const interpolated = {
  type: 'string',
  pattern: '\\$\\{',
  patternErrorMessage: 'must be of the expected type, or take its value from the environment with ${NAME}',
}

/** The schema with such a text as an alternative to every value that is not a plain text. */
function editable(schema: Schema): Schema {
  return changed(schema, (one) => (isStrict(one) ? beside(one, [interpolated]) : one))
}

/** The schema with the known names as suggestions for every text that is a name. */
function named(schema: Schema, known: KnownNames): Schema {
  return changed(schema, (one) => {
    const words = wordsFor(one, known)
    return words.length === 0 ? one : beside(one, [{ enum: words }])
  })
}

/** The schema with every text that must be a known name limited to the known names. */
function oneOfThese(schema: Schema, known: KnownNames): Schema {
  return changed(schema, (one) => {
    const words = wordsFor(one, known)
    return words.length === 0 ? one : { enum: words }
  })
}

function wordsFor({ 'x-names': kind }: Schema, known: KnownNames): string[] {
  return [...new Set(typeof kind === 'string' ? known[kind]?.words : [])].sort()
}

/** A schema that accepts other values, too. */
function beside({ description, default: usual, ...rest }: Schema, others: readonly Schema[]): Schema {
  return {
    ...(description === undefined ? {} : { description }),
    ...(usual === undefined ? {} : { default: usual }),
    anyOf: [rest, ...others],
  }
}

/** Applies a change to a schema and all its subschemas. */
function changed(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const one = (value: unknown) => (typeof value === 'object' ? changed(value as Schema, change) : value)
  const each = (value: unknown) =>
    Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, one(inner)]))
  const inner = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === 'properties') return [keyword, each(value)]
    if (keyword === 'allOf') return [keyword, (value as readonly Schema[]).map(one)]
    return [keyword, below.has(keyword) ? one(value) : value]
  })
  return change(Object.fromEntries(inner) as Schema)
}

/** Keywords whose value is a schema for nested values. */
const below = new Set(['items', 'additionalProperties', 'propertyNames', 'then'])

/** Whether a schema accepts only single values, and not the text `${NAME}`. */
function isStrict({ type, pattern, enum: values }: Schema): boolean {
  if (values !== undefined) return true
  if (type === 'string') return typeof pattern === 'string' && !new RegExp(pattern, 'u').test('${NAME}')
  return [type].flat().every((word) => word === 'integer' || word === 'number' || word === 'boolean')
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([left], [right]) => left.localeCompare(right))
}
