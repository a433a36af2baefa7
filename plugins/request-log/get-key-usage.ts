import { GatewayError, defineAction } from '../../engine/index.ts'
import { ownKeysOf } from './filter.ts'
import { usageOf, usageQuery, usageQuestion, usageShape, usageWords } from './usage.ts'

const words = usageWords.filter((word) => word !== 'key')

/** Answers usage and cost of one API key. For a viewer, other people's keys do not exist. */
export default defineAction({
  name: 'get-key-usage',
  summary: 'Answer usage and cost of an API key per time and group.',
  route: 'GET /api/api-keys/:id/usage',
  access: { role: 'viewer' },
  query: usageQuery(words),
  answer: usageShape,
  errors: ['window_too_large'],
  uses: ['requests', 'api_keys', 'members'],
  run({ params: { id }, query, principal }, services) {
    const { api_keys: keys } = services
    const isVisible = ownKeysOf(principal, keys)?.includes(id) ?? true
    const question = usageQuestion(query, words)
    if (!isVisible || keys.get(id) === undefined)
      throw new GatewayError('not_found', {}, { message: `There is no API key "${id}".` })
    return usageOf(question, [id], services)
  },
})
