import type { Scope } from '../../engine/index.ts'
import { timeText } from '../../engine/kit.ts'
import type { Counted, Level } from './counters.ts'
import type { RateRule } from './rules.ts'

/** Shows a limit in the headers of one family of protocols. */
type Show = (counts: Counted, limit: number, level: Level, scope: Pick<Scope, 'header'>) => void

/** `x-ratelimit-*` (platform.openai.com/docs/guides/rate-limits). */
const usual: Show = (counts, limit, { remaining, full }, scope) => {
  const { ofLimit, ofRemaining, ofReset } = names[counts]
  scope.header(ofLimit, String(limit))
  scope.header(ofRemaining, String(Math.max(0, remaining)))
  scope.header(ofReset, durationText(full))
}

/** Built once: a name that is put together for each answer is hashed for each, too. */
const names = {
  requests: {
    ofLimit: 'x-ratelimit-limit-requests',
    ofRemaining: 'x-ratelimit-remaining-requests',
    ofReset: 'x-ratelimit-reset-requests',
  },
  tokens: {
    ofLimit: 'x-ratelimit-limit-tokens',
    ofRemaining: 'x-ratelimit-remaining-tokens',
    ofReset: 'x-ratelimit-reset-tokens',
  },
} as const

/** `anthropic-ratelimit-*` (platform.claude.com/docs/en/api/rate-limits). */
const ofMessages: Show = (counts, limit, { remaining, full }, scope) => {
  scope.header(`anthropic-ratelimit-${counts}-limit`, String(limit))
  scope.header(`anthropic-ratelimit-${counts}-remaining`, String(Math.max(0, remaining)))
  scope.header(`anthropic-ratelimit-${counts}-reset`, timeText(Date.now() + full))
}

/** The function that shows limits to the clients of a protocol. */
export function shownTo(protocol: string | undefined): Show {
  return protocol === 'messages' || protocol === 'count-tokens' ? ofMessages : usual
}

/**
 * Adds the headers for the limits of a key and its owner: for requests and for tokens those of the one with less left.
 * The figures of the whole gateway are not shown.
 */
export function showLevels(
  rules: readonly RateRule[],
  levels: readonly Level[],
  show: Show,
  scope: Pick<Scope, 'header'>,
): void {
  for (const counts of shown) {
    let tightest = -1
    for (let index = 0; index < rules.length; index++) {
      const rule = rules[index]
      const level = levels[index]
      if (!level || rule?.counts !== counts || rule.kind === 'server') continue
      if (tightest < 0 || level.remaining < (levels[tightest]?.remaining ?? Infinity)) tightest = index
    }
    const rule = rules[tightest]
    const level = levels[tightest]
    if (rule && level) show(counts, rule.limit, level, scope)
  }
}

const shown = ['requests', 'tokens'] as const

/** A duration as the vendor writes it: `12ms`, `6.5s`, `1m0s`, `1h2m3s`. */
export function durationText(milliseconds: number): string {
  // Rounded up before the unit is chosen: 59,950 ms are `1m0s`, not `60s`.
  const whole = Math.ceil(milliseconds)
  const tenths = Math.ceil(milliseconds / 100)
  if (whole < 1_000) return `${whole}ms`
  if (tenths < 600) return `${tenths / 10}s`
  const seconds = Math.ceil(milliseconds / 1_000)
  const hours = Math.floor(seconds / 3_600)
  const minutes = Math.floor(seconds / 60) % 60
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`
}
