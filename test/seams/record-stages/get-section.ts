import { defineStage, noConfig } from 'sluice'
import { formOf } from 'sluice/kit'
import { nameIn } from './record-reply.ts'
import { sectionIn, sectionReply } from './section-reply.ts'

/** Returns one section of `server_config`, by the path's `:name`, with the schema for a form. */
export default defineStage({
  name: 'get-section',
  summary: 'Return one section of the settings.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  build:
    (_config, { records }) =>
    ({ ingress }) => {
      const section = sectionIn(records.sections(), nameIn(ingress))
      return { reply: sectionReply(section, { schema: formOf(section.schema) }) }
    },
})
