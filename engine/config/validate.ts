import { Ajv2020 } from 'ajv/dist/2020.js'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { duration, isDuration } from '../spec/duration.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { pointer, schemaProblems } from './diagnostics.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { Path } from './diagnostics.ts'
import type { Source } from './source.ts'

/** Validates a value. Returns it with defaults filled in, and the findings; the given value does not change. */
export type Validator = (source: Source, path: Path, value: Json) => { value: Json; diagnostics: Diagnostic[] }

const ajv = new Ajv2020({
  allErrors: true,
  useDefaults: true,
  ownProperties: true,
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  verbose: true,
  // The meta-schema takes longer to compile than any other schema, so only schemas of plugins are checked with it
  // (`proveSchema`).
  validateSchema: false,
  // Each validator runs a few times at most: optimizing its code takes longer than it saves.
  code: { optimize: false },
})
formats.default(ajv)
ajv.addKeyword({ keyword: 'x-names', schemaType: 'string' })
for (const keyword of ['x-inputs', 'x-gives'])
  ajv.addKeyword({
    keyword,
    schemaType: 'array',
    code({ schema }) {
      if (!(schema as Json[]).every((slot) => typeof slot === 'string'))
        throw new Error(`${keyword} must be names of slots`)
    },
  })
// The setting whose value an option of a step has if the pipeline does not write it.
ajv.addKeyword({ keyword: 'x-setting', schemaType: 'string' })
// The only place in the file of a setting that cannot change at run time.
ajv.addKeyword({ keyword: 'x-place', schemaType: 'string' })
// The unit of a number, for forms.
ajv.addKeyword({ keyword: 'x-unit', schemaType: 'string' })
for (const [keyword, holds] of [
  ['x-minimum', (value: number, limit: number) => value >= limit],
  ['x-maximum', (value: number, limit: number) => value <= limit],
] as const)
  ajv.addKeyword({
    keyword,
    schemaType: 'string',
    type: 'string',
    compile(limit: string) {
      const bound = duration(limit)
      const isWithin: DataValidateFunction = (value: string) => {
        // The pattern reports any other text.
        if (!isDuration(value) || holds(duration(value), bound)) return true
        isWithin.errors = [{ keyword, params: { limit } }]
        return false
      }
      return isWithin
    },
    errors: true,
  })
// Most decimals of an amount. `multipleOf` computes with binary numbers, which miss most decimal ones.
ajv.addKeyword({
  keyword: 'x-decimals',
  schemaType: 'number',
  type: 'number',
  compile(limit: number) {
    const isWithin: DataValidateFunction = (value: number) => {
      if (Number(value.toFixed(limit)) === value) return true
      isWithin.errors = [{ keyword: 'x-decimals', params: { limit } }]
      return false
    }
    return isWithin
  },
  errors: true,
})
// Editors know this keyword, too.
ajv.addKeyword({ keyword: 'patternErrorMessage', schemaType: 'string' })
ajv.addKeyword({ keyword: 'anyOfErrorMessage', schemaType: 'string' })
ajv.addKeyword({ keyword: 'requiredErrorMessage', schemaType: 'string' })

/**
 * Compiles a JSON Schema (draft 2020-12) for configuration: strict mode, defaults filled in, all errors reported.
 * Custom keywords: `x-names` marks a text that is a name; `x-inputs` and `x-gives` list the slots that a named pipeline
 * is handed and must give; `x-setting` is the setting that gives an option that a pipeline does not write; `x-place` is the place of a setting in the file, such as
 * `mcp.commands`, if no section can have it; `x-minimum`
 * and `x-maximum` are bounds of a duration; `x-decimals` is the most decimals of a number; `patternErrorMessage`,
 * `anyOfErrorMessage` and `requiredErrorMessage` describe a `pattern`, an `anyOf` and what is missing in words.
 * @param schema must pass `proveSchema`; compiled schemas are cached by identity
 */
export function validator(schema: object): Validator {
  return fromAjv(compileSchema(schema))
}

/** Throws when a schema for `validator` or `compileSchema` is invalid. */
export function proveSchema(schema: object): void {
  void ajv.validateSchema(schema, true)
  compileSchema(schema)
}

// Compiling is the slow part of loading, and most schemas survive a reload.
const compiled = new WeakMap<object, ValidateFunction>()

/**
 * Compiles a schema like `validator`. The returned function fills defaults into the value itself, and changes nothing
 * else.
 */
export function compileSchema(schema: object): ValidateFunction {
  const known = compiled.get(schema)
  if (known) return known
  const made = ajv.compile(schema)
  // Ajv caches compiled schemas forever; those of reloaded plugins must be collectable.
  ajv.removeSchema(schema)
  compiled.set(schema, made)
  return made
}

let lenient: Ajv2020 | undefined
const branches = new WeakMap<object, ValidateFunction>()

/** Whether a part of a schema accepts a value; true if the part needs another part (`$ref`) to decide. */
export function fits(part: object | boolean, value: Json): boolean {
  if (typeof part === 'boolean') return part
  let validate = branches.get(part)
  if (!validate) {
    // The `type` that strict mode requires may be in the surrounding schema.
    lenient ??= formats.default(
      new Ajv2020({ strict: false, validateSchema: false, useDefaults: true, ownProperties: true }),
    )
    try {
      validate = lenient.compile(part)
    } catch (error) {
      if (error instanceof Ajv2020.MissingRefError) return true
      throw error
    } finally {
      lenient.removeSchema(part)
    }
    branches.set(part, validate)
  }
  return validate(structuredClone(value))
}

function fromAjv(validate: ValidateFunction): Validator {
  return (source, path, given) => {
    const value = structuredClone(given)
    if (validate(value)) return { value, diagnostics: [] }
    const errors = retyped(source, path, value, validate.errors ?? []) && validate(value) ? [] : (validate.errors ?? [])
    // A value left empty by an unset variable is reported as such, or switches its record off.
    const missing = new Set(source.missing.map((entry) => entry.path.join('/')))
    const told = errors.filter((error) => !missing.has([...path, ...pointer(error.instancePath)].join('/')))
    return { value, diagnostics: schemaDiagnostics(source, path, told) }
  }
}

/** Converts texts from the environment to the number or boolean that the schema requires. Returns whether it did. */
function retyped(source: Source, base: Path, value: Json, errors: readonly ErrorObject[]): boolean {
  let changed = false
  for (const { keyword, instancePath, params } of errors) {
    const path = pointer(instancePath)
    if (keyword !== 'type' || !source.interpolated([...base, ...path])) continue
    const last = path.pop()
    const parent = path.reduce<Json | undefined>((inside, step) => (inside as JsonObject | undefined)?.[step], value)
    if (last === undefined || parent === undefined) continue
    const holder = parent as Record<string, Json>
    const wanted = typed(holder[last], ([] as string[]).concat(params['type'] as string | string[]))
    if (wanted === undefined) continue
    holder[last] = wanted
    changed = true
  }
  return changed
}

function typed(text: Json | undefined, types: readonly string[]): number | boolean | undefined {
  if (typeof text !== 'string') return undefined
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.some((type) => type === 'number' || type === 'integer') && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return undefined
}

/**
 * The findings of a schema validation, at their positions in the source. `base` is the path of the validated value in
 * that source. Values are never quoted.
 */
function schemaDiagnostics(source: Source, base: Path, errors: readonly ErrorObject[]): Diagnostic[] {
  return schemaProblems(errors).map(({ keyword, path, key, message, hint }) => {
    const place = [...base, ...path.map((step) => (/^\d+$/.test(step) ? Number(step) : step))]
    const inside = key === undefined ? place : [...place, key]
    return keyword === 'additionalProperties'
      ? source.report(inside, keyword, message + hint, 'key')
      : source.report(inside, keyword, message)
  })
}
