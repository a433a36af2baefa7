import { Refusal, defineStage } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'

const fields = (description: string) => ({ type: 'object', default: {}, description }) as const

/** Changes fields of the request, as if the client had sent the new values. */
export default defineStage({
  name: 'set',
  summary: 'Set, default or drop fields of the request.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      override: fields(
        'Fields and their values, which replace those of the client. A dotted name reaches nested fields.',
      ),
      default: fields('Fields and their values, for fields that the client leaves out.'),
      drop: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        default: [],
        description: 'Fields to remove.',
      },
    },
  } as const,
  needs: ['request'],
  provides: ['request'],
  build: (config) => {
    const overrides = changesOf(config, 'override')
    const defaults = changesOf(config, 'default')
    const drops = config.drop.map((name, index) => pathOf(name, ['drop', index]))
    if (overrides.length + defaults.length + drops.length === 0)
      throw new Refusal('it changes nothing: say "override", "default" or "drop"')
    const changed = (body: JsonObject): JsonObject => {
      let next = body
      for (const path of drops) next = put(next, path, undefined)
      for (const { path, value } of defaults) if (at(next, path) === undefined) next = put(next, path, value)
      for (const { path, value } of overrides) next = put(next, path, value)
      return next
    }
    return ({ request }) => ({ request: changed(request.sent) === request.sent ? request : request.rewrite(changed) })
  },
})

type Path = readonly string[]

interface Change {
  readonly path: Path
  readonly value: Json
}

function changesOf(config: { readonly [word: string]: unknown }, word: 'override' | 'default'): readonly Change[] {
  const fields = Object.entries(config[word] as JsonObject) as [string, Json][]
  return fields.map(([name, value]) => ({ path: pathOf(name, [word, name]), value }))
}

/** The path of a field. `stream` cannot be set, because a client parses a stream differently from a whole answer. */
function pathOf(name: string, place: readonly (string | number)[]): Path {
  if (name === 'stream') throw new Refusal('the client alone can say whether it reads a stream', place)
  const path = name.split('.')
  if (path.includes('') || path.includes('__proto__')) throw new Refusal(`"${name}" names no field`, place)
  return path
}

function at(body: JsonObject, path: Path): Json | undefined {
  return path.reduce<Json | undefined>(
    (inside, step) => (isObject(inside) && Object.hasOwn(inside, step) ? inside[step] : undefined),
    body,
  )
}

/** The body with a new value at a path, or with the field removed; the same object if nothing changes. */
function put(body: JsonObject, [step = '', ...rest]: Path, value: Json | undefined): JsonObject {
  const present = Object.hasOwn(body, step)
  if (rest.length > 0) {
    const inner = present && isObject(body[step]) ? body[step] : undefined
    if (!inner && value === undefined) return body
    const next = put(inner ?? {}, rest, value)
    return next === inner ? body : { ...body, [step]: next }
  }
  if (value !== undefined) return present && body[step] === value ? body : { ...body, [step]: value }
  if (!present) return body
  const { [step]: _, ...others } = body
  return others
}
