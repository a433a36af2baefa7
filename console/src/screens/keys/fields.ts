import { allowlistSchema, budgetSchema, guardsSchema, rateLimitSchema, withoutNulls } from '../../form/allowances.ts'
import { fieldsOf } from '../../form/schema.ts'
import type { Field, Json, Schema } from '../../form/schema.ts'
import type { Key } from './api.ts'

const name: Schema = {
  type: 'string',
  title: 'Name',
  pattern: '^\\S+$',
  patternErrorMessage: 'must have no spaces',
  description: 'Unique, whatever the case. Without spaces.',
}

const owner: Schema = {
  type: ['string', 'null'],
  title: 'Owner',
  description: 'A member, whose models, budget and limits bind the key, too.',
  'x-names': 'member',
  'x-null': 'Nobody',
}

const others: Readonly<Record<string, Schema>> = {
  models: allowlistSchema('Models', 'model', 'By name or alias. fast, auto and best choose among them.'),
  mcp_servers: allowlistSchema(
    'MCP servers',
    'mcp_server',
    'By name. A program is used by its name alone.',
    'All over HTTP',
  ),
  budget: budgetSchema,
  rate_limit: rateLimitSchema,
  expires_at: {
    type: ['string', 'null'],
    format: 'date-time',
    title: 'Expires at',
    description: 'From then on the key is refused.',
    'x-null': 'Never, or 2026-11-23 14:05',
  },
  tags: {
    type: ['object', 'null'],
    title: 'Tags',
    description: 'Every request of the key carries them in the log, where they can be filtered for.',
    additionalProperties: { type: 'string', maxLength: 200 },
  },
  disabled: { type: 'boolean', title: 'Disabled', description: 'The key is refused for the time being.' },
}

/** What admins alone may set. */
const guards: Readonly<Record<string, Schema>> = {
  guards: guardsSchema('Its requests are judged by these, beside those that judge everything.'),
  guards_off: {
    ...guardsSchema('These do not judge its requests, although they judge all others.'),
    title: 'Guards off',
  },
}

/** The fields of a key that the user may set; a key of a viewer is always his own. */
export const keyFields = (isAdmin: boolean): readonly Field[] =>
  fieldsOf({
    properties: { name, ...(isAdmin ? { owner } : {}), ...others, ...(isAdmin ? guards : {}) },
    required: ['name'],
  })

/** The fields of a key as bodies hold them. */
export function valuesOf({
  name,
  owner,
  models,
  mcp_servers,
  budget,
  rate_limit,
  expires_at,
  tags,
  disabled,
  guards = [],
  guards_off = [],
}: Key): Json {
  return {
    name,
    owner: owner?.id ?? null,
    models,
    mcp_servers,
    budget: budget && { usd: budget.usd, period: budget.period },
    rate_limit: withoutNulls(rate_limit),
    expires_at,
    tags,
    disabled,
    guards,
    guards_off,
  }
}
