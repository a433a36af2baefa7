import { mapMembers } from '../../engine/kit.ts'
import type { Json, Lap, StagePlace } from '../../engine/index.ts'
import type { Charge } from './row-charges.ts'
import type { RequestsTable } from './table.ts'

/** The row of an exchange. Times in milliseconds, tokens in disjoint buckets, money in micro-USD. */
export interface LogRow {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly type: string
  readonly keyId: string | null
  readonly keyName: string | null
  /** The member who owns the key, or sent the request. */
  readonly memberId: string | null
  readonly memberName: string | null
  /** The requested model, and the one that served. */
  readonly requested: string | null
  readonly model: string | null
  readonly provider: string | null
  readonly protocol: string | null
  readonly upstreamProtocol: string | null
  readonly stream: boolean
  readonly status: number
  readonly result: Result
  readonly error: string | null
  readonly attempts: number
  readonly inputTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly outputTokens: number | null
  readonly reasoningTokens: number | null
  /** Null: the price or the usage is unknown. */
  readonly costMicros: number | null
  /** What smart routing saved, negative if it cost more; null: the request was not routed. */
  readonly savingsMicros: number | null
  readonly firstByte: number | null
  readonly duration: number
  readonly reference: string | null
  /** Id of the exchange that this one is a part of. */
  readonly parent: string | null
  /** Tier of a request that was routed to one of several models. */
  readonly tier: string | null
  /** Providers that failed it, also where another one answered; undefined: none did. */
  readonly failedProviders: readonly string[] | undefined
  /** The trace that the exchange is a part of: 32 hexadecimal digits. */
  readonly traceId: string | null
  /** The strongest of what guards did; null: nothing. */
  readonly guarded: string | null
  /** Tags of the key. */
  readonly tags: Readonly<Record<string, string>> | undefined
  /** When the row was made, in milliseconds since 1970. */
  readonly ended: number
  /** The pipeline that served the exchange. */
  readonly pipeline: string
  readonly laps: readonly Lap[]
  /** Losses, times per stage, notes. */
  readonly metadata: { readonly [key: string]: Json }
}

/** How an exchange ended. `refused`: the gateway rejected the request before it asked a provider. */
export type Result = 'completed' | 'client_closed' | 'refused' | 'failed'

/**
 * A run of a stage as it is stored: its path, its start and its duration in microseconds, its try (absent or 0: none),
 * and its outcome unless it is `ok`.
 */
export type StoredLap = readonly [string, number, number, number?, Lap['outcome']?]

/**
 * A row as it is stored. Values of a client or a provider pass through `scrub`.
 * @param configVersion version of the configuration that served the exchange
 */
export function columnsOf(
  row: LogRow,
  charge: Charge | undefined,
  configVersion: string,
  scrub: (text: string) => string,
): RequestsTable {
  return {
    id: row.id,
    at: Math.round(row.at),
    type: row.type,
    key_id: row.keyId,
    key_name: row.keyName,
    member_id: row.memberId,
    member_name: row.memberName,
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
    tier: row.tier,
    tags: row.tags ? scrub(JSON.stringify(row.tags)) : null,
    config_version: configVersion,
    ended: Math.round(row.ended),
    savings_micros: count(row.savingsMicros),
    pipeline: row.pipeline,
    failed_providers: row.failedProviders ? JSON.stringify(row.failedProviders) : null,
    trace_id: row.traceId,
    guarded: row.guarded,
    charged_at: charge?.at ?? null,
    charged_micros: charge?.micros ?? null,
    charged_overrun: charge?.overrun ?? null,
    metadata: metadataOf(row, scrub),
  }
}

/** Most runs of stages in a row: there may be any number of tries. */
const keptLaps = 200

/** The names of stages come from the configuration, so they are not scrubbed. */
function metadataOf({ metadata, laps }: LogRow, scrub: (text: string) => string): string {
  const text = JSON.stringify(mapMembers(metadata, scrub)) ?? '{}'
  return laps.length === 0 ? text : withLaps(text, laps)
}

/** Milliseconds, to the microsecond. */
export function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

/**
 * An object as JSON, to which the runs are added as `StoredLap`. They are most of the text of a row, so it is printed by
 * hand, digit by digit into one buffer: an array of parts would take three times the memory.
 */
function withLaps(object: string, laps: readonly Lap[]): string {
  let end = 0
  const print = (text: string) => {
    if (end + 3 * text.length > page.length) page = Buffer.concat([page], 2 * page.length + 3 * text.length)
    end += page.write(text, end)
  }
  print(object)
  // The last brace comes after the runs.
  end--
  print(object === '{}' ? '"laps":[' : ',"laps":[')
  const last = Math.min(laps.length, keptLaps)
  for (let index = 0; index < last; index++) {
    const { stage, at, milliseconds, attempt = 0, outcome } = laps[index] as Lap
    print(headOf(stage))
    if (end + 2 * longest > page.length) page = Buffer.concat([page], 2 * page.length)
    end = printCount(Math.round(at * 1000), end)
    page[end++] = comma
    end = printCount(Math.round(milliseconds * 1000), end)
    if (outcome !== 'ok') print(`,${attempt},"${outcome}"`)
    else if (attempt !== 0) print(attempt === 1 ? ',1' : `,${attempt}`)
    print(index < last - 1 ? '],' : ']')
  }
  print(']}')
  return page.toString('utf8', 0, end)
}

/** The text of the row that is being printed. */
let page = Buffer.alloc(16 * 1024)

const comma = 0x2c
const zero = 0x30
/** Digits of the largest safe integer, a sign and a comma. */
const longest = 18

/** Prints a whole number at `start`; returns where it ends. */
function printCount(value: number, start: number): number {
  if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) return start + page.write(JSON.stringify(value), start)
  let end = start + 1
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) end++
  for (let at = end - 1, rest = value; at >= start; at--, rest = Math.floor(rest / 10)) page[at] = zero + (rest % 10)
  return end
}

const heads = new WeakMap<StagePlace, string>()

function headOf(stage: StagePlace): string {
  let head = heads.get(stage)
  if (head === undefined) heads.set(stage, (head = `[${JSON.stringify(stage.path)},`))
  return head
}

/** A whole number that a column takes, whatever a provider has reported: a row that is refused loses its charge. */
function count(value: number | null): number | null {
  if (!Number.isFinite(value)) return null
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.round(value as number)))
}
