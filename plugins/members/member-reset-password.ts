import { GatewayError, defineCommand } from '../../engine/index.ts'

/** Sets a new password of a member and prints it. The sessions of the member end. */
export default defineCommand({
  name: 'member reset-password',
  summary: 'Set a temporary password of a member, print it once, and end the sessions.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['username'],
    properties: { username: { type: 'string', description: 'Name of the member, in upper or lower case.' } },
  } as const,
  uses: ['team'],
  async run({ username: name }, { team }, { json, out, error }) {
    try {
      const { id } = await team.named(name)
      const { row, temporary = '' } = await team.resetPassword(id, undefined, { actor: { type: 'cli' } })
      out(json ? JSON.stringify({ id, username: row.username, temporary_password: temporary }) : temporary)
      error('It must be changed at the next sign-in. The sessions of the member have ended.')
      return 0
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      error(`sluice: ${thrown.message}`)
      return 1
    }
  },
})
