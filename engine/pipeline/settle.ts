import { asGatewayError } from '../spec/error.ts'
import { isPromise } from './bag.ts'
import type { Bag } from './bag.ts'
import { Settlement } from './settlement.ts'
import type { Settler } from './settlement.ts'
import { followed } from './later.ts'
import type { RunScope, StageRun, Step } from './step.ts'

/** A settling stage: its settlement is kept with the path on which it runs. */
export function settling(run: StageRun, by: Settler): StageRun {
  return (slots, scope) => {
    const way = (scope.settlement ??= new Settlement(scope.id))
    const given = run(slots, scope, (work) => way.add({ work, by }))
    if (isPromise(given)) way.await(given)
    return given
  }
}

/** A try with settling stages: a path of its own, which settles at once when it fails. */
export function settlingTry(run: Step): Step {
  return (slots, scope) => {
    const outer = (scope.settlement ??= new Settlement(scope.id))
    const own = (scope.settlement = new Settlement(scope.id))
    const joined = () => {
      own.join(outer)
      scope.settlement = outer
    }
    const broken = async (thrown: unknown) => {
      await settleTry(own, outer, slots, scope, thrown)
      throw thrown
    }
    try {
      const pending = run(slots, scope)
      if (pending !== undefined) return followed(pending, joined, broken)
    } catch (thrown) {
      return broken(thrown)
    }
    joined()
    return undefined
  }
}

/** Settles a try that has failed. What comes too late for it belongs to the outer path. */
export async function settleTry(
  own: Settlement,
  outer: Settlement,
  slots: Bag,
  scope: RunScope,
  thrown: unknown,
): Promise<void> {
  await own.end(slots, asGatewayError(thrown))
  own.fail(outer)
  scope.settlement = outer
}
