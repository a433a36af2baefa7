import { defineStage, noConfig } from '../../engine/index.ts'
import { replyOf } from './entry.ts'

/** Lists the registered protocols and the paths that speak them. */
export default defineStage({
  name: 'list-protocols',
  summary: 'List the registered protocols and their paths.',
  config: noConfig,
  needs: [],
  provides: ['reply'],
  build: (_, host) => () => ({
    reply: replyOf({
      object: 'list',
      data: host.codecs.map(({ protocol, operation, summary }) => ({
        protocol,
        operation,
        summary,
        paths: [...(host.routes?.(protocol) ?? [])],
      })),
    }),
  }),
})
