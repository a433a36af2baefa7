// The global of this name is a getter.
import { performance } from 'node:perf_hooks'
import { GatewayError } from '../spec/error.ts'
import type { RunScope, Step } from './step.ts'

/** Something that is waited for, with what is done each time it is looked at. */
export interface Waiting {
  /** @param now milliseconds of `performance.now()` */
  look(now: number): void
  /** Its neighbours in the ring of all that wait; undefined: nobody waits for it any more. */
  before?: Waiting | undefined
  after?: Waiting | undefined
}

/** Milliseconds between two looks: how late what waits may be found out of time. */
export const beat = 100

/**
 * Where the ring begins and ends. Most that wait do so for a moment, and there are thousands of them a second: in a set,
 * its outgrown tables would keep what is long over alive, streams with their buffers among it.
 */
const ring: Waiting = { look: () => undefined }
ring.before = ring.after = ring
let looking: NodeJS.Timeout | undefined

/**
 * Has something looked at ten times a second. One timer serves all that wait, and none is there while nothing does: a
 * timer for each stage would cost more than most stages.
 */
export function watch(one: Waiting): void {
  const last = ring.before as Waiting
  one.before = last
  one.after = ring
  last.after = ring.before = one
  looking ??= setInterval(lookAtAll, beat)
}

/** Has it looked at no more. False: it was not any more. */
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
  // What is told that its time is over may take out others, too.
  for (const one of all) if (one.after !== undefined) one.look(now)
  if (ring.after !== ring) return
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
