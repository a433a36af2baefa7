import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { entryOf, isListed, readsMessages, replyOf } from './entry.ts'

/** Answers one model, by the path's `:model`. One that the key may not use does not exist. */
export default defineStage({
  name: 'get-model',
  summary: 'Answer one model that the key may use.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_, { catalog }) =>
    ({ ingress, principal }) => {
      const name = ingress.params['model'] ?? ''
      const model = catalog.find(name)
      if (model === undefined || !isListed(model, principal, catalog)) {
        throw new GatewayError('model_not_found', { model: name.slice(0, 128) }, { param: 'model' })
      }
      return { reply: replyOf(entryOf(model, readsMessages(ingress))) }
    },
})
