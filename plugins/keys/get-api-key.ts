import { defineAction } from '../../engine/index.ts'
import { KeyAnswers, answeredKey, keyShape, needed } from './key-answers.ts'

/** Answers an API key. */
export default defineAction({
  name: 'get-api-key',
  summary: 'Answer an API key; a viewer sees those he owns.',
  route: 'GET /api/api-keys/:id',
  access: { role: 'viewer' },
  answer: keyShape,
  uses: needed,
  async run({ params: { id }, principal }, services, _scope, host) {
    const answers = new KeyAnswers(host, services)
    const [body = {}] = await answers.print([await answers.find(id, { principal, of: 'all' })])
    return answeredKey(body)
  },
})
