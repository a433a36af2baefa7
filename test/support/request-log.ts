import { pino } from 'pino'
import type { Configured, JsonObject, OpenService, ServiceConfiguration } from '../../engine/index.ts'
import { emptyGateway, serviceHost } from '../../engine/live/gateway-host.ts'
import type { Database } from '../../engine/store/database.ts'
import { Rows } from '../../engine/store/rows.ts'
import type { RowsOptions } from '../../engine/store/rows.ts'
import requests from '../../plugins/request-log/requests.ts'
import type { Requests } from '../../plugins/request-log/requests.ts'

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
