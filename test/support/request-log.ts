import { pino } from 'pino'
import type { Configured, JsonObject, OpenService, ServiceConfiguration } from '../../engine/index.ts'
import { emptyGateway, serviceHost } from '../../engine/live/gateway-host.ts'
import type { Database } from '../../engine/store/database.ts'
import { Rows } from '../../engine/store/rows.ts'
import type { RowsOptions } from '../../engine/store/rows.ts'
import requests from '../../plugins/request-log/requests.ts'
import type { Requests } from '../../plugins/request-log/requests.ts'
import type { LogRow } from '../../plugins/request-log/row.ts'

/** The request log on a database that has its table, as the stages of a gateway see it, and what its rows go through. */
export interface RequestLog {
  readonly view: Requests
  readonly rows: Rows
}

export function openRequestLog(
  database: Database,
  options: Partial<RowsOptions & { readonly scrub: (text: string) => string }> = {},
): RequestLog {
  const { scrub = (text) => text, log = pino({ level: 'silent' }), ...others } = options
  const rows = new Rows({ url: database.url, log, ...others })
  const open = requests.open?.(
    serviceHost({ ...emptyGateway('0'), log, scrub }, { database, rows, folder: '' }, requests),
  )
  const configured = open as OpenService<JsonObject, Requests, object>
  const { view } = configured.configure({}, {}, { version: 'v1' } as ServiceConfiguration) as Configured<Requests>
  return { view, rows }
}

/** The row of an exchange with a value in every column. */
export function logRow(id: string, changes: Partial<LogRow> = {}): LogRow {
  return {
    id,
    at: 1_700_000_000_000,
    type: 'chat',
    keyId: 'k',
    keyName: 'app',
    memberId: 'm-1',
    memberName: 'ann',
    requested: 'small',
    model: 'small-1',
    provider: 'p',
    protocol: 'chat',
    upstreamProtocol: 'messages',
    stream: true,
    status: 200,
    result: 'completed',
    error: null,
    attempts: 1,
    inputTokens: 10,
    cacheReadTokens: 1,
    cacheWriteTokens: 2,
    outputTokens: 3,
    reasoningTokens: 4,
    costMicros: 42,
    savingsMicros: -7,
    firstByte: 12.4,
    duration: 99.6,
    reference: 'r-1',
    parent: 'p-1',
    tier: 'SIMPLE',
    tags: { team: 'a' },
    ended: 1_700_000_000_100,
    pipeline: 'chat-completions',
    failedProviders: undefined,
    traceId: '0af7651916cd43dd8448eb211c80319c',
    guarded: null,
    laps: [],
    metadata: { times: { call: 90.5 } },
    ...changes,
  }
}
