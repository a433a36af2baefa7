import type { Diagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { didYouMean } from '../config/suggest.ts'
import { fits } from '../config/validate.ts'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import { fitting } from '../spec/model-pattern.ts'
import { reportAt, stagesOf, within } from './nodes.ts'
import type { Named, Pipeline, Place } from './nodes.ts'

/**
 * Kinds of names that a value can contain, besides the types of records, which are kinds, too. The schema of the
 * value states the kind in `x-names`. `record` is the name of a type of records.
 */
export const nameKinds = ['pipeline', 'protocol', 'record', 'signal'] as const

/** All names of one kind. */
export interface Names {
  readonly words: readonly string[]
  /** Whether a name may end in `*`, which matches any text. */
  readonly patterns?: boolean | undefined
  /** Names that exist but cannot be used, each with the sentence that says why. */
  readonly barred?: ReadonlyMap<string, string>
}

/** All names by kind. For a missing kind, any name is accepted. */
export type KnownNames = Readonly<Record<string, Names | undefined>>

/**
 * Names that plugins define; empty while a plugin could not be loaded. Types of records held by a service are barred,
 * because stages cannot store such records.
 */
export function wordsOf({ codecs, records, signals, incomplete }: Registry): KnownNames {
  if (incomplete) return {}
  const { held = [], kept = [] } = Object.groupBy(records.values(), ({ holds }) =>
    holds === 'service' ? 'held' : 'kept',
  )
  const reason = (name: string) => `a service holds the records of type "${name}": stages for records cannot use them`
  const barred = new Map(held.map(({ name }) => [name, reason(name)]))
  return {
    protocol: { words: [...codecs.keys()] },
    record: { words: kept.map(({ name }) => name), barred },
    signal: { words: [...signals.keys()] },
  }
}

/** The parts of a JSON Schema that lead to nested values. */
interface Schema {
  readonly 'x-names'?: string
  readonly 'x-inputs'?: readonly string[]
  readonly 'x-gives'?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema | boolean>>
  readonly patternProperties?: Readonly<Record<string, Schema | boolean>>
  readonly additionalProperties?: Schema | boolean
  readonly propertyNames?: Schema | boolean
  readonly prefixItems?: readonly (Schema | boolean)[]
  readonly items?: Schema | boolean
  readonly allOf?: readonly (Schema | boolean)[]
  readonly anyOf?: readonly (Schema | boolean)[]
  readonly oneOf?: readonly (Schema | boolean)[]
}

/** The keywords that `namesIn` follows. */
export const followedKeywords = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'prefixItems',
  'items',
  'allOf',
  'anyOf',
  'oneOf',
] as const satisfies readonly (keyof Schema)[]

/** Every name in a value that its schema marks with `x-names`. */
export function namesIn(schema: Schema | boolean | undefined, value: Json | undefined, place: Place): readonly Named[] {
  if (typeof schema !== 'object' || value === undefined) return []
  const { prefixItems = [], items, allOf = [], anyOf = [], oneOf = [], propertyNames } = schema
  return [
    ...(typeof value === 'string' ? nameOf(schema, value, place) : []),
    ...allOf.flatMap((one) => namesIn(one, value, place)),
    ...[anyOf, oneOf].flatMap((branches) => namesInBranches(branches, value, place)),
    ...(Array.isArray(value)
      ? value.flatMap((held: Json, index) => namesIn(prefixItems[index] ?? items, held, within(place, index)))
      : []),
    ...(isObject(value)
      ? Object.entries(value).flatMap(([key, held]) => [
          ...namesIn(propertyNames, key, within(place, key)),
          ...schemasOf(schema, key).flatMap((one) => namesIn(one, held, within(place, key))),
        ])
      : []),
  ]
}

/** The names according to the branches that match the value; none if a branch without names matches. */
function namesInBranches(branches: readonly (Schema | boolean)[], value: Json, place: Place): readonly Named[] {
  const found = branches.map((branch) => ({ branch, names: namesIn(branch, value, place) }))
  // Most schemas contain no names, and then no branch has to be compiled.
  if (found.every(({ names }) => names.length === 0)) return []
  const fitting = found.filter(({ branch }) => fits(branch, value))
  return fitting.some(({ names }) => names.length === 0) ? [] : fitting.flatMap(({ names }) => names)
}

/** The schemas that apply to a member of an object. */
function schemasOf(schema: Schema, key: string): readonly (Schema | boolean | undefined)[] {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema
  const own = [
    ...(Object.hasOwn(properties, key) ? [properties[key]] : []),
    ...Object.entries(patternProperties).flatMap(([pattern, one]) => (new RegExp(pattern, 'u').test(key) ? [one] : [])),
  ]
  return own.length > 0 ? own : [additionalProperties]
}

function nameOf(schema: Schema, name: string, place: Place): readonly Named[] {
  const { 'x-names': kind, 'x-inputs': inputs, 'x-gives': gives } = schema
  if (kind === undefined) return []
  return [{ kind, name, place, ...(inputs === undefined ? {} : { inputs }), ...(gives === undefined ? {} : { gives }) }]
}

/** The names in the configurations of stages. */
export function namesOf(pipelines: readonly Pipeline[]): readonly Named[] {
  return pipelines.flatMap(({ stages, finally: last }) => stagesOf([...stages, ...last]).flatMap((node) => node.names))
}

/** Findings for names that do not exist. */
export function unknownNames(named: readonly Named[], known: KnownNames): Diagnostic[] {
  return named.flatMap(({ kind, name, place }) => {
    const names = known[kind]
    if (names === undefined || bears(names, name)) return []
    const message = names.barred?.get(name) ?? `no ${kind} named "${name}"${didYouMean(name, names.words)}`
    return [reportAt(place, `unknown-${kind}`, message)]
  })
}

/** Whether a name exists, or matches a pattern. */
function bears({ words, patterns }: Names, name: string): boolean {
  return words.includes(name) || (patterns === true && fitting(name, words) !== undefined)
}
