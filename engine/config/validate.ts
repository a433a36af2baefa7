import { hash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { FormatsPlugin } from 'ajv-formats'
import type * as ajv from 'ajv/dist/2020.js'
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { duration, isDuration } from '../spec/duration.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { pointer, schemaProblems } from './diagnostics.ts'
import type { Diagnostic, Path } from './diagnostics.ts'
import { prepared } from './prepared.ts'
import type { Keywords } from './prepared.ts'
import type { Source } from './source.ts'

/** Validates a value. Returns it with defaults filled in, and the findings; the given value does not change. */
export type Validator = (source: Source, path: Path, value: Json) => { value: Json; diagnostics: Diagnostic[] }

const require = createRequire(import.meta.url)

/**
 * Keywords that tell others something: what a text names, where a setting is, of which type of records the fields of an
 * object are, the unit of a number, messages.
 */
const notes = ['x-names', 'x-setting', 'x-place', 'x-record', 'x-unit'].concat(
  ['pattern', 'anyOf', 'required'].map((word) => `${word}ErrorMessage`),
)

/**
 * Bounds of a duration, whose pattern reports any other text, and most decimals of an amount: `multipleOf` computes
 * with binary numbers, which miss most decimal ones.
 */
const keywords: Keywords = {
  minimum: (value: string, limit: string) => !isDuration(value) || duration(value) >= duration(limit),
  maximum: (value: string, limit: string) => !isDuration(value) || duration(value) <= duration(limit),
  decimals: (value: number, limit: number) => Number(value.toFixed(limit)) === value,
}

/** A compiler of schemas. The library is loaded on first use: a package brings validators of the schemas it ships. */
function schemaCompiler(options: ajv.Options): ajv.Ajv2020 {
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof ajv
  // The meta-schema takes longer to compile than any other schema, so only schemas of plugins are checked with it
  // (`proveSchema`). Each validator is made once: optimizing its code takes longer than it saves.
  return new Ajv2020({ ownProperties: true, validateSchema: false, code: { optimize: false }, ...options })
}

/**
 * The validator of a schema that the package brings, if it does.
 * @param use the compiler whose options it was made with
 */
function preparedValidator(use: 'settings' | 'body', schema: object): ValidateFunction | undefined {
  return prepared.validators[hash('sha256', `${use} ${JSON.stringify(schema)}`)]?.(schema, keywords, require)
}

const withFormats = (compiler: ajv.Ajv2020) =>
  (require('ajv-formats') as { readonly default: FormatsPlugin }).default(compiler)

let strict: ajv.Ajv2020 | undefined
const strictCompiler = () => (strict ??= makeStrict())

function makeStrict(): ajv.Ajv2020 {
  const { _, Name } = require('ajv/dist/2020.js') as typeof ajv
  const options = { allErrors: true, useDefaults: true, strictRequired: false, allowUnionTypes: true, verbose: true }
  const made = withFormats(schemaCompiler({ strict: true, ...options }))
  for (const keyword of notes) made.addKeyword({ keyword, schemaType: 'string' })
  for (const keyword of ['x-inputs', 'x-gives'])
    made.addKeyword({
      keyword,
      schemaType: 'array',
      code({ schema }) {
        if (!(schema as Json[]).every((slot) => typeof slot === 'string'))
          throw new Error(`${keyword} must be names of slots`)
      },
    })
  for (const word of ['minimum', 'maximum', 'decimals'] as const)
    made.addKeyword({
      keyword: `x-${word}`,
      ...(word === 'decimals' ? { type: 'number', schemaType: 'number' } : { type: 'string', schemaType: 'string' }),
      error: { message: `must pass "x-${word}"`, params: ({ schema }) => _`{limit: ${schema as string | number}}` },
      code(given) {
        const holds = given.gen.scopeValue('func', { ref: keywords[word], code: _`keywords.${new Name(word)}` })
        given.fail(_`!${holds}(${given.data}, ${given.schema as string | number})`)
      },
    })
  return made
}

/**
 * Compiles a JSON Schema (draft 2020-12) for configuration: strict mode, defaults filled in, all errors reported.
 * Custom keywords: `x-names` marks a text that is a name; `x-inputs` and `x-gives` list the slots that a named pipeline
 * is handed and must give; `x-setting` is the setting that gives an option that a pipeline does not write; `x-place` is
 * the place of a setting in the file, such as `mcp.commands`, if no section can have it; `x-minimum` and `x-maximum`
 * are bounds of a duration; `x-decimals` is the most decimals of a number; `patternErrorMessage`, `anyOfErrorMessage`
 * and `requiredErrorMessage` describe a `pattern`, an `anyOf` and what is missing in words.
 * @param schema must pass `proveSchema`; compiled schemas are cached by identity
 */
export function validator(schema: object): Validator {
  return fromAjv(compileSchema(schema))
}

/** Throws when a schema for `validator` or `compileSchema` is invalid. */
export function proveSchema(schema: object): void {
  void strictCompiler().validateSchema(schema, true)
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
  const made = preparedValidator('settings', schema) ?? strictCompiler().compile(schema)
  // Ajv caches compiled schemas forever; those of reloaded plugins must be collectable.
  strict?.removeSchema(schema)
  compiled.set(schema, made)
  return made
}

let quick: ajv.Ajv2020 | undefined
const quickly = new WeakMap<object, ValidateFunction>()

/**
 * Compiles a JSON Schema for bodies of requests, once: lenient about the schema, without formats and defaults. The
 * returned function stops at the first error.
 */
export function compileForBodies(schema: object): ValidateFunction {
  const known = quickly.get(schema)
  if (known) return known
  // A number too large for JavaScript is parsed as Infinity, which no field accepts.
  const options = { strict: false, strictNumbers: true, validateFormats: false }
  const made = preparedValidator('body', schema) ?? (quick ??= schemaCompiler(options)).compile(schema)
  quickly.set(schema, made)
  return made
}

let lenient: ajv.Ajv2020 | undefined
const branches = new WeakMap<object, ValidateFunction>()

/** Whether a part of a schema accepts a value; true if the part needs another part (`$ref`) to decide. */
export function fits(part: object | boolean, value: Json): boolean {
  if (typeof part === 'boolean') return part
  let validate = branches.get(part)
  if (!validate) {
    // The `type` that strict mode requires may be in the surrounding schema.
    lenient ??= withFormats(schemaCompiler({ strict: false, useDefaults: true }))
    try {
      validate = lenient.compile(part)
    } catch (error) {
      if (error instanceof Error && 'missingRef' in error) return true
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
