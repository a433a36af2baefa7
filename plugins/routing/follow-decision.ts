import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { Places } from './places.ts'

/** Makes the models of an earlier decision the candidates, in its order, as far as they are still there. */
export default defineStage({
  name: 'follow-decision',
  summary: 'Make the models of an earlier decision the candidates.',
  config: noConfig,
  needs: ['request', 'decision'],
  provides: ['target', 'candidates'],
  build: (_config, host) => {
    const places = new Places(host)
    return ({ request, decision: { mode, candidates: chosen } }) => {
      const all = chosen.flatMap(({ model }) => {
        const record = host.catalog.find(model)
        return record ? places.of(record, request) : []
      })
      const candidates = all.filter(({ provider }) => provider.off === undefined)
      if (candidates.length === 0) {
        const reason = all[0]?.provider.off ?? 'the models that were chosen for the request are gone'
        throw new GatewayError('provider_off', { model: mode, reason })
      }
      return { target: { name: mode, virtual: true, mode }, candidates }
    }
  },
})
