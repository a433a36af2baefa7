import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'

/** Returns every name that a request can have as its model. */
export default defineStage({
  name: 'model-names',
  summary: 'Return every name that a request can have as its model.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  build:
    (_config, { catalog }) =>
    ({ ingress }) => {
      readQuery(ingress.query)
      const data = catalog.models.map(({ name, aliases }) => ({ name, aliases: [...aliases], virtual: false }))
      return { reply: jsonReply({ data }) }
    },
})
