import { createRequire } from 'node:module'
import type * as undici from 'undici'

// The package's index would load its caches, mocks, `fetch` and WebSockets too: some 90 modules of which none is used.
const require = createRequire(import.meta.url)

/** Connections to one origin. */
export const Pool = require('undici/lib/dispatcher/pool.js') as typeof undici.Pool
export type Pool = undici.Pool

/** Errors by their classes. */
export const errors = require('undici/lib/core/errors.js') as typeof undici.errors
