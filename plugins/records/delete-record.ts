import { defineStage } from '../../engine/index.ts'
import { emptyReply, nameIn, ofType, versionsIn } from './record-reply.ts'

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
    async ({ ingress, principal }) => {
      await records.change({ kind: 'delete', type: of, name: nameIn(ingress), ...versionsIn(ingress) }, principal)
      return { reply: emptyReply }
    },
})
