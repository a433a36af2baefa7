import { defineStage } from '../../engine/index.ts'
import type { HostStatus, Json } from '../../engine/index.ts'

/** Answers how the process fares. Only `ready` ever answers 503: before the first good configuration and while draining. */
export default defineStage({
  name: 'health',
  summary: 'Answer how the process fares.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      report: {
        enum: ['all', 'ready', 'live'],
        default: 'all',
        description: 'live: the process runs; ready: it takes requests, else 503; all: the same as live, for people.',
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

function wordOf({ draining, degraded, config }: HostStatus): Word {
  if (draining) return 'draining'
  if (config.version === '') return 'starting'
  return degraded.length > 0 || config.error !== undefined ? 'degraded' : 'ok'
}

/** Everybody may read it: what is wrong with a configuration, and where its files are, stands in the log alone. */
function bodyOf(status: Word, { draining, degraded, config: { version, error } }: HostStatus): Json {
  const config = error === undefined ? { version } : { version, error: true }
  return { status, degraded: [...degraded], draining, config }
}
