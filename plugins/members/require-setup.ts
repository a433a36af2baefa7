import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'

/** Rejects with `setup_done` once there is a member, whatever the body is. */
export default defineStage({
  name: 'require-setup',
  summary: 'Reject the request once there is a member.',
  config: noConfig,
  needs: [],
  provides: [],
  uses: ['members'],
  build:
    (_config, _host, { members }) =>
    async () => {
      if (await members.store.hasMembers()) throw new GatewayError('setup_done')
      return {}
    },
})
