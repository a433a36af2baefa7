import { mapMembers } from '../spec/json.ts'
import type { LogRow } from '../spec/store.ts'
import type { RequestsTable } from './tables.ts'

/** A row as it is kept: what a client or a provider may have put into it goes through `scrub`. */
export function requestOf(row: LogRow, scrub: (text: string) => string): RequestsTable {
  return {
    id: row.id,
    at: Math.round(row.at),
    type: row.type,
    key_id: row.keyId,
    requested: row.requested && scrub(row.requested),
    model: row.model,
    provider: row.provider,
    protocol: row.protocol,
    upstream_protocol: row.upstreamProtocol,
    stream: row.stream ? 1 : 0,
    status: row.status,
    result: row.result,
    error: row.error && scrub(row.error),
    attempts: row.attempts,
    input_tokens: count(row.inputTokens),
    cache_read_tokens: count(row.cacheReadTokens),
    cache_write_tokens: count(row.cacheWriteTokens),
    output_tokens: count(row.outputTokens),
    reasoning_tokens: count(row.reasoningTokens),
    cost_micros: count(row.costMicros),
    first_byte: count(row.firstByte),
    duration: Math.round(row.duration),
    reference: row.reference && scrub(row.reference),
    parent: row.parent,
    metadata: JSON.stringify(mapMembers(row.metadata, scrub)) ?? '{}',
  }
}

function count(value: number | null): number | null {
  return Number.isFinite(value) ? Math.round(value as number) : null
}
