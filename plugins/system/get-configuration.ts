import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'
import { configurationState } from './configuration-state.ts'

/** Returns the state of the running configuration: its files, why newer ones were refused, who runs it. */
export default defineStage({
  name: 'get-configuration',
  summary: 'Return the state of the running configuration.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['processes'],
  build:
    (_config, host, { processes }) =>
    async ({ ingress: { query } }) => {
      readQuery(query)
      return { reply: jsonReply(await configurationState(host, processes)) }
    },
})
