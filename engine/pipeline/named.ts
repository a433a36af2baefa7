import type { Diagnostic } from '../config/diagnostics.ts'
import { didYouMean } from '../config/suggest.ts'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import { fitting } from '../spec/model-pattern.ts'
import { reportAt, stagesOf, within } from './nodes.ts'
import type { Pipeline, Place } from './nodes.ts'

/** What a value of a stage's configuration can name; its schema says so under `x-names`. */
export const nameKinds = ['pipeline', 'model', 'protocol'] as const
export type NameKind = (typeof nameKinds)[number]

/** The names that there are, by kind; of a kind that is missing nothing is known. */
export type KnownNames = { readonly [K in NameKind]?: readonly string[] }

/** A name in a stage's configuration. */
export interface Named {
  readonly kind: NameKind
  readonly name: string
  readonly place: Place
  /** Slots that a pipeline which the stage runs is handed (`x-inputs`); absent: the stage only names it. */
  readonly inputs?: readonly string[]
  /** Slots that it surely has to give (`x-gives`). */
  readonly gives?: readonly string[]
}

/** A JSON Schema, as far as it leads to values inside. */
interface Schema {
  readonly 'x-names'?: NameKind
  readonly 'x-inputs'?: readonly string[]
  readonly 'x-gives'?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema | boolean
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** Every name in a value that its schema marks as one. */
export function namesIn(schema: Schema | boolean | undefined, value: Json | undefined, place: Place): readonly Named[] {
  if (typeof schema !== 'object' || value === undefined) return []
  const { properties = {}, additionalProperties, items, allOf = [], anyOf = [], oneOf = [] } = schema
  const inner = (one: Schema | boolean | undefined, key: string | number, held: Json | undefined) =>
    namesIn(one, held, within(place, key))
  return [
    ...(typeof value === 'string' ? nameOf(schema, value, place) : []),
    ...[...allOf, ...anyOf, ...oneOf].flatMap((one) => namesIn(one, value, place)),
    ...(Array.isArray(value) ? value.flatMap((held: Json, index) => inner(items, index, held)) : []),
    ...(isObject(value)
      ? Object.entries(value).flatMap(([key, held]) =>
          inner(Object.hasOwn(properties, key) ? properties[key] : additionalProperties, key, held),
        )
      : []),
  ]
}

function nameOf(schema: Schema, name: string, place: Place): readonly Named[] {
  const { 'x-names': kind, 'x-inputs': inputs, 'x-gives': gives } = schema
  if (kind === undefined) return []
  return [{ kind, name, place, ...(inputs === undefined ? {} : { inputs }), ...(gives === undefined ? {} : { gives }) }]
}

/** Names in the configurations of stages that nothing bears. A model's may fit the pattern of a record. */
export function unknownNames(pipelines: readonly Pipeline[], known: KnownNames): Diagnostic[] {
  const named = pipelines.flatMap(({ stages, finally: last }) =>
    stagesOf([...stages, ...last]).flatMap((node) => node.names),
  )
  return named.flatMap(({ kind, name, place }) => {
    const names = known[kind]
    if (names === undefined || names.includes(name)) return []
    if (kind === 'model' && fitting(name, names) !== undefined) return []
    return [reportAt(place, `unknown-${kind}`, `no ${kind} named "${name}"${didYouMean(name, names)}`)]
  })
}
