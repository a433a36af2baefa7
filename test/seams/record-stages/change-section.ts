import { defineStage, noConfig } from 'sluice'
import { requesterOf, versionsIn } from 'sluice/kit'
import { anyObject, nameIn, notFound } from './record-reply.ts'
import { sectionIn, sectionReply } from './section-reply.ts'

/**
 * Changes a section of `server_config`, by the path's `:name`, with a merge patch (RFC 7396). Returns it once it is
 * live.
 */
export default defineStage({
  name: 'change-section',
  summary: 'Change a section of the settings.',
  config: noConfig,
  body: () => anyObject,
  needs: ['ingress'],
  reads: ['principal'],
  provides: ['reply'],
  build:
    (_config, { records }) =>
    async ({ input, ...slots }, scope) => {
      const name = nameIn(slots.ingress)
      const change = { kind: 'change', type: 'section', name, patch: input, ...versionsIn(slots.ingress) } as const
      const changed = await records.change(change, requesterOf(scope, slots))
      if (changed === undefined) throw notFound('section', name)
      const { defaults, schema, overridden } = sectionIn(records.sections(), name)
      return { reply: sectionReply({ ...changed, defaults, schema, overridden }) }
    },
})
