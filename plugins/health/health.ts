import { defineStage } from '../../engine/index.ts'
import type { HostStatus, Json } from '../../engine/index.ts'

/**
 * Reports the health of the process. Only `ready` answers 503: before the first valid configuration, until all
 * processes serve, and while draining.
 */
export default defineStage({
  name: 'health',
  summary: 'Report the health of the process.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      report: {
        enum: ['all', 'ready', 'live'],
        default: 'all',
        description:
          'live: the process runs; ready: it accepts requests, otherwise 503; all: the same as live, for people.',
      },
    },
  } as const,
  needs: [],
  provides: ['reply'],
  build:
    ({ report }, { status }) =>
    () => {
      const word = wordOf(status)
      const refused = report === 'ready' && (word === 'draining' || word === 'starting')
      return {
        reply: {
          status: refused ? 503 : 200,
          headers: { 'cache-control': 'no-store' },
          body: { kind: 'json', value: bodyOf(word, status) },
        },
      }
    },
})

type Word = 'ok' | 'degraded' | 'draining' | 'starting'

function wordOf({ draining, starting, degraded, config }: HostStatus): Word {
  if (draining) return 'draining'
  if (config.version === '' || starting) return 'starting'
  return degraded.length > 0 || config.error !== undefined ? 'degraded' : 'ok'
}

/** This response is public, so errors of the configuration and paths of its files appear only in the log. */
function bodyOf(status: Word, { draining, degraded, config: { version, error } }: HostStatus): Json {
  const config = error === undefined ? { version } : { version, error: true }
  return { status, degraded: [...degraded], draining, config }
}
