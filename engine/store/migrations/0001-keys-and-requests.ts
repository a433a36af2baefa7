import type { Migration } from 'kysely/migration'

/** It made the tables of the API keys and of the request log, which are now the services' that write them. */
export const keysAndRequests: Migration = {
  up: () => Promise.resolve(),
}
