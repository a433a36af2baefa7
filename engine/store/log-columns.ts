import type { LogRow } from '../spec/store.ts'
import type { RequestsTable } from './tables.ts'

/** What a database takes. */
type Stored = string | number | null
/** A row as the values of its fields, in the order of the columns: it crosses to another thread without their names. */
export type Values = readonly unknown[]

const asItIs = (value: unknown) => value as Stored

/** Each column of the request log, the field of a row that it holds, and how. */
const table: readonly (readonly [keyof RequestsTable, keyof LogRow, (value: unknown) => Stored])[] = [
  ['id', 'id', asItIs],
  ['at', 'at', rounded],
  ['type', 'type', asItIs],
  ['key_id', 'keyId', asItIs],
  ['requested', 'requested', text],
  ['model', 'model', asItIs],
  ['provider', 'provider', asItIs],
  ['protocol', 'protocol', asItIs],
  ['upstream_protocol', 'upstreamProtocol', asItIs],
  ['stream', 'stream', (value) => (value === true ? 1 : 0)],
  ['status', 'status', asItIs],
  ['result', 'result', asItIs],
  ['error', 'error', text],
  ['attempts', 'attempts', asItIs],
  ['input_tokens', 'inputTokens', count],
  ['cache_read_tokens', 'cacheReadTokens', count],
  ['cache_write_tokens', 'cacheWriteTokens', count],
  ['output_tokens', 'outputTokens', count],
  ['reasoning_tokens', 'reasoningTokens', count],
  ['cost_micros', 'costMicros', count],
  ['first_byte', 'firstByte', count],
  ['duration', 'duration', rounded],
  ['reference', 'reference', text],
  ['metadata', 'metadata', (value) => JSON.stringify(value)],
]

/** The names of the columns. */
export const columns: readonly string[] = table.map(([column]) => column)

/** The values of a row, as they are. */
export function valuesOf(row: LogRow): Values {
  return table.map(([, field]) => row[field])
}

/** What the columns of a row hold. */
export function storedOf(values: Values): Stored[] {
  return table.map(([, , stored], index) => stored(values[index]))
}

function rounded(value: unknown): number {
  return Math.round(value as number)
}

function count(value: unknown): number | null {
  return Number.isFinite(value) ? rounded(value) : null
}

/** PostgreSQL's text holds neither NUL nor half a character; both come from clients. */
function text(value: unknown): string | null {
  return value === null ? null : (value as string).toWellFormed().replaceAll('\0', '\uFFFD')
}
