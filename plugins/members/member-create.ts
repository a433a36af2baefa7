import { GatewayError, Refusal, defineCommand } from '../../engine/index.ts'
import { checkInput } from '../../engine/kit.ts'
import { memberSchema } from './member-body.ts'
import type { MemberFields } from './member-body.ts'

/** Creates a member and prints a password, which must be changed at the first sign-in. */
export default defineCommand({
  name: 'member create',
  summary: 'Create a member and print a temporary password once.',
  group: 'Manage members, the people who may sign in.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['username'],
    properties: {
      username: { type: 'string', description: 'Name with which the member signs in.' },
      role: { enum: ['admin', 'viewer'], default: 'viewer', description: 'What the member may do.' },
    },
  } as const,
  uses: ['team'],
  async run(options, { team }, { json, out, error }) {
    const fields = fieldsOf(options)
    try {
      const { row, temporary = '' } = await team.create(fields, undefined, { actor: { type: 'cli' } })
      const { id, username, role } = row
      out(json ? JSON.stringify({ id, username, role, temporary_password: temporary }) : temporary)
      error('It must be changed at the first sign-in.')
      return 0
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      error(`sluice: ${thrown.message}`)
      return 1
    }
  },
})

function fieldsOf(options: { readonly username: string; readonly role: 'admin' | 'viewer' }): MemberFields {
  try {
    return checkInput(memberSchema, { ...options }) as unknown as MemberFields
  } catch (error) {
    throw error instanceof GatewayError ? new Refusal(error.message) : error
  }
}
