import type { Migration } from 'kysely/migration'

/** Added a column to the request log, which now belongs to the service that writes it. */
export const parents: Migration = {
  up: () => Promise.resolve(),
}
