import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply } from '../../engine/kit.ts'
import { ownKeysOf } from './filter.ts'
import { usageOf, usageQuestion, usageWords } from './usage.ts'

const words = usageWords.filter((word) => word !== 'key')

/** Answers usage and cost of one API key. For a viewer, other people's keys do not exist. */
export default defineStage({
  name: 'get-key-usage',
  summary: 'Answer usage and cost of an API key per time and group.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['requests', 'api_keys', 'members'],
  build:
    (_config, _host, services) =>
    async ({ ingress: { params, query }, principal }) => {
      const { api_keys: keys } = services
      const id = params['id'] ?? ''
      const isVisible = ownKeysOf(principal, keys)?.includes(id) ?? true
      const question = usageQuestion(query, words)
      if (!isVisible || keys.get(id) === undefined)
        throw new GatewayError('not_found', {}, { message: `There is no API key "${id}".` })
      return { reply: jsonReply(await usageOf(question, [id], services)) }
    },
})
