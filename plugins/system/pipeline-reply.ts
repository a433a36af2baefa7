import type { JsonObject, PipelineView, PlannedStep } from '../../engine/index.ts'

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
    routes: routes.map(({ method, path }) => ({ method, path, access })),
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
