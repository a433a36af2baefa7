import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply } from '../../engine/kit.ts'
import { sectionWire } from './section-reply.ts'

/** Returns every section of `server_config`. */
export default defineStage({
  name: 'list-section',
  summary: 'Return the sections of the settings.',
  config: noConfig,
  needs: [],
  provides: ['reply'],
  build:
    (_config, { records }) =>
    () => ({ reply: jsonReply({ data: records.sections().map(sectionWire) }) }),
})
