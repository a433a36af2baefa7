import { defineStage, noConfig } from 'sluice'
import { jsonReply, readQuery } from 'sluice/kit'
import { sectionWire } from './section-reply.ts'

/** Returns every section of `server_config`. */
export default defineStage({
  name: 'list-section',
  summary: 'Return the sections of the settings.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  build:
    (_config, { records }) =>
    ({ ingress }) => {
      readQuery(ingress.query)
      return { reply: jsonReply({ data: records.sections().map(sectionWire) }) }
    },
})
