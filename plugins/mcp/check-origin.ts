import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { Ingress } from '../../engine/index.ts'

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
      const { host = '', origin } = namesIn(ingress)
      if (!mcp.addresses.admitsHost(host)) throw new GatewayError('host_not_allowed')
      if (origin !== undefined && !mcp.addresses.admitsOrigin(origin)) throw new GatewayError('origin_not_allowed')
      return {}
    },
})

function namesIn({ headers: { host, origin } }: Ingress): { readonly host?: string; readonly origin?: string } {
  return { ...(host === undefined ? {} : { host }), ...(origin === undefined ? {} : { origin }) }
}
