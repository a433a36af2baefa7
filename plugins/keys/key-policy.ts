import { GatewayError, defineService } from '../../engine/index.ts'
import type { ConfigOf, JsonObject, RateLimit, SqlDialect, TableQueries } from '../../engine/index.ts'
import { duration, durationSchema, isTooShort, isVirtual, tooShort } from '../../engine/kit.ts'
import { covers } from './known-key.ts'
import type { KeyFields, KeyLimits } from './known-key.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  properties: {
    self_service_keys: {
      type: 'boolean',
      title: 'Keys of members',
      default: false,
      description: 'Whether members may create and change API keys of their own.',
    },
    max_keys_per_member: {
      type: 'integer',
      title: 'Keys per member',
      minimum: 1,
      maximum: 10_000,
      default: 10,
      'x-unit': 'keys',
      description: 'Maximum number of active API keys that a member may have created.',
    },
    max_key_life: {
      ...durationSchema,
      type: ['string', 'null'],
      title: 'Longest life of a key',
      default: null,
      description: 'Time within which new API keys must expire, such as 90d; null: they need not expire.',
    },
  },
} as const

type Settings = ConfigOf<typeof settings>

declare module '../../engine/index.ts' {
  interface Services {
    key_policy: Settings
  }
}

/** What the settings say of new keys and of members who make their own. */
export default defineService({
  name: 'key_policy',
  section: 'security',
  summary: 'Whether members may make API keys, how many, and how long a new key may live.',
  settings,
  check({ max_key_life: life }, report) {
    if (isTooShort(life)) report(['max_key_life'], tooShort, 'timeout', 'warning')
  },
})

/** Refuses an expiry of a new key that has passed or is too far away. Throws `invalid_field`. */
export function requireExpiry({ expiresAt }: KeyFields, { max_key_life: life }: Settings): void {
  const now = Date.now()
  const refuse = (reason: string) => new GatewayError('invalid_field', { param: 'expires_at', reason })
  if (expiresAt !== undefined && expiresAt <= now) throw refuse('must be in the future')
  if (life !== null && (expiresAt ?? Infinity) > now + duration(life))
    throw refuse(`must be within ${life}, which is the longest life of a new key`)
}

/** Refuses another key of a member who has as many as he may. Throws `too_many_keys`. */
export async function requireRoom(
  transaction: TableQueries,
  dialect: SqlDialect,
  { owner, most }: { readonly owner: string; readonly most: number },
): Promise<void> {
  if (dialect === 'postgres') {
    const { sql } = await import('kysely')
    // Otherwise keys that are created at the same time would not be counted.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`api_keys ${owner}`}, 0))`.execute(transaction)
  }
  const keys = transaction.selectFrom('api_keys').where('owner', '=', owner).where('revoked_at', 'is', null)
  const { length } = await keys.select('id').limit(most).execute()
  if (length >= most) throw new GatewayError('too_many_keys', { limit: most })
}

/** What a member may use himself. */
export interface OwnLimits {
  readonly models?: ReadonlySet<string>
  readonly budget?: { readonly usd: number }
  readonly rateLimit?: RateLimit
}

/**
 * Refuses fields of a member's own key that exceed what the member may use. What the key leaves open, the member's
 * limits bind anyway. Throws `outside_own_limits`.
 */
export function requireWithin(member: OwnLimits, { models = [], budget, rateLimit }: KeyFields): void {
  const refuse = (param: string) => new GatewayError('outside_own_limits', { param })
  const { models: allowed } = member
  const strange = allowed ? models.findIndex((model) => !isVirtual(model) && !covers(allowed, model)) : -1
  if (strange >= 0) throw refuse(`models[${strange}]`)
  if (budget && member.budget && budget.usd > member.budget.usd) throw refuse('budget.usd')
  if (rateLimit === undefined || member.rateLimit === undefined) return
  for (const kind of ['requests', 'tokens', 'concurrency'] as const)
    if (rateOf(rateLimit, kind) > rateOf(member.rateLimit, kind)) throw refuse(`rate_limit.${kind}`)
}

/** Whether an MCP server is a program on the gateway's machine, by the name of its record. */
export type IsProgram = (name: string) => boolean

/**
 * Refuses a patch, or a new key, with which the owner of a key exceeds what an admin granted it. What the patch does not
 * name stays. Throws `outside_own_limits`.
 */
export function requireGranted(granted: KeyLimits, after: KeyFields, patch: JsonObject, isProgram: IsProgram): void {
  for (const param of beyondGranted(granted, after, isProgram))
    if (Object.hasOwn(patch, /^\w+/.exec(param)?.[0] ?? '')) throw new GatewayError('outside_own_limits', { param })
}

/** The fields in which a key exceeds what was granted. */
function* beyondGranted(granted: KeyLimits, after: KeyFields, isProgram: IsProgram) {
  const { models, budget, rateLimit, mcpServers, expiresAt } = after
  yield* strangersIn('models', granted.models, models, isVirtual)
  if (granted.mcpServers) yield* strangersIn('mcp_servers', granted.mcpServers, mcpServers)
  // An open list opens no program, so that a program's name would widen it.
  else for (const [at, name] of (mcpServers ?? []).entries()) if (isProgram(name)) yield `mcp_servers[${at}]`
  if (granted.budget) {
    if (budget === undefined) yield 'budget'
    // Another period would be another budget, of which nothing is spent.
    else if (budget.period !== granted.budget.period) yield 'budget.period'
    else if (budget.usd > granted.budget.usd) yield 'budget.usd'
  }
  for (const kind of ['requests', 'tokens', 'concurrency'] as const) {
    const most = granted.rateLimit?.[kind] ?? undefined
    if (granted.rateLimit === undefined || most === undefined) continue
    if (rateLimit === undefined) yield 'rate_limit'
    // The same rate over a longer period would admit more at once.
    else if (!((rateLimit[kind] ?? Infinity) <= most) || rateOf(rateLimit, kind) > rateOf(granted.rateLimit, kind))
      yield `rate_limit.${kind}`
  }
  if (granted.expiresAt !== undefined && (expiresAt ?? Infinity) > granted.expiresAt) yield 'expires_at'
}

function* strangersIn(
  field: string,
  granted: readonly string[] | undefined,
  names: readonly string[] | undefined,
  isFree = (_name: string) => false,
) {
  if (granted === undefined) return
  if (names === undefined) yield field
  const allowed = new Set(granted)
  for (const [at, name] of (names ?? []).entries()) if (!isFree(name) && !covers(allowed, name)) yield `${field}[${at}]`
}

/** How much a limit admits per millisecond, or at the same time; `NaN`, which exceeds nothing: as much as wanted. */
function rateOf(limit: RateLimit, kind: 'requests' | 'tokens' | 'concurrency'): number {
  const most = limit[kind] ?? undefined
  if (most === undefined) return Number.NaN
  return kind === 'concurrency' ? most : most / duration(limit.period)
}
