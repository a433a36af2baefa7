import { GatewayError, defineAction } from '../../engine/index.ts'
import type { PipelineView } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'
import { refusalOf, refusalShape } from './configuration-state.ts'
import { pipelineFields, pipelineWire } from './pipeline-reply.ts'

const steps = (description: string) => shape.list(shape.map({}, 'A step, with its slots and options.'), description)

/** Answers a pipeline: its YAML, its steps as they run, how long they took, and why newer content of its file is refused. */
export default defineAction({
  name: 'get-pipeline',
  summary: 'Answer a pipeline as it is written and as it runs.',
  route: 'GET /api/config/pipelines/:name',
  access: { role: 'admin' },
  answer: shape.object(
    {
      ...pipelineFields,
      yaml: shape.text('Its YAML.'),
      plan: steps('Its steps as they run, with includes expanded.'),
      finally: steps('The steps that run at the end.'),
      times: shape.object(
        {
          since: shape.time('Start of the oldest request that was looked at.'),
          data: shape.list(
            shape.object(
              {
                path: shape.text('Its path in the plan.'),
                count: shape.integer('How often it ran.'),
                failed: shape.integer('How often it ended with an error.'),
                p50_ms: shape.number('Median, in milliseconds.'),
                p95_ms: shape.number('95th percentile, in milliseconds.'),
                p99_ms: shape.number('99th percentile, in milliseconds.'),
              },
              {
                taken: shape.integer('Of an arm: how often the switch took it.'),
                again: shape.integer('Of an attempt: its tries beyond the first ones.'),
              },
            ),
            'The steps that ran, by path.',
          ),
        },
        {},
        'How long its steps took lately.',
      ),
      error: refusalShape,
    },
    {
      without: shape.list({ type: 'string' }, 'Duties that it need not pay.'),
      actions: shape.list(
        shape.object({
          name: shape.text('Its name.'),
          summary: shape.text('What it answers.'),
          route: shape.text('Its method and path.'),
          access: shape.word(['viewer', 'admin', 'any', 'key', 'public'], 'Who may run it.'),
        }),
        'The actions that it runs.',
      ),
    },
  ),
  uses: ['requests'],
  async run({ params: { name } }, { requests }, _scope, { running, scrub }) {
    const pipeline = running.pipelines.find((one) => one.name === name)
    if (pipeline === undefined)
      throw new GatewayError('not_found', {}, { message: `There is no pipeline "${name.slice(0, 256)}".` })
    const { stages, finally: last } = pipeline.plan()
    const { since, data } = await requests.pipelineTimes(name)
    return {
      ...pipelineWire(pipeline),
      ...actionsOf(pipeline),
      ...(pipeline.without.length > 0 ? { without: [...pipeline.without] } : {}),
      yaml: scrub(pipeline.yaml()),
      plan: stages,
      finally: last,
      times: { since: timeText(since), data },
      error: refusalOf(running, scrub, pipeline.file),
    }
  },
})

function actionsOf({ routes }: PipelineView): { readonly actions?: readonly object[] } {
  const actions = routes.flatMap(({ method, path, action }) =>
    action ? [{ ...action, route: `${method} ${path}` }] : [],
  )
  return actions.length > 0 ? { actions } : {}
}
