import type { AnyClientCodec } from '../spec/codec.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { didYouMean } from './suggest.ts'
import { fits } from './validate.ts'

/** What is wrong with a field of requests: their protocol has no such field, or none with such a value. */
export interface FieldFlaw {
  readonly kind: 'unknown' | 'value'
  /** Follows the name of the field. */
  readonly message: string
}

type Protocols = readonly Pick<AnyClientCodec, 'protocol' | 'schema'>[]

/**
 * The mistake in a field that a configuration names, according to the bodies of some protocols: one of them has to know
 * it. A field inside another one is unknown only if it is nearly a known one, because protocols do not list all of these.
 * @param path the steps to the field
 * @param value the value that it is to have; unset: any
 */
export function fieldFlaw(codecs: Protocols, path: readonly string[], value?: Json): FieldFlaw | undefined {
  // Some protocols leave all fields to those who read them.
  const told = codecs.filter(({ schema }) => isObject(schema['properties']))
  const found = told.map(({ schema }) => fieldIn(schema, path))
  if (told.length === 0 || found.includes('anything')) return undefined
  const places = found.filter((one) => typeof one === 'object')
  const known = places.filter((place): place is Field => 'schemas' in place)
  const protocols = codecs.length > 1 ? 'no protocol here has' : `requests of ${codecs[0]?.protocol} have no`
  if (known.length === 0) {
    const unknown = places.filter((place): place is Unknown => 'siblings' in place)
    const near = didYouMean(unknown[0]?.step ?? '', new Set(unknown.flatMap(({ siblings }) => siblings)))
    if (path.length > 1 && near === '' && !unknown.every(({ isFirst }) => isFirst)) return undefined
    const rest = near === '' ? '; providers get it as it is, or not at all' : near
    return { kind: 'unknown', message: `${protocols} such field${rest}` }
  }
  if (value === undefined || known.some(({ schemas }) => schemas.every((one) => fits(one, value)))) return undefined
  return { kind: 'value', message: `${protocols} such value there, so requests would be refused` }
}

/** The types of JSON values that a field of requests may have, or whose members may have; undefined: any. */
export function fieldTypes(codecs: Protocols, path: readonly string[]): ReadonlySet<string> | undefined {
  const types = new Set<string>()
  for (const { schema } of codecs) {
    const found = fieldIn(schema, path)
    if (found === 'anything') return undefined
    if (!('schemas' in found)) continue
    for (const one of withMembers(found.schemas)) {
      const { type = Object.hasOwn(one, 'const') ? typeof one['const'] : undefined } = one
      if (type === undefined) return undefined
      for (const word of [type].flat() as string[]) types.add(word === 'integer' ? 'number' : word)
    }
  }
  return types
}

interface Field {
  readonly schemas: readonly JsonObject[]
}

/** A step that no schema there knows. */
interface Unknown {
  readonly step: string
  readonly isFirst: boolean
  readonly siblings: readonly string[]
}

function fieldIn(schema: JsonObject, path: readonly string[]): Field | Unknown | 'anything' {
  let schemas: readonly JsonObject[] = [schema]
  for (const [at, step] of path.entries()) {
    const around = withMembers(schemas.flatMap(branchesOf)).flatMap(branchesOf)
    const objects = around.filter((one) => isObject(one['properties']))
    const isOpen = around.some(({ additionalProperties: more = false }) => more !== false)
    if (objects.length === 0 || isOpen || /^\d+$/.test(step)) return 'anything'
    const next = objects.flatMap(({ properties }) => {
      const inner = isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : undefined
      return isObject(inner) ? [inner] : []
    })
    if (next.length === 0) {
      const siblings = objects.flatMap(({ properties }) => Object.keys(properties as JsonObject))
      return { step, isFirst: at === 0, siblings }
    }
    schemas = next
  }
  return { schemas }
}

/** A schema with those that it combines, whatever their conditions. */
function branchesOf(schema: JsonObject): readonly JsonObject[] {
  const { allOf = [], anyOf = [], oneOf = [], then, else: otherwise } = schema
  const inner = [allOf, anyOf, oneOf, then ?? [], otherwise ?? []].flat() as readonly Json[]
  return [schema, ...inner.filter(isObject).flatMap(branchesOf)]
}

/** Schemas with those of their members, because a condition on a list asks its members. */
function withMembers(schemas: readonly JsonObject[]): readonly JsonObject[] {
  return schemas.flatMap((schema) => {
    const { items } = schema
    return isObject(items) ? [schema, ...withMembers(branchesOf(items))] : [schema]
  })
}
