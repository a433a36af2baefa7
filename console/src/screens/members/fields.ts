import { allowlistSchema, budgetSchema, rateLimitSchema, withoutNulls } from '../../form/allowances.ts'
import { fieldsOf } from '../../form/schema.ts'
import type { Field, Json, Schema } from '../../form/schema.ts'
import type { Member } from './api.ts'
import { words } from './words.ts'

const hints = words.fields

const name: Schema = { type: 'string', title: 'Username', description: hints.username }

const role: Schema = { enum: ['admin', 'viewer'], title: 'Role', default: 'viewer', description: hints.role }

const password: Schema = { type: 'string', title: 'Password', writeOnly: true, description: hints.password }

const current: Schema = { type: 'string', title: words.yourPassword, writeOnly: true, description: hints.current }

const rights: Readonly<Record<string, Schema>> = {
  models: allowlistSchema('Models', 'model', hints.models),
  budget: budgetSchema,
  rate_limit: rateLimitSchema,
  disabled: { type: 'boolean', title: 'Disabled', description: hints.disabled },
}

/** The fields of a form. Whoever makes an admin repeats their own password. */
const formWith = (properties: Readonly<Record<string, Schema>>) => ({
  usual: fieldsOf({ properties: { username: name, role, ...properties }, required: ['username'] }),
  admin: fieldsOf({
    properties: { username: name, role, current_password: current, ...properties },
    required: ['username', 'current_password'],
  }),
})

const forms = { added: formWith({ password, ...rights }), changed: formWith(rights) }

/** The fields of a form whose Save would send `body`. */
export const fieldsFor = (form: keyof typeof forms, body: { readonly [name: string]: Json }): readonly Field[] =>
  forms[form][body['role'] === 'admin' ? 'admin' : 'usual']

/** The fields of a member as bodies hold them. */
export const valuesOf = ({ username, role: given, models, budget, rate_limit: limit, disabled }: Member): Json => ({
  username,
  role: given,
  models,
  budget: budget && { usd: budget.usd, period: budget.period },
  rate_limit: withoutNulls(limit),
  disabled,
})
