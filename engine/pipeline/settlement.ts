import type { Logger } from 'pino'
import type { End } from '../spec/stage.ts'
import { isPromise } from './bag.ts'
import type { Bag } from './bag.ts'

/** Milliseconds that what settles is waited for. */
const patience = 5_000

/** A stage that settles, as the engine needs to know it. */
export interface Settler {
  readonly name: string
  /** `file:line:column (name)`. */
  readonly at: string
  /** It settles with what `finally` gives. */
  readonly afterFinally: boolean
  readonly log: Logger
  /** `text` without any secret the gateway knows of. */
  readonly scrub: (text: string) => string
}

/** What one stage has said that has to be done. */
interface Due {
  readonly work: (slots: Bag, end: End) => unknown
  readonly by: Settler
}

/** How a way has ended: the slots at its end, and what went wrong. */
interface Ended {
  readonly slots: Bag
  readonly error: End['error']
}

/** What has to be done when one way has ended: a try of an `attempt`, or the whole exchange. */
export class Settlement {
  /** Id of the exchange. */
  readonly #id: string
  /** Oldest first. */
  #due: Due[] = []
  #ended: Ended | undefined
  #outer: Settlement | undefined
  /** Stages that settle and have not come back, though their time may be over, and what was settled too late. */
  #late: Set<Promise<unknown>> = new Set()

  constructor(id: string) {
    this.#id = id
  }

  /** Keeps it until the way has ended. A stage whose time was over may come too late for that: then it is done at once. */
  add(due: Due): void {
    if (this.#outer) this.#outer.add(due)
    else if (this.#ended) this.await(this.#settle(due, this.#ended))
    else this.#due.push(due)
  }

  /** The exchange is not over before this is, if it is within time. */
  await(work: Promise<unknown> | undefined): void {
    if (work === undefined) return
    const late = this.#late
    const over = () => late.delete(work)
    late.add(work)
    work.then(over, over)
  }

  /** The way has led back to the one around it, and ends with that. */
  join(outer: Settlement): void {
    for (const due of this.#due) outer.add(due)
    this.#due = []
    this.#outer = outer
  }

  /** The try has failed: what comes too late for it is the matter of the way around it. */
  fail(outer: Settlement): void {
    for (const work of this.#late) outer.await(work)
    this.#late = outer.#late
  }

  /** Resolves when all that is late has come, or is not waited for any more; undefined: there is nothing. */
  late(log: Logger): Promise<void> | undefined {
    if (this.#late.size === 0) return undefined
    return atMost(allOf(this.#late), () =>
      log.error({ id: this.#id }, `a stage that settles has not come back within ${patience} ms`),
    )
  }

  /** Does what takes nothing of `finally`. It answers a promise, which never rejects, only when it has to wait. */
  endBeforeFinally(slots: Bag, error: End['error']): Promise<void> | undefined {
    const now = this.#due.filter(({ by }) => !by.afterFinally)
    this.#due = this.#due.filter(({ by }) => by.afterFinally)
    return this.#settleAll(now, { slots, error })
  }

  /** Does all that is left; whatever comes later is done at once. It answers as `endBeforeFinally` does. */
  end(slots: Bag, error: End['error']): Promise<void> | undefined {
    this.#ended = { slots, error }
    const now = this.#due
    this.#due = []
    return this.#settleAll(now, this.#ended)
  }

  #settleAll(due: readonly Due[], ended: Ended): Promise<void> | undefined {
    let last: Promise<void> | undefined
    for (const one of due.toReversed())
      last = last === undefined ? this.#settle(one, ended) : last.then(() => this.#settle(one, ended))
    return last
  }

  #settle({ work, by }: Due, { slots, error }: Ended): Promise<void> | undefined {
    const { log, name, at, scrub } = by
    const failed = (thrown: unknown) => log.error({ err: thrown, id: this.#id, at }, `"${name}" could not settle`)
    try {
      const given = work(slots, endOf(error, scrub))
      if (!isPromise(given)) return undefined
      return atMost(
        Promise.resolve(given).then(() => undefined, failed),
        () => log.error({ id: this.#id, at }, `"${name}" has not settled within ${patience} ms and is not waited for`),
      )
    } catch (thrown) {
      failed(thrown)
      return undefined
    }
  }
}

async function allOf(pending: ReadonlySet<Promise<unknown>>): Promise<void> {
  // What comes late may have to be waited for in its turn.
  while (pending.size > 0) await Promise.allSettled(pending)
}

function endOf(error: End['error'], scrub: Settler['scrub']): End {
  if (error === undefined) return {}
  const { code, message, tags } = error
  return { error: { code: scrub(code), message: scrub(message), tags } }
}

/** Waits for what never rejects, but no longer than it has patience. */
function atMost(work: Promise<void>, over: () => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      over()
      resolve()
    }, patience)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
