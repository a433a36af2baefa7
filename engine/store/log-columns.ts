import { parseJson } from '../json/parse.ts'
import { mapMembers } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import type { LogRow } from '../spec/store.ts'
import type { RequestsTable } from './tables.ts'

/** What a database takes. */
type Stored = string | number | null

/** The columns of the request log, in the order in which a row's values are written down. */
export const columns = [
  'id',
  'at',
  'type',
  'key_id',
  'requested',
  'model',
  'provider',
  'protocol',
  'upstream_protocol',
  'stream',
  'status',
  'result',
  'error',
  'attempts',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_micros',
  'first_byte',
  'duration',
  'reference',
  'parent',
  'metadata',
] as const satisfies readonly (keyof RequestsTable)[]

/** A row without secrets: what a client or a provider may have put into it goes through `scrub`. */
export function scrubbedRow(row: LogRow, scrub: (text: string) => string): LogRow {
  return {
    ...row,
    requested: row.requested && scrub(row.requested),
    error: row.error && scrub(row.error),
    reference: row.reference && scrub(row.reference),
    metadata: mapMembers(row.metadata, scrub) as { readonly [key: string]: Json },
  }
}

/**
 * A row as one line of text, as it waits and crosses to the log's thread: its metadata as JSON, a tab, the values of
 * the other columns as JSON. A short text is cheaper to keep and to copy than objects are, and the database takes the
 * metadata as it stands. Throws on values that JSON cannot hold.
 */
export function lineOf(row: LogRow): string {
  const values: Stored[] = [
    row.id,
    Math.round(row.at),
    row.type,
    row.keyId,
    text(row.requested),
    row.model,
    row.provider,
    row.protocol,
    row.upstreamProtocol,
    row.stream ? 1 : 0,
    row.status,
    row.result,
    text(row.error),
    row.attempts,
    count(row.inputTokens),
    count(row.cacheReadTokens),
    count(row.cacheWriteTokens),
    count(row.outputTokens),
    count(row.reasoningTokens),
    count(row.costMicros),
    count(row.firstByte),
    Math.round(row.duration),
    text(row.reference),
    row.parent,
  ]
  return `${JSON.stringify(row.metadata) ?? '{}'}\t${JSON.stringify(values)}`
}

/** What the columns of a row hold, from its line. */
export function storedOf(line: string): Stored[] {
  // JSON holds no tab that is not escaped.
  const tab = line.indexOf('\t')
  const values = parseJson(line.slice(tab + 1)) as Stored[]
  values.push(line.slice(0, tab))
  return values
}

function count(value: number | null): number | null {
  return Number.isFinite(value) ? Math.round(value as number) : null
}

/** PostgreSQL's text holds neither NUL nor half a character; both come from clients. */
function text(value: string | null): string | null {
  return value === null || (value.isWellFormed() && !value.includes('\0'))
    ? value
    : value.toWellFormed().replaceAll('\0', '\uFFFD')
}
