import { everyStep } from '../../picture/plan.ts'
import type { Plan, PlannedStep } from '../../picture/plan.ts'

/** The number that the first line of a pipeline's YAML has in its file, found by its first step. */
export function firstLine(yaml: string, plan: Plan): number {
  const step = plan.plan[0]
  const lines = yaml.split('\n')
  const stages = lines.findIndex((line) => line.startsWith('stages:'))
  const at = lines.findIndex((line, index) => index > stages && /^\s*- /.test(line))
  return step === undefined || stages === -1 || at === -1 ? 1 : step.line - at
}

/** The lines of a step: its own, and those below that are indented deeper. */
export function linesOf(step: PlannedStep, yaml: string, first: number) {
  const lines = yaml.split('\n')
  const at = step.line - first
  const indent = lines[at]?.search(/\S/) ?? 0
  let to = at
  for (let index = at + 1; index < lines.length; index++) {
    const depth = lines[index]?.search(/\S/) ?? -1
    if (depth !== -1 && depth <= indent) break
    if (depth > indent) to = index
  }
  return { from: step.line, to: first + to }
}

/** The included pipeline in whose file a step stands; `undefined`: the pipeline's own. */
export function homeOf(path: string, plan: Plan): PlannedStep | undefined {
  const steps = everyStep([...plan.plan, ...plan.finally])
  return steps.findLast(({ kind, path: own }) => kind === 'use' && path.startsWith(`${own}/`))
}

/** The step that a line of a file belongs to: the last one that begins there or above. */
export function stepAt(line: number, home: PlannedStep | undefined, plan: Plan): PlannedStep | undefined {
  const steps = everyStep([...plan.plan, ...plan.finally])
  const own = steps.filter(({ path }) => homeOf(path, plan)?.path === home?.path)
  return own
    .filter((step) => step.line <= line)
    .toSorted((one, other) => one.line - other.line)
    .at(-1)
}
