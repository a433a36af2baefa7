// The global of this name is a getter.
import { performance } from 'node:perf_hooks'
import { GatewayError } from '../spec/error.ts'
import type { RunScope, Step } from './run.ts'

/** Something that is waited for, with what is done each time it is looked at. */
export interface Waiting {
  /**
   * Undefined once nobody waits any more: a table of the set that was outgrown may live on for a while, and with it all
   * that it refers to, streams with their buffers among them.
   * @param now milliseconds of `performance.now()`
   */
  look: ((now: number) => void) | undefined
}

/** Milliseconds between two looks: how late what waits may be found out of time. */
export const beat = 100

const waiting = new Set<Waiting>()
let looking: NodeJS.Timeout | undefined

/**
 * Has something looked at ten times a second. One timer serves all that wait, and none is there while nothing does: a
 * timer for each stage would cost more than most stages.
 */
export function watch(one: Waiting): void {
  waiting.add(one)
  looking ??= setInterval(lookAtAll, beat)
}

/** Has it looked at no more. False: it was not any more. */
export function unwatch(one: Waiting): boolean {
  one.look = undefined
  return waiting.delete(one)
}

function lookAtAll(): void {
  const now = performance.now()
  for (const one of waiting) one.look?.(now)
  if (waiting.size > 0) return
  clearInterval(looking)
  looking = undefined
}

/**
 * Waits for a stage that has answered a promise.
 * @param limit milliseconds it may take, unless the steps around it have less
 * @param expired called when that time is over; whatever the stage answers then comes too late
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
      const error = new GatewayError('stage_timeout', { stage }, { tags: ['timeout'] })
      scope.giveUp(error)
      expired(error)
    },
  }
  watch(waiting)
  return waiting
}

/** Steps that together may take `limit` milliseconds: the stage that runs when they are over fails. */
export function limitedStep(run: Step, limit: number): Step {
  return (slots, scope) => {
    const outer = scope.deadline
    const restore = () => void (scope.deadline = outer)
    scope.deadline = Math.min(outer, scope.clock() + limit)
    let pending: Promise<void> | undefined
    try {
      pending = run(slots, scope)
    } finally {
      // What waits goes on under this deadline.
      if (pending === undefined) restore()
    }
    return pending?.finally(restore)
  }
}
