import { createRequire } from 'node:module'
import type * as undici from 'undici'

// The package's index would load its caches, mocks, `fetch` and WebSockets too: some 90 modules of which none is used.
const require = createRequire(import.meta.url)

/** Connections to one origin. */
export const Pool = require('undici/lib/dispatcher/pool.js') as typeof undici.Pool
export type Pool = undici.Pool

/** Makes what opens the connections of a pool. */
export const buildConnector = require('undici/lib/core/connect.js') as typeof undici.buildConnector

/** Errors by their classes. */
export const errors = require('undici/lib/core/errors.js') as typeof undici.errors
