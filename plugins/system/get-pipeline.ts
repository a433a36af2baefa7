import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { Json } from '../../engine/index.ts'
import { jsonReply, readQuery, timeText } from '../../engine/kit.ts'
import { refusalOf } from './configuration-state.ts'
import { pipelineWire } from './pipeline-reply.ts'

/**
 * Returns a pipeline by the path's `:name`: its YAML, its steps as they run, how long they took, and why newer content of
 * its file is refused.
 */
export default defineStage({
  name: 'get-pipeline',
  summary: 'Return a pipeline as it is written and as it runs.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['requests'],
  build:
    (_config, { running, scrub }, { requests }) =>
    async ({ ingress: { query, params } }) => {
      readQuery(query)
      const { name = '' } = params
      const pipeline = running.pipelines.find((one) => one.name === name)
      if (pipeline === undefined)
        throw new GatewayError('not_found', {}, { message: `There is no pipeline "${name.slice(0, 256)}".` })
      const { stages, finally: last } = pipeline.plan()
      const { since, data } = await requests.pipelineTimes(name)
      const whole = {
        ...pipelineWire(pipeline),
        ...(pipeline.without.length > 0 ? { without: [...pipeline.without] } : {}),
        yaml: scrub(pipeline.yaml()),
        plan: stages,
        finally: last,
        times: { since: timeText(since), data },
        error: refusalOf(running, scrub, pipeline.file),
      }
      // Plans are JSON, which their types do not say.
      return { reply: jsonReply(whole as unknown as Json) }
    },
})
