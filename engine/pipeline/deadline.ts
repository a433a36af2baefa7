// The global `performance` is a getter, which is slower.
import { performance } from 'node:perf_hooks'
import { GatewayError } from '../spec/error.ts'
import type { RunScope, Step } from './step.ts'

/** A waiting operation that is checked periodically. */
export interface Waiting {
  /** @param now milliseconds of `performance.now()` */
  look(now: number): void
  /** Neighbours in the ring of waiting operations; undefined once it no longer waits. */
  before?: Waiting | undefined
  after?: Waiting | undefined
}

/** Milliseconds between two checks, which is how late an expired deadline may be noticed. */
export const beat = 100

/**
 * Start and end of the ring. Thousands of operations per second wait for a moment each. A `Set` is no alternative:
 * its outgrown internal tables would keep finished operations alive, with their streams and buffers.
 */
const ring: Waiting = { look: () => undefined }
ring.before = ring.after = ring
let looking: NodeJS.Timeout | undefined

/**
 * Checks an operation ten times a second. One timer serves all waiting operations and runs only while there are any:
 * a timer per stage would cost more than most stages.
 */
export function watch(one: Waiting): void {
  const last = ring.before as Waiting
  one.before = last
  one.after = ring
  last.after = ring.before = one
  looking ??= setInterval(lookAtAll, beat)
}

/** Stops the checks. Returns false if they had already stopped. */
export function unwatch(one: Waiting): boolean {
  const { before, after } = one
  if (before === undefined || after === undefined) return false
  before.after = after
  after.before = before
  one.before = one.after = undefined
  return true
}

function lookAtAll(): void {
  const now = performance.now()
  const all: Waiting[] = []
  for (let one = ring.after as Waiting; one !== ring; one = one.after as Waiting) all.push(one)
  // A callback may remove other operations, too.
  for (const one of all) if (one.after !== undefined) one.look(now)
  if (ring.after !== ring) return
  clearInterval(looking)
  looking = undefined
}

/**
 * Waits for a stage that returned a promise.
 * @param limit milliseconds that the stage may take, unless the steps around it have less time left
 * @param expired called when that time is over; a later result of the stage is too late
 */
export function waitForStage(
  stage: string,
  limit: number,
  scope: RunScope,
  expired: (error: GatewayError) => void,
): Waiting {
  const deadline = Math.min(scope.clock() + limit, scope.deadline)
  const waiting: Waiting = {
    look(now) {
      if (scope.clock(now) < deadline) return
      unwatch(waiting)
      expired(stopLate(stage, scope))
    },
  }
  watch(waiting)
  return waiting
}

/** Tells a stage whose time is over to stop. Returns its error. */
export function stopLate(stage: string, scope: RunScope): GatewayError {
  const error = new GatewayError('stage_timeout', { stage }, { tags: ['timeout'] })
  scope.giveUp(error)
  return error
}

/** Steps with a common timeout of `limit` milliseconds. The stage that is running at the timeout fails. */
export function limitedStep(run: Step, limit: number): Step {
  return async (slots, scope) => {
    const outer = scope.deadline
    scope.deadline = Math.min(outer, scope.clock() + limit)
    try {
      await run(slots, scope)
    } finally {
      scope.deadline = outer
    }
  }
}
