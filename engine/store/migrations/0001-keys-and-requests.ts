import type { Migration } from 'kysely/migration'

/** Created the tables of the API keys and of the request log, which now belong to the services that write them. */
export const keysAndRequests: Migration = {
  up: () => Promise.resolve(),
}
