import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, requesterOf, versionsIn } from '../../engine/kit.ts'
import { KeyAnswers, needed } from './key-answers.ts'
import { reached } from './stored-keys.ts'

/** Forgets what an API key, by the path's `:id`, has spent in the running period. What is held stays held. */
export default defineStage({
  name: 'reset-api-key-budget',
  summary: 'Forget what an API key has spent.',
  config: noConfig,
  body: { type: 'object', additionalProperties: false, properties: {} } as const,
  uses: needed,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build(_config, host, services) {
    const answers = new KeyAnswers(host, services)
    return async ({ ingress, principal }, scope) => {
      const found = await answers.find(ingress, { principal, of: 'all' })
      const { id, stored } = found.key
      const { name } = found.fields
      const { versions } = versionsIn(ingress)
      if (stored && versions?.includes(stored.version) === false)
        throw new GatewayError('stale_version', { type: 'API key', name, version: stored.version })
      const by = requesterOf(scope, { ingress, principal })
      await reached(() =>
        services.api_keys.act('reset_budget', { id, name }, by, (transaction) =>
          services.limits.reset({ kind: 'key', id }, transaction),
        ),
      )
      const [body = {}] = await answers.print([found])
      return { reply: jsonReply(body, { version: stored?.version }) }
    }
  },
})
