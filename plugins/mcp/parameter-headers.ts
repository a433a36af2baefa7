import { GatewayError } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { Ingress, Json, JsonObject } from '../../engine/index.ts'
import { toolOf } from './message.ts'
import type { Message } from './message.ts'
import { decodedHeader } from './versions.ts'

/** Beginning of the headers that repeat arguments of a tool. */
export const parameterPrefix = 'mcp-param-'

/** Most tools of a server whose headers are known, most headers of one, and most levels of its schema. */
const [mostTools, mostHeaders, mostLevels] = [5_000, 100, 32]

/** An argument that a header repeats. */
interface Repeated {
  /** Name of the header, in lower case. */
  readonly header: string
  /** Where the argument is. */
  readonly path: readonly string[]
}

/**
 * The headers in which clients of revision 2026-07-28 repeat arguments of a tool, as the schemas of the server declare
 * them with `x-mcp-header` (MCP 2026-07-28, basic/transports). What is in front of the gateway may decide by a header,
 * and the server by the argument, so both must be the same. Only tools whose list has passed here are known.
 */
export class ParameterHeaders {
  readonly #tools = new Map<string, readonly Repeated[]>()

  /** Takes the tools that the server lists. */
  learn(tools: readonly JsonObject[]): void {
    for (const { name, inputSchema } of tools) {
      const repeated = isObject(inputSchema) ? declaredIn(inputSchema, []).slice(0, mostHeaders) : []
      if (repeated.length === 0) this.#tools.delete(name as string)
      else if (this.#tools.size < mostTools || this.#tools.has(name as string))
        this.#tools.set(name as string, repeated)
    }
  }

  /** Throws `header_mismatch` for a header that is not encoded correctly, that is missing, or that differs. */
  check(message: Message, headers: Ingress['headers']): void {
    const given = new Map(
      Object.entries(headers).flatMap(([name, value]) =>
        name.startsWith(parameterPrefix) && value !== undefined ? [[name, decoded(name, String(value))]] : [],
      ),
    )
    const tool = toolOf(message)
    if (message.kind !== 'request' || tool === undefined) return
    for (const { header, path } of this.#tools.get(tool) ?? []) {
      const value = valueAt(message.params['arguments'], path)
      if (!isComparable(value)) continue
      const shown = given.get(header)
      if (shown === undefined) throw mismatch(`${header} is missing`)
      if (!isSame(shown, value)) throw mismatch(`${header} is another value than params.arguments.${path.join('.')}`)
    }
  }
}

/** The declarations of a schema, which are reached by `properties` alone. */
function declaredIn({ properties }: JsonObject, path: readonly string[]): Repeated[] {
  if (!isObject(properties) || path.length >= mostLevels) return []
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (!isObject(schema)) return []
    const here = [...path, name]
    const { 'x-mcp-header': word } = schema
    const own = typeof word === 'string' ? [{ header: `${parameterPrefix}${word.toLowerCase()}`, path: here }] : []
    return [...own, ...declaredIn(schema, here)]
  })
}

function valueAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    value,
  )
}

/** Whether a header can repeat a value. The digits of a larger number are not known here. */
function isComparable(value: Json | undefined): value is string | number | boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  return typeof value === 'string' || typeof value === 'boolean'
}

/** Numbers may be written in several ways, such as 42 and 42.0. */
function isSame(shown: string, value: string | number | boolean): boolean {
  if (typeof value === 'number' && /^-?\d+(?:\.\d+)?$/.test(shown)) return Number(shown) === value
  return shown === String(value)
}

function decoded(name: string, value: string): string {
  const text = decodedHeader(value.trim())
  if (text === undefined) throw mismatch(`${name} is not encoded correctly`)
  return text
}

function mismatch(reason: string): GatewayError {
  return new GatewayError('header_mismatch', { reason })
}
