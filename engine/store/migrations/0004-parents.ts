import type { Migration } from 'kysely/migration'

/** It added a column to the request log, which is now the service's that writes it. */
export const parents: Migration = {
  up: () => Promise.resolve(),
}
