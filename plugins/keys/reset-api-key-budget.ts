import { GatewayError, defineAction } from '../../engine/index.ts'
import { versionsIn } from '../../engine/kit.ts'
import { KeyAnswers, answeredKey, keyShape, needed } from './key-answers.ts'
import { reached } from './stored-keys.ts'

/** Forgets what an API key has spent in the running period. What is held stays held. */
export default defineAction({
  name: 'reset-api-key-budget',
  summary: 'Forget what an API key has spent.',
  route: 'POST /api/api-keys/:id/reset-budget',
  access: { role: 'admin' },
  body: { type: 'object', additionalProperties: false, properties: {} },
  answer: keyShape,
  errors: ['stale_version'],
  writes: 'own audit row',
  uses: needed,
  async run({ params, principal, by, ingress }, services, _scope, host) {
    const answers = new KeyAnswers(host, services)
    const found = await answers.find(params.id, { principal, of: 'all' })
    const { id, stored } = found.key
    const { name } = found.fields
    const { versions } = versionsIn(ingress)
    if (stored && versions?.includes(stored.version) === false)
      throw new GatewayError('stale_version', { type: 'API key', name, version: stored.version })
    await reached(() =>
      services.api_keys.act('reset_budget', { id, name }, by, (transaction) =>
        services.limits.reset({ kind: 'key', id }, transaction),
      ),
    )
    const [body = {}] = await answers.print([found])
    return answeredKey(body)
  },
})
