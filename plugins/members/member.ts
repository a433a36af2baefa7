import type { Budget, RateLimit } from '../../engine/index.ts'
import { defined, parsedJson } from '../../engine/kit.ts'
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
  const models = jsonIn(row.models)
  const budget = jsonIn(row.budget)
  const rateLimit = jsonIn(row.rate_limit)
  const isDamaged = [models, budget, rateLimit].includes('damaged')
  return Object.freeze({
    id: row.id,
    username: row.username,
    role: row.role,
    disabled: row.disabled !== 0 || isDamaged,
    mustChangePassword: row.must_change_password !== 0,
    ...defined({
      models: models && new Set(models as string[]),
      budget: budget as Budget | undefined,
      rateLimit: rateLimit as RateLimit | undefined,
    }),
    tracing: row.tracing !== 0,
    sessionVersion: row.session_version,
  })
}

function jsonIn(text: string | null): unknown {
  return text === null ? undefined : (parsedJson(text) ?? 'damaged')
}
