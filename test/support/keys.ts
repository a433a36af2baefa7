import type { Gateway } from '../../engine/gateway.ts'
import type { Database } from '../../engine/store/database.ts'
import { migrateService } from '../../engine/store/migrate-service.ts'
import type { ApiKeys } from '../../plugins/keys/api-keys.ts'
import { KeyStore } from '../../plugins/keys/key-store.ts'
import { migrations } from '../../plugins/keys/table.ts'
import { tablesOf } from './tables.ts'

/** The API keys of a gateway that runs, as its stages see them. */
export function keysOf(engine: Gateway): ApiKeys {
  return engine.live.current.views.of(['api_keys'])['api_keys'] as ApiKeys
}

/** The API keys of a database, as another process sees them. */
export function keyStore(database: Pick<Database, 'query' | 'rows'>): KeyStore {
  return new KeyStore({ rows: database.rows, database: tablesOf(database) })
}

/** Makes the table of API keys where it is not there. */
export function migrateKeys(database: Database): Promise<void> {
  return migrateService(database, { name: 'api_keys', migrations }, { warn: () => undefined })
}
