import type { JsonObject, RateLimit, Reply, Services } from '../../engine/index.ts'
import { jsonReply, timeText } from '../../engine/kit.ts'
import { fieldsIn } from './member-body.ts'
import type { MemberRow } from './member-changes.ts'

/** The services that know more of a member than its row. */
export type MemberFacts = Pick<Services, 'api_keys' | 'limits'>

/** Members for clients, with what is left of their budgets. */
export async function shownMembers(rows: readonly MemberRow[], facts: MemberFacts): Promise<JsonObject[]> {
  const fields = rows.map(fieldsIn)
  const budgeted = rows.flatMap(({ id }, index) => {
    const budget = fields[index]?.budget
    return budget ? [{ id, budget }] : []
  })
  const states = await facts.limits.budgetsOf(
    budgeted.map(({ id, budget }) => [{ kind: 'member' as const, id }, budget] as const),
  )
  const budgets = new Map(budgeted.map(({ id }, index) => [id, { ...states[index] }]))
  return rows.map((row, index) => {
    const { models = null, rate_limit: limit } = fields[index] ?? {}
    return {
      id: row.id,
      username: row.username,
      role: row.role,
      disabled: row.disabled !== 0,
      must_change_password: row.must_change_password !== 0,
      models,
      budget: budgets.get(row.id) ?? null,
      rate_limit: shownRate(limit),
      tracing: row.tracing !== 0,
      keys: facts.api_keys.ownedBy(row.id).length,
      created_at: timeText(row.created_at),
      last_login_at: row.last_login_at === null ? null : timeText(row.last_login_at),
      version: row.version,
    }
  })
}

/** A member as an answer; `more` stands beside the fields. */
export async function memberReply(
  row: MemberRow,
  facts: MemberFacts,
  {
    more = {},
    ...options
  }: { readonly more?: JsonObject; readonly status?: number; readonly headers?: Record<string, string> } = {},
): Promise<Reply> {
  const [member = {}] = await shownMembers([row], facts)
  return jsonReply({ ...member, ...more }, { ...options, version: row.version })
}

/** A rate limit with all its fields. */
export function shownRate(limit: RateLimit | null | undefined): JsonObject | null {
  if (!limit) return null
  const { requests = null, tokens = null, concurrency = null, period } = limit
  return { requests, tokens, concurrency, period }
}
