import type { Budget, JsonObject, RateLimit } from '../../engine/index.ts'
import { budgetSchema, defined, parsedJson, patchSchema, rateLimitSchema, recordName } from '../../engine/kit.ts'
import { usernameSchema } from './member.ts'
import { passwordSchema } from './password-rules.ts'
import type { MembersTable } from './table.ts'

/** JSON Schema of a new password that an admin chooses. */
export const chosenPassword = {
  ...passwordSchema,
  description: 'Password of the member; absent: one is made, which must be changed at the first sign-in.',
} as const

/** JSON Schema of the password of whoever changes an admin. */
export const currentPassword = {
  ...passwordSchema,
  description: 'Your own password, for what would outlive a stolen session: to make an admin, or to reset one.',
} as const

/** JSON Schema of the fields of a member. */
export const memberSchema = {
  type: 'object',
  additionalProperties: false,
  examples: [{ username: 'grace', role: 'viewer' }],
  required: ['username'],
  properties: {
    username: usernameSchema,
    role: {
      enum: ['admin', 'viewer'],
      title: 'Role',
      default: 'viewer',
      description: 'An admin may do everything; a viewer sees keys, costs and logs of his own.',
    },
    models: {
      type: ['array', 'null'],
      title: 'Models',
      maxItems: 500,
      items: recordName,
      description: 'Models that the member and his keys may use, by name or alias; null: all.',
    },
    budget: budgetSchema,
    rate_limit: rateLimitSchema,
    disabled: {
      type: 'boolean',
      title: 'Disabled',
      default: false,
      description: 'Whether the member can neither sign in nor use his keys.',
    },
  },
} as const

/** What admins say of a member: a value that the schema accepts. */
export type MemberFields = {
  readonly username: string
  readonly role: 'admin' | 'viewer'
  readonly disabled: boolean
  readonly models?: readonly string[] | null
  readonly budget?: (Budget & JsonObject) | null
  readonly rate_limit?: (RateLimit & JsonObject) | null
}

/** JSON Schema of the body that creates a member. */
export const creationBody = {
  ...memberSchema,
  properties: { ...memberSchema.properties, password: chosenPassword, current_password: currentPassword },
} as const

/** JSON Schema of a merge patch of a member. */
export const changeBody = patchSchema({
  ...memberSchema,
  properties: { ...memberSchema.properties, current_password: currentPassword },
})

/** The fields of a row. */
export function fieldsIn(row: Pick<MembersTable, keyof MemberFields>): MemberFields {
  const { username, role } = row
  const json = (text: string | null) => (text === null ? undefined : parsedJson(text))
  const others = { models: json(row.models), budget: json(row.budget), rate_limit: json(row.rate_limit) }
  return { username, role, disabled: row.disabled !== 0, ...(defined(others) as object) }
}

/** The columns of fields. */
export function columnsOf({ username, role, disabled, models, budget, rate_limit: limit }: MemberFields) {
  const text = (value: object | null | undefined) => (value ? JSON.stringify(value) : null)
  return {
    username,
    role,
    disabled: disabled ? 1 : 0,
    models: text(models),
    budget: text(budget),
    rate_limit: text(limit),
  }
}
