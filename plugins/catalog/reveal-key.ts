import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, requesterOf } from '../../engine/kit.ts'
import { providerIn } from './provider-in.ts'

/**
 * Returns the secrets of a stored provider in clear, by the path's `:name`, to a member who repeats the password. The
 * row of the audit trail is committed first.
 */
export default defineStage({
  name: 'reveal-key',
  summary: 'Return the secrets of a provider to a member who repeats the password.',
  config: noConfig,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['password'],
    properties: {
      password: { type: 'string', minLength: 1, maxLength: 256, description: 'Password of the member who asks.' },
    },
  } as const,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['audit', 'members', 'secret_reveal'],
  build:
    (_config, { records }, { audit, members, secret_reveal: setting }) =>
    async ({ ingress, principal, input }, scope) => {
      if (!setting.reveal_keys) throw new GatewayError('reveal_off')
      const { name, source } = providerIn(ingress, records)
      if (source === 'file') throw new GatewayError('declared_in_file', { type: 'provider', name })
      await members.confirm(principal.id, input.password, ingress.remote)
      const secrets = records.reveal('provider', name) ?? {}
      await audit.record({
        action: 'provider.reveal_key',
        by: requesterOf(scope, { ingress, principal }),
        target: { type: 'provider', id: name, name },
        details: { fields: Object.keys(secrets) },
      })
      return { reply: jsonReply({ secrets: { ...secrets } }) }
    },
})
