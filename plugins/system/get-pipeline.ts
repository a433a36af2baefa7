import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { Json } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'
import { pipelineWire } from './pipeline-reply.ts'

/** Returns a pipeline by the path's `:name`: its YAML, and its steps as they run. */
export default defineStage({
  name: 'get-pipeline',
  summary: 'Return a pipeline as it is written and as it runs.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  build:
    (_config, { running, scrub }) =>
    ({ ingress: { query, params } }) => {
      readQuery(query)
      const { name = '' } = params
      const pipeline = running.pipelines.find((one) => one.name === name)
      if (pipeline === undefined)
        throw new GatewayError('not_found', {}, { message: `There is no pipeline "${name.slice(0, 256)}".` })
      const { stages, finally: last } = pipeline.plan()
      const whole = { ...pipelineWire(pipeline), yaml: scrub(pipeline.yaml()), plan: stages, finally: last }
      // Plans are JSON, which their types do not say.
      return { reply: jsonReply(whole as unknown as Json) }
    },
})
