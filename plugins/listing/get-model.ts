import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { entryOf, isListed, readsMessages, replyOf } from './entry.ts'

/** Answers with the model named by `:model` of the path. A model that the key may not use is a 404. */
export default defineStage({
  name: 'get-model',
  summary: 'Show one model that the key may use.',
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
