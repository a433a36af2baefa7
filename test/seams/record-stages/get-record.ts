import { defineStage } from 'sluice'
import { nameIn, notFound, ofType, recordReply } from './record-reply.ts'

/** Returns one record of a type, by the path's `:name`. */
export default defineStage({
  name: 'get-record',
  summary: 'Return one record of a type.',
  config: ofType,
  needs: ['ingress'],
  provides: ['reply'],
  build:
    ({ of }, { records }) =>
    ({ ingress }) => {
      const name = nameIn(ingress)
      const record = records.find(of, name)
      if (record === undefined) throw notFound(of, name)
      return { reply: recordReply(record) }
    },
})
