import { defineStage } from 'sluice'
import { emptyReply, requesterOf, versionsIn } from 'sluice/kit'
import { nameIn, ofType } from './record-reply.ts'

/** Deletes a record of a type, by the path's `:name`, unless other records refer to it. */
export default defineStage({
  name: 'delete-record',
  summary: 'Delete a record of a type.',
  config: ofType,
  needs: ['ingress'],
  reads: ['principal'],
  provides: ['reply'],
  build:
    ({ of }, { records }) =>
    async (slots, scope) => {
      const change = { kind: 'delete', type: of, name: nameIn(slots.ingress), ...versionsIn(slots.ingress) } as const
      await records.change(change, requesterOf(scope, slots))
      return { reply: emptyReply }
    },
})
