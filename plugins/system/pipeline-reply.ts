import type { JsonObject, PipelineView, PlannedStep } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'

const names = (description: string) => shape.list({ type: 'string' }, description)

/** JSON Schemas of what is answered of every pipeline. */
export const pipelineFields = {
  name: shape.text('Its name.'),
  file: shape.text('The file that declares it.'),
  summary: shape.text('What it does.'),
  protocol: shape.orNull(shape.text('The protocol of its clients.')),
  routes: shape.list(
    shape.object({
      method: shape.text('The method; WS: a WebSocket.'),
      path: shape.text('The path.'),
      access: shape.word(['public', 'key', 'viewer', 'admin'], 'Who may ask it.'),
    }),
    'What it serves.',
  ),
  inputs: names('Slots with which it starts.'),
  uses: names('The pipelines that it includes.'),
}

/** A pipeline for lists. */
export function pipelineWire(pipeline: PipelineView): JsonObject {
  const { name, file, summary, protocol, routes, inputs } = pipeline
  const { stages } = pipeline.plan()
  const access = pipeline.public ? 'public' : accessOf(stages)
  return {
    name,
    file,
    summary,
    protocol: protocol ?? null,
    routes: routes.map(({ method, path, action }) => {
      const asked = action === undefined ? access : action.access === 'any' ? 'viewer' : action.access
      return { method, path, access: asked }
    }),
    inputs: [...inputs],
    uses: [...new Set(included(stages))],
  }
}

/** Who may call the routes of a pipeline, as its first stage `auth` says. */
function accessOf(steps: readonly PlannedStep[]): 'key' | 'viewer' | 'admin' {
  const options = new Map(firstAuth(steps)?.options?.map(({ name, value }) => [name, value]))
  if (options.get('with') !== 'session') return 'key'
  return options.get('role') === 'admin' ? 'admin' : 'viewer'
}

function firstAuth(steps: readonly PlannedStep[]): PlannedStep | undefined {
  for (const step of steps) {
    const found = step.kind === 'stage' && step.name === 'auth' ? step : firstAuth(inside(step))
    if (found !== undefined) return found
  }
  return undefined
}

/** The names of the pipelines that these steps include themselves. */
function included(steps: readonly PlannedStep[]): readonly string[] {
  return steps.flatMap((step) => (step.kind === 'use' ? [step.name ?? ''] : included(inside(step))))
}

function inside({ arms = [], do: inner = [], otherwise = [] }: PlannedStep): readonly PlannedStep[] {
  return [...arms.flatMap((arm) => arm.do), ...inner, ...otherwise]
}
