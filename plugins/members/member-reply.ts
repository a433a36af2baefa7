import type { JsonObject, RateLimit, Services } from '../../engine/index.ts'
import { answered, budgetStateSchema, rateLimitStateSchema, shape, timeText } from '../../engine/kit.ts'
import { fieldsIn } from './member-body.ts'
import type { MemberRow } from './member-changes.ts'

/** The services that know more of a member than its row. */
export type MemberFacts = Pick<Services, 'api_keys' | 'limits'>

/** JSON Schemas of what a member and his account have in common. */
export const accountFields = {
  id: shape.text('His id.'),
  username: shape.text('His name.'),
  role: shape.word(['admin', 'viewer'], 'What he may do.'),
  must_change_password: shape.flag('Whether he must change the password first.'),
  models: shape.orNull(shape.list({ type: 'string' }, 'Models that he may use; null: all.')),
  rate_limit: rateLimitStateSchema,
  tracing: shape.flag('Whether his requests are traced.'),
  last_login_at: shape.orNull(shape.time('When he last signed in.')),
}

const memberFields = {
  ...accountFields,
  disabled: shape.flag('Whether he can neither sign in nor use his keys.'),
  budget: budgetStateSchema,
  keys: shape.integer('Number of his API keys.'),
  created_at: shape.time('When he was created.'),
  version: shape.integer('The version of his record, from 1.'),
}

/** JSON Schema of a member. */
export const memberShape = shape.object(memberFields)

/** JSON Schema of a member whose password may just have been made. */
export const renewedShape = shape.object(memberFields, {
  temporary_password: shape.text('The password that was made, which is told only here.'),
})

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
export async function answeredMember(
  row: MemberRow,
  facts: MemberFacts,
  { more = {}, ...options }: { readonly more?: JsonObject; readonly location?: string } = {},
) {
  const [member = {}] = await shownMembers([row], facts)
  return answered({ ...member, ...more }, { ...options, version: row.version })
}

/** A rate limit with all its fields. */
export function shownRate(limit: RateLimit | null | undefined): JsonObject | null {
  if (!limit) return null
  const { requests = null, tokens = null, concurrency = null, period } = limit
  return { requests, tokens, concurrency, period }
}
