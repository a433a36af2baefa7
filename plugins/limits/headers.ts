import { timeText } from '../../engine/kit.ts'
import type { Counted, Level } from './counters.ts'
import type { RateRule } from './rules.ts'

/** Shows a limit in the headers of one family of protocols. */
type Show = (counts: Counted, limit: number, level: Level) => readonly (readonly [name: string, value: string])[]

/** `x-ratelimit-*` (platform.openai.com/docs/guides/rate-limits). */
const usual: Show = (counts, limit, { remaining, full }) => {
  const [ofLimit, ofRemaining, ofReset] = names[counts]
  return [
    [ofLimit, String(limit)],
    [ofRemaining, String(Math.max(0, remaining))],
    [ofReset, durationText(full)],
  ]
}

/** Built once: a name that is put together for each answer is hashed for each, too. */
const names = {
  requests: ['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  tokens: ['x-ratelimit-limit-tokens', 'x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
} as const

/** `anthropic-ratelimit-*` (platform.claude.com/docs/en/api/rate-limits). */
const ofMessages: Show = (counts, limit, { remaining, full }) => [
  [`anthropic-ratelimit-${counts}-limit`, String(limit)],
  [`anthropic-ratelimit-${counts}-remaining`, String(Math.max(0, remaining))],
  [`anthropic-ratelimit-${counts}-reset`, timeText(Date.now() + full)],
]

/** The function that shows limits to the clients of a protocol. */
export function shownTo(protocol: string | undefined): Show {
  return protocol === 'messages' || protocol === 'count-tokens' ? ofMessages : usual
}

/**
 * The headers for the limits of a key and its owner: for requests and for tokens those of the one with less left. The
 * figures of the whole gateway are not shown.
 */
export function limitHeaders(
  rules: readonly RateRule[],
  levels: readonly Level[],
  show: Show,
): readonly (readonly [name: string, value: string])[] {
  return [...shown('requests', rules, levels, show), ...shown('tokens', rules, levels, show)]
}

function shown(counts: Counted, rules: readonly RateRule[], levels: readonly Level[], show: Show): ReturnType<Show> {
  let tightest = -1
  for (const [index, rule] of rules.entries()) {
    const level = levels[index]
    if (!level || rule.counts !== counts || rule.kind === 'server') continue
    if (tightest < 0 || level.remaining < (levels[tightest]?.remaining ?? Infinity)) tightest = index
  }
  const [rule, level] = [rules[tightest], levels[tightest]]
  return rule && level ? show(counts, rule.limit, level) : []
}

/** A duration as the vendor writes it: `12ms`, `6.5s`, `1m0s`, `1h2m3s`. */
export function durationText(milliseconds: number): string {
  // Rounded up before the unit is chosen: 59,950 ms are `1m0s`, not `60s`.
  const [whole, tenths] = [Math.ceil(milliseconds), Math.ceil(milliseconds / 100)]
  if (whole < 1_000) return `${whole}ms`
  if (tenths < 600) return `${tenths / 10}s`
  const seconds = Math.ceil(milliseconds / 1_000)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`
}
