import type { Pipeline, StepNode } from './nodes.ts'

/** What the first step of a path does that is no guard: authenticate the client, something else, or there is none. */
type First = 'asks' | 'other' | 'nothing'

/**
 * Whether a stage that provides `principal`, or one that ends the path, comes first on every path, after guards at most.
 * A step that could not be parsed may be that stage.
 */
export function asksFirst(steps: readonly StepNode[], byName: ReadonlyMap<string, Pipeline>): boolean {
  return firstOf(steps, byName, []) === 'asks'
}

function firstOf(
  steps: readonly StepNode[],
  byName: ReadonlyMap<string, Pipeline>,
  opened: readonly Pipeline[],
): First {
  for (const step of steps) {
    const first = firstOfStep(step, byName, opened)
    if (first !== 'nothing') return first
  }
  return 'nothing'
}

function firstOfStep(step: StepNode, byName: ReadonlyMap<string, Pipeline>, opened: readonly Pipeline[]): First {
  switch (step.kind) {
    case 'unknown':
      return 'asks'
    case 'stage':
      // An action checks by itself who runs it, and one that is public needs nobody.
      if (step.stage.provides.includes('principal') || step.stage.ends === true || 'action' in step) return 'asks'
      return step.stage.guards === true || step.stage.gives?.includes('principal') ? 'nothing' : 'other'
    case 'attempt':
      return allOf(
        [step.steps, ...(step.otherwise ? [step.otherwise] : [])].map((steps) => firstOf(steps, byName, opened)),
      )
    case 'use': {
      const target = byName.get(step.pipeline)
      if (target === undefined || opened.includes(target)) return 'asks'
      return firstOf(target.stages, byName, [...opened, target])
    }
    case 'switch': {
      const firsts = step.arms.map(({ steps }) => firstOf(steps, byName, opened))
      return allOf(step.arms.every((arm) => arm.when !== undefined) ? [...firsts, 'nothing'] : firsts)
    }
  }
}

/** The combined result of several alternative paths. */
function allOf(paths: readonly First[]): First {
  if (paths.includes('other')) return 'other'
  return paths.includes('nothing') ? 'nothing' : 'asks'
}
