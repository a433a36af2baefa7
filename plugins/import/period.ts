import type { Budget } from '../../engine/index.ts'
import type { Report } from './report.ts'
import { textOf } from './tree.ts'
import type { Node } from './tree.ts'

/** The period of a budget, and what is told if it is not exactly the one that was given. */
export interface ReadPeriod {
  readonly period: Budget['period']
  readonly told?: string
}

const hours: Readonly<Record<string, number>> = { s: 1 / 3600, m: 1 / 60, h: 1, d: 24, w: 168, mo: 720, y: 8760 }

const exact: Readonly<Record<string, Budget['period']>> = {
  '1d': 'day',
  daily: 'day',
  '7d': 'week',
  '1w': 'week',
  weekly: 'week',
  '30d': 'month',
  '1mo': 'month',
  '1M': 'month',
  monthly: 'month',
}

const longer = [
  ['day', 24],
  ['week', 168],
  ['month', 744],
] as const

/**
 * The calendar period for a `budget_duration`, which LiteLLM begins anew at midnight, on Monday and on the first. Any
 * other becomes the next longer one, so that no budget is wider per day than before.
 */
export function periodOf(text: string | undefined): ReadPeriod {
  if (text === undefined) return { period: 'total' }
  const known = Object.hasOwn(exact, text) ? exact[text] : undefined
  if (known !== undefined) return { period: known }
  const [, number = '', unit = ''] = /^(\d{1,6})(s|m|h|d|w|mo|y)$/.exec(text.replace('M', 'mo').replace('Y', 'y')) ?? []
  const length = number === '' ? Infinity : Number(number) * (hours[unit] ?? Infinity)
  const [period = 'total'] = longer.find(([, most]) => length <= most) ?? []
  const until = period === 'total' ? 'for ever: reset the budget of a key by hand' : `per calendar ${period}`
  return { period, told: `the budget counts ${until}` }
}

/** Speaks of the `timezone` in which budgets of LiteLLM begin anew. */
export function readTimezone(node: Node, { report }: { readonly report: Report }): void {
  if (/^(?:Etc\/)?(?:UTC|GMT|Zulu)$/i.test(textOf(node) ?? '')) report.default(node, 'budgets begin anew in UTC')
  else report.changed(node, 'budgets begin anew at midnight in UTC', 'server_config.rate_limits.budget')
}
