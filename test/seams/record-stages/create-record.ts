import { defineStage } from 'sluice'
import { readQuery, requesterOf } from 'sluice/kit'
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
    async ({ input, ...slots }, scope) => {
      readQuery(slots.ingress.query)
      const made = await records.change({ kind: 'create', type: of, value: input }, requesterOf(scope, slots))
      if (made === undefined) throw new Error('a record that was made is there')
      const location = `${slots.ingress.path}/${encodeURIComponent(made.name)}`
      return { reply: recordReply(made, { status: 201, headers: { location } }) }
    },
})
