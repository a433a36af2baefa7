import { GatewayError, defineAction } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'
import { providerIn } from './provider-in.ts'

/** Answers the secrets of a stored provider in clear, to a member who repeats the password. The audit row is first. */
export default defineAction({
  name: 'reveal-key',
  summary: 'Answer the secrets of a provider to an admin who repeats the password.',
  route: 'POST /api/config/providers/:name/reveal-key',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['password'],
    properties: {
      password: { type: 'string', minLength: 1, maxLength: 256, description: 'Password of the member who asks.' },
    },
  },
  answer: shape.object({ secrets: shape.map({ type: 'string' }, 'The secrets, by dotted path.') }),
  errors: ['reveal_off', 'declared_in_file', 'wrong_password', 'too_many_attempts', 'stale_version'],
  writes: 'own audit row',
  uses: ['audit', 'members', 'secret_reveal'],
  async run(input, { audit, members, secret_reveal: setting }, _scope, { records }) {
    const { principal, ingress, by, body } = input
    if (!setting.reveal_keys) throw new GatewayError('reveal_off')
    const { name, source } = providerIn(input, records)
    if (source === 'file') throw new GatewayError('declared_in_file', { type: 'provider', name })
    await members.confirm(principal.id, body.password, ingress.remote)
    const secrets = records.reveal('provider', name) ?? {}
    await audit.record({
      action: 'provider.reveal_key',
      by,
      target: { type: 'provider', id: name, name },
      details: { fields: Object.keys(secrets) },
    })
    return { secrets: { ...secrets } }
  },
})
