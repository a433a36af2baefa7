import { asGatewayError } from '../spec/error.ts'
import { isPromise } from './bag.ts'
import type { Bag } from './bag.ts'
import { Settlement } from './settlement.ts'
import type { Settler } from './settlement.ts'
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
  return async (slots, scope) => {
    const outer = (scope.settlement ??= new Settlement(scope.id))
    const own = (scope.settlement = new Settlement(scope.id))
    try {
      await run(slots, scope)
    } catch (thrown) {
      await settleTry(own, outer, slots, scope, thrown)
      throw thrown
    }
    own.join(outer)
    scope.settlement = outer
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
