import type { Migration } from 'kysely/migration'
import { keysAndRequests } from './0001-keys-and-requests.ts'
import { keyValues } from './0002-key-values.ts'
import { keyValueAccounts } from './0003-key-value-accounts.ts'
import { parents } from './0004-parents.ts'
import { serviceMigrations } from './0005-service-migrations.ts'
import { records } from './0006-records.ts'
import { recordNotes } from './0007-record-notes.ts'
import { masterSecrets } from './0008-master-secrets.ts'
import { deletedRecords } from './0009-deleted-records.ts'
import { writtenBatches } from './0010-written-batches.ts'

/** Every migration by name, in order. A released name never changes. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-keys-and-requests': keysAndRequests,
  '0002-key-values': keyValues,
  '0003-key-value-accounts': keyValueAccounts,
  '0004-parents': parents,
  '0005-service-migrations': serviceMigrations,
  '0006-records': records,
  '0007-record-notes': recordNotes,
  '0008-master-secrets': masterSecrets,
  '0009-deleted-records': deletedRecords,
  '0010-written-batches': writtenBatches,
}
