import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, patchSchema, readQuery, requesterOf } from '../../engine/kit.ts'

const body = patchSchema({
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: {
      type: 'boolean',
      title: 'Tracing',
      default: false,
      description:
        'Whether rows of the own keys tell how they were routed, and every try in full. Prompts are never kept.',
    },
  },
})

/** Switches the tracing of the requests of the member who asks. */
export default defineStage({
  name: 'change-own-tracing',
  summary: 'Switch the tracing of the requests of the member who asks.',
  config: noConfig,
  body: () => body,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['team'],
  build:
    (_config, _host, { team }) =>
    async ({ input: { enabled }, ingress, principal }, scope) => {
      readQuery(ingress.query)
      const by = requesterOf(scope, { ingress, principal })
      // Null restores the default.
      const own = enabled === undefined ? {} : { tracing: enabled === true }
      const { tracing } = await team.changeOwn(principal.id, own, { by })
      return { reply: jsonReply({ enabled: tracing !== 0 }) }
    },
})
