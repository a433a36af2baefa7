import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'

/** Protects the gateway from pages of other origins, also from those that reach it under a name of their own. */
export default defineStage({
  name: 'check-origin',
  summary: 'Refuse requests under foreign names, and from pages of foreign origins.',
  config: noConfig,
  guards: true,
  needs: ['ingress'],
  provides: [],
  uses: ['mcp'],
  build:
    (_config, _host, { mcp }) =>
    ({ ingress }) => {
      const { host = '', origin } = ingress.headers
      if (!mcp.addresses.admitsHost(host)) throw new GatewayError('host_not_allowed')
      if (origin !== undefined && !mcp.addresses.admitsOrigin(origin)) throw new GatewayError('origin_not_allowed')
      return {}
    },
})
