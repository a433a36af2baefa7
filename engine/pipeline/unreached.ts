import type { Logger } from 'pino'
import type { StagePlace } from '../spec/scope.ts'
import type { Bag } from './bag.ts'
import { atMost } from './settlement.ts'
import type { RunScope } from './step.ts'

/** What a stage does when the exchange failed before it was reached. */
export interface Unreached {
  readonly place: StagePlace
  /** `file:line:column (name)`. */
  readonly at: string
  readonly run: (slots: Bag, scope: RunScope) => unknown
}

/**
 * Lets the stages that never ran add what they want to the answer of a failed exchange. Failures are logged. Returns a
 * promise, which never rejects, only if it has to wait.
 */
export function runUnreached(
  { unreached, log }: { readonly unreached: readonly Unreached[]; readonly log: Logger },
  slots: Bag,
  scope: RunScope,
): Promise<void> | undefined {
  if (unreached.length === 0) return undefined
  const reached = new Set(scope.laps.map(({ stage }) => stage.path))
  const missed = unreached.filter(({ place }) => !reached.has(place.path))
  const pending = missed.map(async ({ place: { name }, at, run }) => {
    const failed = (error: unknown) =>
      log.error({ err: error, id: scope.id, at }, `"${name}" could not add to the answer of a failed exchange`)
    const late = () => log.error({ id: scope.id, at }, `"${name}" took too long; the error is answered without it`)
    await atMost(
      Promise.try(() => run(slots, scope)).then(() => undefined, failed),
      late,
    )
  })
  return pending.length === 0 ? undefined : Promise.all(pending).then(() => undefined)
}
