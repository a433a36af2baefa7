import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'
import { pipelineWire } from './pipeline-reply.ts'

/** Returns every pipeline of the configuration, with its routes and who may call them. */
export default defineStage({
  name: 'list-pipelines',
  summary: 'Return the pipelines of the configuration.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  build:
    (_config, { running }) =>
    ({ ingress: { query } }) => {
      readQuery(query)
      return { reply: jsonReply({ data: running.pipelines.map(pipelineWire) }) }
    },
})
