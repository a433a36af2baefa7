import { defineStage, noConfig } from '../../engine/index.ts'
import { isListed, modeOf, unknownModel } from '../../engine/kit.ts'
import { entryOf, readerOf, replyOf, virtualOnes } from './entry.ts'

/** Answers with the model named by `:model` of the path, or by `*`, where its name may hold slashes. A model that the key may not use is a 404. */
export default defineStage({
  name: 'get-model',
  summary: 'Show one model that the key may use.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['smart_routing'],
  build:
    (_, { catalog }, { smart_routing: routing }) =>
    ({ ingress, principal }) => {
      const name = ingress.params['model'] ?? ingress.params['*'] ?? ''
      const mode = modeOf(name)
      const virtual = virtualOnes(routing).find((one) => one.name === mode)
      if (virtual) return { reply: replyOf(entryOf(virtual, readerOf(ingress))) }
      const model = catalog.find(name)
      if (model === undefined || !isListed(model, principal, catalog)) throw unknownModel(name, principal, catalog)
      return { reply: replyOf(entryOf(model, readerOf(ingress))) }
    },
})
