import type { Budget, RateLimit } from '../../engine/index.ts'
import { parsedJson } from '../../engine/kit.ts'
import type { MembersTable } from './table.ts'

/** A person who may sign in. */
export interface Member {
  readonly id: string
  /** In lower case. */
  readonly username: string
  readonly role: 'admin' | 'viewer'
  readonly disabled: boolean
  /** Until the password is changed, the member may do nothing else. */
  readonly mustChangePassword: boolean
  /** Models that the member's keys may use; undefined: all. */
  readonly models?: ReadonlySet<string>
  readonly budget?: Budget
  readonly rateLimit?: RateLimit
  /** Whether the rows of the member's keys get routing diagnostics. */
  readonly tracing: boolean
  /** Sessions with another version have ended. */
  readonly sessionVersion: number
}

/** JSON Schema of a username in a body, in upper or lower case. It is stored in lower case. */
export const usernameSchema = {
  type: 'string',
  title: 'Username',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$',
  patternErrorMessage: 'must be 1 to 64 letters, digits and ".", "_", "@", "+" or "-", with a letter or digit first',
  description: 'Name with which the member signs in; upper case becomes lower case.',
} as const

/** Whether a text has the characters and the length of a username. No other text belongs to a member. */
export function isUsername(text: string): boolean {
  return /^[\w.@+-]{1,64}$/.test(text)
}

/** The columns that a member in memory is made of: neither the password nor what only lists show. */
export const memberColumns = [
  'id',
  'username',
  'role',
  'disabled',
  'must_change_password',
  'models',
  'budget',
  'rate_limit',
  'tracing',
  'session_version',
] as const

/** The member of a row. One with a damaged column is disabled: damage must not extend anybody's rights. */
export function memberOf(row: Pick<MembersTable, (typeof memberColumns)[number]>): Member {
  const models = jsonIn(row.models) as readonly string[] | null | undefined
  const budget = jsonIn(row.budget) as Budget | null | undefined
  const rateLimit = jsonIn(row.rate_limit) as RateLimit | null | undefined
  const isDamaged = models === null || budget === null || rateLimit === null
  return Object.freeze({
    id: row.id,
    username: row.username,
    role: row.role,
    disabled: row.disabled !== 0 || isDamaged,
    mustChangePassword: row.must_change_password !== 0,
    ...(models && { models: new Set(models) }),
    ...(budget && { budget }),
    ...(rateLimit && { rateLimit }),
    tracing: row.tracing !== 0,
    sessionVersion: row.session_version,
  })
}

/** The value of a column; undefined: it is empty; null: it cannot be read. What is written there was checked before. */
function jsonIn(text: string | null): unknown {
  return text === null ? undefined : (parsedJson(text) ?? null)
}
