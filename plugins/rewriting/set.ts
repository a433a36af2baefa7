import { Refusal, defineStage } from '../../engine/index.ts'
import { fieldFlaw, isObject } from '../../engine/kit.ts'
import type { Json, JsonObject, KnownServices, SectionReport } from '../../engine/index.ts'

/** A virtual model, a model of the configuration, or the name that a provider has for one. */
const model = {
  type: 'string',
  anyOf: [
    {
      pattern: '^([Ff][Aa][Ss][Tt]|[Aa][Uu][Tt][Oo]|[Bb][Ee][Ss][Tt]|[^/]{1,255}/.{1,255})$',
      patternErrorMessage: 'must be a model, fast, auto or best, or provider/model',
    },
    { 'x-names': 'model' },
  ],
} as const

// The type leaves the name of a model out: it says nothing about types.
const fields = (description: string) =>
  ({ type: 'object', properties: { model }, default: {}, description }) as {
    readonly type: 'object'
    readonly default: Readonly<Record<string, never>>
    readonly description: string
  }

/** Changes fields of the request, as if the client had sent the new values. */
export default defineStage({
  name: 'set',
  summary: 'Set, default or drop fields of the request.',
  config: {
    type: 'object',
    additionalProperties: false,
    examples: [{ override: { temperature: 0 }, drop: ['user'] }],
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
  notAfter: ['validate'],
  check({ override, default: defaults, drop }, { codecs }, report) {
    const known = { codecs, report }
    for (const [name, value] of Object.entries(override)) checkField(['override', name], name, known, value as Json)
    for (const [name, value] of Object.entries(defaults)) {
      checkField(['default', name], name, known, value as Json)
      if (Object.hasOwn(override, name))
        report(['default', name], `has no effect, because "override" sets "${name}" always`, 'stage', 'warning')
    }
    for (const [index, name] of drop.entries()) {
      const path = ['drop', index]
      checkField(path, name, known)
      if (Object.hasOwn(override, name))
        report(path, `has no effect, because "override" sets "${name}" always`, 'stage', 'warning')
      else if (!Object.hasOwn(defaults, name) && codecs.length > 0 && codecs.every((codec) => requires(codec, name)))
        report(path, `without "${name}", requests would be refused`, 'field-value')
    }
  },
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

function requires({ schema }: KnownServices['codecs'][number], name: string): boolean {
  const { required = [] } = schema as { readonly required?: readonly string[] }
  return required.includes(name)
}

function checkField(
  path: readonly (string | number)[],
  name: string,
  { codecs, report }: Pick<KnownServices, 'codecs'> & { readonly report: SectionReport },
  value?: Json,
): void {
  const flaw = fieldFlaw(codecs, name.split('.'), value)
  if (flaw?.kind === 'value') report(path, `"${name}": ${flaw.message}`, 'field-value')
  if (flaw?.kind === 'unknown') report(path, `"${name}": ${flaw.message}`, 'unknown-field', 'warning')
}

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
