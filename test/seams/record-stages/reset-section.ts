import { defineStage, noConfig } from 'sluice'
import { emptyReply, requesterOf, versionsIn } from 'sluice/kit'
import { nameIn } from './record-reply.ts'

/** Resets a section of `server_config` to its defaults, by the path's `:name`. */
export default defineStage({
  name: 'reset-section',
  summary: 'Reset a section of the settings to its defaults.',
  config: noConfig,
  needs: ['ingress'],
  reads: ['principal'],
  provides: ['reply'],
  build:
    (_config, { records }) =>
    async (slots, scope) => {
      const change = {
        kind: 'delete',
        type: 'section',
        name: nameIn(slots.ingress),
        ...versionsIn(slots.ingress),
      } as const
      await records.change(change, requesterOf(scope, slots))
      return { reply: emptyReply }
    },
})
