import type { RequestsTable } from '../../../plugins/request-log/table.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import type { GatewaySettings } from '../../support/gateway.ts'
import type { MadeKey } from '../../../plugins/keys/stored-keys.ts'
import { keysOf } from '../../support/keys.ts'
import { postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'

/** Runs a suite on each database: `settings` opens a new one. */
export function onEachDatabase(suite: (settings: () => Promise<GatewaySettings>) => void): void {
  describe('on SQLite', () => suite(() => Promise.resolve({})))
  describe('on PostgreSQL', () => {
    let url: () => Promise<string>
    before(function () {
      url = async () => (await postgres(this)).url
    })
    suite(async () => ({ database: await url() }))
  })
}

/** When the first row of a test began. */
export const start = Date.UTC(2026, 10, 1, 12)

/** A row that is stored as it is. */
export function rowWith(id: string, fields: Partial<RequestsTable> = {}): RequestsTable {
  return {
    id,
    at: start,
    type: 'chat',
    key_id: null,
    key_name: null,
    member_id: null,
    member_name: null,
    requested: 'small',
    model: 'small',
    provider: 'acme',
    protocol: 'chat',
    upstream_protocol: 'messages',
    stream: 0,
    status: 200,
    result: 'completed',
    error: null,
    attempts: 1,
    input_tokens: 10,
    cache_read_tokens: 1,
    cache_write_tokens: 2,
    output_tokens: 3,
    reasoning_tokens: 4,
    cost_micros: 1_500,
    savings_micros: null,
    first_byte: 20,
    duration: 50,
    reference: null,
    parent: null,
    tier: null,
    tags: null,
    config_version: 'v1',
    ended: start + 50,
    pipeline: null,
    failed_providers: null,
    trace_id: null,
    guarded: null,
    charged_at: null,
    charged_micros: null,
    charged_overrun: null,
    metadata: '{}',
    ...fields,
  }
}

export async function addRows({ engine }: AdminGateway, rows: readonly RequestsTable[]): Promise<void> {
  await tablesOf(engine.database).insertInto('requests').values(rows).execute()
}

export interface LogsGateway extends AdminGateway {
  /** A key of the viewer: its id and its text. */
  readonly own: MadeKey
  /** The ids of a page. */
  ids(query: string): Promise<readonly Json[]>
}

/** A gateway whose viewer has a key. It keeps all rows, however long ago they began, unless its settings say otherwise. */
export async function startLogs(settings: GatewaySettings = {}): Promise<LogsGateway> {
  const gateway = await startAdmin(settings)
  const patch = { retention: '0s', capture_retention: '0s' }
  if (!Object.hasOwn(settings.server_config ?? {}, 'logging'))
    await gateway.engine.live.changeAll(() => [{ kind: 'change', type: 'section', name: 'logging', patch }])
  const own = await keysOf(gateway.engine).create({
    name: 'own',
    owner: gateway.viewer.id,
    tags: { team: 'search' },
  })
  return {
    ...gateway,
    own,
    ids: async (query) => (await page(gateway, query)).map(({ id }) => id ?? null),
  }
}

/** The rows of a page, as the admin sees them. */
export async function page({ asAdmin }: AdminGateway, query: string): Promise<readonly JsonObject[]> {
  const { status, body } = await asAdmin(`GET /api/logs${query}`)
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body['data'] as readonly JsonObject[]
}
