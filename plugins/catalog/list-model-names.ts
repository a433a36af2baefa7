import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery, virtualModels } from '../../engine/kit.ts'

/** Returns every name that a request can have as its model. */
export default defineStage({
  name: 'model-names',
  summary: 'Return every name that a request can have as its model.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['smart_routing'],
  build:
    (_config, { catalog }, { smart_routing: routing }) =>
    ({ ingress }) => {
      readQuery(ingress.query)
      const virtual = routing.enabled ? virtualModels.map((name) => ({ name, aliases: [], virtual: true })) : []
      const own = catalog.models.map(({ name, aliases }) => ({ name, aliases: [...aliases], virtual: false }))
      return { reply: jsonReply({ data: [...virtual, ...own] }) }
    },
})
