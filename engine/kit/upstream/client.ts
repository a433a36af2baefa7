import { createRequire } from 'node:module'
import type * as undici from 'undici'

// The index of the package would also load its caches, mocks, `fetch` and WebSockets: some 90 modules, none of them
// used.
const require = createRequire(import.meta.url)

/** Connections to one origin. */
export const Pool = require('undici/lib/dispatcher/pool.js') as typeof undici.Pool
export type Pool = undici.Pool

/** Creates the connector of a pool. */
export const buildConnector = require('undici/lib/core/connect.js') as typeof undici.buildConnector

/** Error classes of the client. */
export const errors = require('undici/lib/core/errors.js') as typeof undici.errors
