import type { Registry } from '../config/registry.ts'
import { completed, errors } from '../spec/error-table.ts'
import type { DeclaredError, ErrorRow } from '../spec/error-table.ts'
import type { JsonObject } from '../spec/json.ts'

const place = { type: ['string', 'null'], description: 'The place in the request; null: it has none.' } as const
const code = { type: ['string', 'null'], description: 'What is wrong, in one word.' } as const
const message = { type: 'string', description: 'What is wrong, as a sentence.' } as const

/** JSON Schema of the errors of the admin API. */
export const errorSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      additionalProperties: false,
      required: ['message', 'type', 'param', 'code'],
      description: 'The error, or the first of several.',
      properties: { message, type: { type: 'string', description: 'The kind of the error.' }, param: place, code },
    },
    errors: {
      type: 'array',
      description: 'All mistakes in the body, in its order.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['param', 'code', 'message'],
        properties: { param: place, code, message },
      },
    },
  },
}

/** The error codes of the engine and of the plugins of a configuration. */
export type ErrorRows = ReadonlyMap<string, ErrorRow & Pick<DeclaredError, 'refuses'>>

export function rowsOf({ errors: declared }: Pick<Registry, 'errors'>): ErrorRows {
  return new Map([
    ...[...declared].map(([code, row]) => {
      const { refuses } = row
      return [code, { ...completed(row), ...(refuses && { refuses }) }] as const
    }),
    ...Object.entries<ErrorRow>(errors),
  ])
}

/** The responses for error codes, by status; of those that nobody declares, none. */
export function errorResponses(codes: readonly string[], rows: ErrorRows): JsonObject {
  const known = [...new Set(codes)].filter((one) => rows.has(one)).sort()
  const byStatus = Map.groupBy(known, (one) => String(rows.get(one)?.status))
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => {
      const examples = Object.fromEntries(some.map((one) => [one, { $ref: `#/components/examples/${one}` }]))
      const content = { 'application/json': { schema: { $ref: '#/components/schemas/error' }, examples } }
      return [status, { description: some.map((one) => `\`${one}\``).join(', '), content }]
    }),
  )
}

/** An example of each error. */
export function errorExamples(codes: readonly string[], rows: ErrorRows): JsonObject {
  return Object.fromEntries(
    [...new Set(codes)].sort().flatMap((one) => {
      const row = rows.get(one)
      if (row === undefined) return []
      const { message: text, type } = row
      return [[one, { summary: text, value: { error: { message: text, type, param: null, code: one } } }]]
    }),
  )
}
