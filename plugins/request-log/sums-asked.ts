import { GatewayError } from '../../engine/index.ts'
import type { Services } from '../../engine/index.ts'
import { printDuration } from '../../engine/kit.ts'
import type { Query } from '../../engine/kit.ts'
import { dimensions, tagIn } from './sums.ts'
import type { Grouping } from './sums.ts'
import type { Cell, SumsQuestion } from './sums-query.ts'

/** The times of a filter, in milliseconds since 1970; `until` is excluded. */
export interface Window {
  readonly since: number
  readonly until: number
}

/**
 * The window of a query, up to now if it does not say. Throws `invalid_field`.
 * @param usual the usual length in milliseconds, or what gives the usual start
 */
export function windowIn(query: Query, usual: number | ((until: number) => number)): Window {
  const until = query.time('until') ?? Date.now()
  const since = query.time('since') ?? (typeof usual === 'number' ? until - usual : usual(until))
  if (since < until) return { since, until }
  throw new GatewayError('invalid_field', { param: 'since', reason: 'must be before until' })
}

/** Throws `window_too_large` for a window that is longer than `longest` milliseconds. */
export function requireWindow({ since, until }: Window, longest: number, what: string): void {
  if (until - since <= longest) return
  throw new GatewayError('window_too_large', { param: 'since', reason: `${what} at most ${printDuration(longest)}` })
}

/**
 * The words of `group_by`, at most `most` different ones, separated by commas: known ones, or `tag:<name>`. Throws
 * `invalid_field`.
 */
export function groupsIn(query: Query, most: number, known: readonly string[] = Object.keys(dimensions)): Grouping[] {
  const text = query.text('group_by') ?? ''
  const words = text === '' ? [] : text.split(',')
  const isKnown = words.every((word) => known.includes(word) || tagIn(word) !== undefined)
  if (isKnown && words.length <= most && new Set(words).size === words.length) return words as Grouping[]
  const reason = `must be at most ${most === 1 ? 'one' : `${most} different ones`} of ${known.join(', ')}, tag:<name>`
  throw new GatewayError('invalid_field', { param: 'group_by', reason })
}

/** The cells of a question. Throws `window_too_large` if there are too many, and `store_unavailable`. */
export async function cellsOf(
  requests: Services['requests'],
  question: Omit<SumsQuestion, 'most'>,
  most = 10_000,
): Promise<readonly Cell[]> {
  const cells = await requests.addedUp({ ...question, most }).catch((cause: unknown) => {
    throw new GatewayError('store_unavailable', {}, { cause })
  })
  if (cells) return cells
  const reason = `more than ${most.toLocaleString('en')} sums; ask for a shorter window, longer intervals or fewer groups`
  throw new GatewayError('window_too_large', { param: 'since', reason })
}
