import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { requesterOf } from '../../engine/kit.ts'

/** Refuses the request unless members may create and change API keys of their own. */
export default defineStage({
  name: 'require-self-service',
  summary: 'Refuse the request unless members may make API keys.',
  config: noConfig,
  uses: ['key_policy', 'audit'],
  needs: ['ingress', 'principal'],
  provides: [],
  build:
    (_config, host, { key_policy: { self_service_keys: isOn }, audit }) =>
    async (slots, scope) => {
      if (isOn) return {}
      const by = requesterOf(scope, slots)
      if (slots.ingress.method !== 'GET')
        await audit.refused({ by, action: host.pipeline.name, code: 'self_service_off' })
      throw new GatewayError('self_service_off')
    },
})
