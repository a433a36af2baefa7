import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply } from '../../engine/kit.ts'
import { ownKeysOf } from './filter.ts'
import { usageOf, usageQuestion } from './usage.ts'

/** Answers usage and cost per time and group. A viewer sees those of own API keys. */
export default defineStage({
  name: 'get-usage',
  summary: 'Answer usage and cost per time and group.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['requests', 'api_keys', 'members'],
  build:
    (_config, _host, services) =>
    async ({ ingress: { query }, principal }) => {
      const question = usageQuestion(query)
      return { reply: jsonReply(await usageOf(question, ownKeysOf(principal, services.api_keys), services)) }
    },
})
