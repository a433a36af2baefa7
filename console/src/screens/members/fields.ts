import { allowlistSchema, budgetSchema, rateLimitSchema, withoutNulls } from '../../form/allowances.ts'
import { fieldsOf } from '../../form/schema.ts'
import type { Field, Json, Schema } from '../../form/schema.ts'
import type { Member } from './api.ts'
import { words } from './words.ts'

const hints = words.fields

const name: Schema = { type: 'string', title: 'Username', description: hints.username }

const role: Schema = { enum: ['admin', 'viewer'], title: 'Role', default: 'viewer', description: hints.role }

const password: Schema = { type: 'string', title: 'Password', writeOnly: true, description: hints.password }

const rights: Readonly<Record<string, Schema>> = {
  models: allowlistSchema('Models', 'model', hints.models),
  budget: budgetSchema,
  rate_limit: rateLimitSchema,
  disabled: { type: 'boolean', title: 'Disabled', description: hints.disabled },
}

export const newFields: readonly Field[] = fieldsOf({
  properties: { username: name, role, password, ...rights },
  required: ['username'],
})

export const fields: readonly Field[] = fieldsOf({
  properties: { username: name, role, ...rights },
  required: ['username'],
})

/** The fields of a member as bodies hold them. */
export const valuesOf = ({ username, role: given, models, budget, rate_limit: limit, disabled }: Member): Json => ({
  username,
  role: given,
  models,
  budget: budget && { usd: budget.usd, period: budget.period },
  rate_limit: withoutNulls(limit),
  disabled,
})
