import { defineStage } from 'sluice'
import { requesterOf, versionsIn } from 'sluice/kit'
import { anyObject, nameIn, notFound, ofType, recordReply } from './record-reply.ts'

/** Changes a record of a type, by the path's `:name`, with a merge patch (RFC 7396). Returns it once it is live. */
export default defineStage({
  name: 'change-record',
  summary: 'Change a record of a type.',
  config: ofType,
  body: () => anyObject,
  needs: ['ingress'],
  reads: ['principal'],
  provides: ['reply'],
  build:
    ({ of }, { records }) =>
    async ({ input, ...slots }, scope) => {
      const name = nameIn(slots.ingress)
      const change = { kind: 'change', type: of, name, patch: input, ...versionsIn(slots.ingress) } as const
      const changed = await records.change(change, requesterOf(scope, slots))
      if (changed === undefined) throw notFound(of, name)
      return { reply: recordReply(changed) }
    },
})
