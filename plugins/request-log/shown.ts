import type { Json, JsonObject, Services } from '../../engine/index.ts'
import { isObject, parsedObject, timeText } from '../../engine/kit.ts'
import type { ListedRow } from './find.ts'
import { spansOf, timesOf } from './spans.ts'
import type { Span } from './spans.ts'
import type { RequestsTable } from './table.ts'

/** A request as it stands in a list. Money in USD, times in milliseconds. */
export function listItem(row: ListedRow): JsonObject {
  return {
    id: row.id,
    at: timeText(row.at),
    type: row.type,
    key: row.key_id === null ? null : { id: row.key_id, name: row.key_name ?? row.key_id.replace(/^file:/, '') },
    member: row.member_id === null ? null : { id: row.member_id, username: row.member_name },
    requested: row.requested,
    model: row.model,
    provider: row.provider,
    protocol: row.protocol,
    upstream_protocol: row.upstream_protocol,
    stream: row.stream === 1,
    status: row.status,
    result: row.result,
    error: row.error,
    attempts: row.attempts,
    usage: usageOf(row),
    cost: usd(row.cost_micros),
    first_byte_ms: row.first_byte,
    duration_ms: row.duration,
    reference: row.reference,
    tier: row.tier,
    tags: (row.tags === null ? undefined : parsedObject(row.tags)) ?? {},
    parent: row.parent,
  }
}

/** Tokens in disjoint buckets, and their sum; null: unknown. */
function usageOf(row: ListedRow): Json {
  const { input_tokens: input, output_tokens: output } = row
  if (input === null || output === null) return null
  const buckets = {
    input,
    cache_read: row.cache_read_tokens ?? 0,
    cache_write: row.cache_write_tokens ?? 0,
    output,
    reasoning: row.reasoning_tokens ?? 0,
  }
  return { ...buckets, total: Object.values(buckets).reduce((sum, tokens) => sum + tokens, 0) }
}

function usd(micros: number | null): number | null {
  return micros === null ? null : micros / 1_000_000
}

type Label = NonNullable<Awaited<ReturnType<Services['routing_records']['label']>>>

/** All of a request but its captured bodies. */
export function detail(row: RequestsTable, children: readonly ListedRow[], label: Label | undefined): JsonObject {
  const metadata = parsedObject(row.metadata) ?? {}
  const { times: _times, laps: _laps, tries, losses, routing, charged, headers, address, ...notes } = metadata
  const { error_message: message, error_at: at, upstream_id: id, upstream_model: model, stop, ...others } = notes
  const spans = spansOf(metadata)
  return {
    ...listItem(row),
    times: timesOf(metadata),
    spans,
    losses: losses ?? [],
    tries: triesOf(row, tries, spans),
    routing: routing ?? null,
    upstream:
      id === undefined && model === undefined && stop === undefined
        ? null
        : { id: id ?? null, model: model ?? null, stop: stop ?? null },
    error_detail: message === undefined && at === undefined ? null : { message: message ?? null, at: at ?? null },
    headers: headers ?? {},
    address: address ?? null,
    config_version: row.config_version,
    children: children.map((child) => ({ id: child.id, type: child.type, cost: usd(child.cost_micros) })),
    charged: charged ?? [],
    feedback: label ? { signal: label.signal, comment: label.comment, at: timeText(label.at) } : null,
    metadata: row.pipeline === null ? others : { ...others, pipeline: row.pipeline },
  }
}

/** Every try, the one that served included. */
function triesOf(row: RequestsTable, noted: Json | undefined, spans: readonly Span[]): Json {
  const failed = Array.isArray(noted) ? noted.filter(isObject) : []
  const serving: JsonObject = { model: row.model, provider: row.provider, status: row.status }
  const all = failed.length < row.attempts ? [...failed, serving] : failed
  return all.map(({ model = null, provider = null, status = null, code = null, duration_ms: took }, index) => {
    const own = spans.filter(({ attempt }) => attempt === index + 1)
    const sum = own.reduce((total, span) => total + span.duration_ms, 0)
    return { model, provider, status, error: code, duration_ms: took ?? Math.round(sum * 1000) / 1000 }
  })
}
