import { hkdfSync } from 'node:crypto'
import { pino } from 'pino'
import type { TableQueries } from '../../engine/index.ts'
import { emptyGateway, serviceHost } from '../../engine/live/gateway-host.ts'
import { openDatabase } from '../../engine/store/database.ts'
import { migrateService } from '../../engine/store/migrate-service.ts'
import { Rows } from '../../engine/store/rows.ts'
import audit from '../../plugins/audit/audit.ts'
import type { Audit } from '../../plugins/audit/audit.ts'
import { tablesOf } from './tables.ts'

/** An audit trail on a database, as services of a process see it. */
export interface AuditTrail {
  readonly view: Audit
  readonly database: TableQueries
  /** What it wrote to the process log. */
  readonly lines: readonly string[]
  /** What is degraded. */
  status(): string | undefined
  close(): Promise<void>
}

/** Opens an audit trail with a master secret; its checkpoints stand in `folder`. */
export async function openAudit(
  url: string,
  folder: string,
  secret = 'the secret of this gateway',
): Promise<AuditTrail> {
  const database = await openDatabase(url)
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  await migrateService(database, audit, log)
  const gateway = {
    ...emptyGateway('0'),
    log,
    deriveKey: (info: string) => Buffer.from(hkdfSync('sha256', secret, '', info, 32)),
  }
  const host = serviceHost(gateway, { database, rows: new Rows({ url, log }), folder }, audit)
  const opened = await audit.open?.(host)
  if (opened === undefined) throw new Error('the service is not opened')
  const { view } = (await opened.configure({}, {}, { version: '1', fileVersion: '1' } as never)) as { view: Audit }
  return {
    view,
    database: tablesOf(database),
    lines,
    status: () => opened.status?.(),
    async close() {
      await opened.close?.(0)
      await database.close()
    },
  }
}
