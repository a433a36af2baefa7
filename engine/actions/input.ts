import { isUtf8 } from 'node:buffer'
import { schemaProblems } from '../config/diagnostics.ts'
import type { SchemaProblem } from '../config/diagnostics.ts'
import { compileSchema } from '../config/validate.ts'
import { repeatedKey } from '../json/reader.ts'
import { GatewayError } from '../spec/error.ts'
import type { Mistake } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { Ingress } from '../spec/slots.ts'
import { clientJson, clientOutline } from '../json/client-json.ts'
import { httpLimits } from '../config/limits.ts'

/** Maximum bytes of a body whose stage allows no more. */
const usualLimit = 1024 * 1024
/** Maximum bytes of the body of a client that is not authenticated. */
const publicLimit = httpLimits.unauthenticated.body
/** Maximum keys per MiB of the limit, levels of a body, and mistakes reported. */
const memberLimit = 100_000
const deepest = 32
const toldMistakes = 50

const json = 'application/json'
/** What a PATCH may call its body as well (RFC 7396). */
const mergePatch = 'application/merge-patch+json'

/** Reads bodies described by a schema. */
export interface InputReader {
  /**
   * The body of a request with defaults filled in; `{}` when it has none. Rejects with `unsupported_media_type` for
   * anything but `application/json` and, in a PATCH, `application/merge-patch+json`; `request_too_large` beyond the
   * limit; `invalid_json`, also for a repeated key; and for a schema violation with all mistakes at once:
   * `missing_field`, `unknown_field`, `invalid_field`.
   * @param known whether its client is authenticated; the body of any other has 8 KiB at most
   */
  read(ingress: Ingress, known: boolean): Promise<JsonObject>
  /** Compiles the validator ahead of the first request. */
  prepare(): void
}

/** @param limit maximum bytes of a body; default: 1 MiB */
export function inputReader(schema: object, limit = usualLimit): InputReader {
  return {
    prepare: () => void compileSchema(schema),
    async read(ingress, known) {
      return checkInput(schema, await readValue(ingress, known ? limit : Math.min(limit, publicLimit)))
    },
  }
}

/**
 * A value that a schema accepts, with its defaults filled in, in place. Throws the error of a body that has mistakes,
 * with all of them. For values that are made of a body, such as a record after a merge patch.
 */
export function checkInput(schema: object, value: Json): JsonObject {
  const valid = compileSchema(schema)
  if (valid(value)) return value as JsonObject
  throw refusal(mistakesOf(schemaProblems(valid.errors ?? []), value))
}

async function readValue(ingress: Ingress, limit: number): Promise<Json> {
  const { transport, headers, method } = ingress
  const type = headers['content-type']
  // A page of another site can send a form without a CORS preflight, but not JSON.
  if (type !== undefined && transport === 'http') accept(type, method)
  const { bytes } = await ingress.body(limit)
  if (bytes.length === 0) return {}
  if (type === undefined && transport === 'http') accept('', method)
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', { reason: 'it is not UTF-8' })
  const text = bytes.toString()
  const members = memberLimit * Math.ceil(limit / usualLimit)
  const found = clientOutline(text, members, undefined, deepest)
  const value = clientJson(text, { found, sent: true }) as Json
  const repeated = repeatedKey(text)
  if (repeated !== undefined)
    throw new GatewayError('invalid_json', { reason: `the key "${shown(repeated)}" stands there twice` })
  return value
}

function accept(type: string, method: string): void {
  const given = type.split(';', 1)[0]?.trim().toLowerCase()
  if (given === json || (given === mergePatch && method === 'PATCH')) return
  throw new GatewayError('unsupported_media_type', { given, expected: json })
}

function refusal(mistakes: readonly Mistake[]): GatewayError {
  const [first = { param: null, code: 'invalid_field', message: 'The body is not valid.' }] = mistakes
  const code = first.code as 'invalid_field'
  const param = first.param === null ? {} : { param: first.param }
  return new GatewayError(code, param, { message: first.message, errors: mistakes.slice(0, toldMistakes) })
}

/** All mistakes in the order of the body; missing fields come after present ones. */
function mistakesOf(problems: readonly SchemaProblem[], body: Json): Mistake[] {
  return problems
    .map((problem) => ({ problem, at: positionOf(problem, body) }))
    .sort((left, right) => compare(left.at, right.at))
    .map(({ problem }) => mistakeOf(problem, body))
}

function mistakeOf({ keyword, path, key, message, hint }: SchemaProblem, body: Json): Mistake {
  if (keyword === 'required' && key !== undefined) {
    const param = place([...path, key], body)
    return { param, code: 'missing_field', message: `${param} is missing.` }
  }
  if (keyword === 'additionalProperties' && key !== undefined) {
    const param = place([...path, key], body)
    return { param, code: 'unknown_field', message: `There is no field ${param}${hint || '.'}` }
  }
  const param = path.length === 0 ? null : place(path, body)
  const end = message.endsWith('?') ? '' : '.'
  return { param, code: 'invalid_field', message: `${param ?? 'The body'} ${message}${end}` }
}

/** The position of a value in the body: one number per level. */
function positionOf({ path, key }: SchemaProblem, body: Json): number[] {
  let inside: Json | undefined = body
  return [...path, ...(key === undefined ? [] : [key])].map((step) => {
    const keys: string[] = typeof inside === 'object' && inside !== null ? Object.keys(inside) : []
    inside = memberOf(inside, step)
    const index = keys.indexOf(step)
    return index < 0 ? Infinity : index
  })
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (const [index, one] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    if (one !== other) return one < other ? -1 : 1
  }
  return left.length - right.length
}

/** `budget`, `usd` becomes `budget.usd`; a list index stands in brackets. */
function place(path: readonly string[], body: Json): string {
  let inside: Json | undefined = body
  let text = ''
  for (const step of path) {
    text += Array.isArray(inside) ? `[${step}]` : `${text === '' ? '' : '.'}${shown(step)}`
    inside = memberOf(inside, step)
  }
  return text
}

function memberOf(value: Json | undefined, step: string): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[])[Number(step)]
  return isObject(value) ? value[step] : undefined
}

/** A name from the client, truncated so that it can be quoted. */
function shown(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}
