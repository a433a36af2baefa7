import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'

/** Refuses the request unless members may create and change API keys of their own. */
export default defineStage({
  name: 'require-self-service',
  summary: 'Refuse the request unless members may make API keys.',
  config: noConfig,
  uses: ['key_policy'],
  needs: [],
  provides: [],
  build: (_config, _host, { key_policy: { self_service_keys: isOn } }) => {
    return () => {
      if (!isOn) throw new GatewayError('self_service_off')
      return {}
    }
  },
})
