import { defineStage, noConfig } from '../../engine/index.ts'
import { replyOf } from './entry.ts'

/** Lists the protocols that a pipeline serves, with their paths. */
export default defineStage({
  name: 'list-protocols',
  summary: 'List the protocols that are served, with their paths.',
  config: noConfig,
  needs: [],
  provides: ['reply'],
  build: (_, host) => () => ({
    reply: replyOf({
      object: 'list',
      data: host.codecs.flatMap(({ protocol, operation, summary }) => {
        // A path may have several methods.
        const paths = [...new Set(host.routes?.(protocol))]
        return paths.length === 0 ? [] : [{ protocol, operation, summary, paths }]
      }),
    }),
  }),
})
