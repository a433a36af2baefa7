import { defineStage } from '../../engine/index.ts'
import { anyObject, ofType, recordReply } from './record-reply.ts'

/** Creates a record of a type from the body of the request, and returns it once it is live. */
export default defineStage({
  name: 'create-record',
  summary: 'Create a record of a type.',
  config: ofType,
  body: () => anyObject,
  needs: ['ingress'],
  reads: ['principal'],
  provides: ['reply'],
  build:
    ({ of }, { records }) =>
    async ({ ingress, principal, input }) => {
      const made = await records.change({ kind: 'create', type: of, value: input }, principal)
      if (made === undefined) throw new Error('a record that was made is there')
      const location = `${ingress.path}/${encodeURIComponent(made.name)}`
      return { reply: recordReply(made, 201, { location }) }
    },
})
