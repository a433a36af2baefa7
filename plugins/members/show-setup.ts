import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'

/** Tells whether the first member must still be made. */
export default defineStage({
  name: 'show-setup',
  summary: 'Show whether the first admin must still be made.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['members'],
  build:
    (_config, _host, { members }) =>
    async ({ ingress }) => {
      readQuery(ingress.query)
      return { reply: jsonReply({ needed: !(await members.store.hasMembers()) }) }
    },
})
