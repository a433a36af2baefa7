import { defineStage } from '../../engine/index.ts'
import { jsonReply } from '../../engine/kit.ts'
import { KeyAnswers, needed } from './key-answers.ts'
import { ofWhom } from './key-body.ts'

/** Returns an API key, by the path's `:id`. */
export default defineStage({
  name: 'get-api-key',
  summary: 'Return an API key.',
  config: ofWhom,
  uses: needed,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build({ of }, host, services) {
    const answers = new KeyAnswers(host, services)
    return async ({ ingress, principal }) => {
      const found = await answers.find(ingress, { principal, of })
      const [body = {}] = await answers.print([found])
      return { reply: jsonReply(body, { version: found.key.stored?.version }) }
    }
  },
})
