import { performance } from 'node:perf_hooks'
import { defineStage } from '../../engine/index.ts'
import { duration, durationSchema } from '../../engine/kit.ts'
import type { Dialed } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Slots {
    /** The open socket to the provider of a session, before the client is connected with it. */
    dialed: Dialed
  }
}

/** Opens the socket to the provider. Until it is open, another provider may be tried. */
export default defineStage({
  name: 'connect-session',
  summary: 'Open a socket to the provider of a realtime session.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      within: {
        ...durationSchema,
        description:
          'How long it may take until the socket is open. Default: `resilience.timeouts.connect`. The `timeouts.connect` of a provider goes before both.',
      },
    },
  } as const,
  needs: ['ingress', 'request', 'model'],
  provides: ['dialed'],
  owes: [
    { duty: 'limit', at: 'before' },
    { duty: 'allow', at: 'before', of: 'candidates' },
    { duty: 'reserve', at: 'before', of: 'candidates' },
    { duty: 'breaker', at: 'before', of: 'model' },
    { duty: 'answered', at: 'after', with: 'breaker' },
    { duty: 'price', at: 'finally' },
    { duty: 'charge', at: 'finally' },
    { duty: 'log', at: 'finally' },
  ],
  build: ({ within }, { catalog }) => {
    const timeout = duration(within ?? catalog.settings.resilience.timeouts.connect)
    return async ({ ingress, request: { operation, protocol, headers }, model: { model, provider } }, scope) => {
      const { upstream_model, name: publicName } = model
      const query = new URLSearchParams(ingress.query)
      query.set('model', upstream_model)
      const call = { operation, protocol, clientHeaders: headers, model: upstream_model, publicName, query }
      const started = performance.now()
      try {
        const dialed = await provider.provider.dial?.({ ...call, timeout, scope })
        if (dialed === undefined) throw new Error(`provider "${provider.name}" offers ${protocol} and opens no sockets`)
        return { dialed }
      } finally {
        scope.time('upstream', performance.now() - started)
      }
    }
  },
})
