import { defineAction } from '../../engine/index.ts'
import { ownKeysOf } from './filter.ts'
import { usageOf, usageQuery, usageQuestion, usageShape } from './usage.ts'

/** Answers usage and cost per time and group. A viewer sees those of own API keys. */
export default defineAction({
  name: 'get-usage',
  summary: 'Answer usage and cost per time and group.',
  route: 'GET /api/logs/usage',
  access: { role: 'viewer' },
  query: usageQuery(),
  answer: usageShape,
  errors: ['window_too_large'],
  uses: ['requests', 'api_keys', 'members'],
  run: ({ query, principal }, services) =>
    usageOf(usageQuestion(query), ownKeysOf(principal, services.api_keys), services),
})
