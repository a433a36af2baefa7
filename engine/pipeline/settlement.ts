import type { Logger } from 'pino'
import type { End } from '../spec/stage.ts'
import { isPromise } from './bag.ts'
import type { Bag } from './bag.ts'

/** Milliseconds to wait for a stage to settle. */
const settleTimeout = 5_000

/** A settling stage as the engine sees it. */
export interface Settler {
  readonly name: string
  /** `file:line:column (name)`. */
  readonly at: string
  /** Whether it settles with slots given by `finally`. */
  readonly afterFinally: boolean
  readonly log: Logger
  /** Returns `text` with all known secrets redacted. */
  readonly scrub: (text: string) => string
}

/** The pending settlement of one stage. */
interface Due {
  readonly work: (slots: Bag, end: End) => unknown
  readonly by: Settler
}

/** How a path ended: the slots at its end, and the failure. */
interface Ended {
  readonly slots: Bag
  readonly error: End['error']
}

/** All that has to be settled at the end of one path: a try of an `attempt`, or the whole exchange. */
export class Settlement {
  /** The exchange id. */
  readonly #id: string
  /** Oldest first. */
  #due: Due[] = []
  #ended: Ended | undefined
  #outer: Settlement | undefined
  /**
   * Settling stages that have not returned yet, although they may have timed out, and settlements that came too late.
   * Most exchanges have none.
   */
  #late: Set<Promise<unknown>> | undefined

  constructor(id: string) {
    this.#id = id
  }

  /**
   * Keeps a settlement until the path ends. One from a stage that timed out may come later, and is then settled at
   * once.
   */
  add(due: Due): void {
    if (this.#outer) this.#outer.add(due)
    else if (this.#ended) this.await(this.#settle(due, this.#ended))
    else this.#due.push(due)
  }

  /** The exchange does not end before this work, or its timeout. */
  await(work: Promise<unknown> | undefined): void {
    if (work === undefined) return
    const late = (this.#late ??= new Set())
    const over = () => late.delete(work)
    late.add(work)
    work.then(over, over)
  }

  /** The path has rejoined the outer path, and settles with it. */
  join(outer: Settlement): void {
    for (const due of this.#due) outer.add(due)
    this.#due = []
    this.#outer = outer
  }

  /** The try has failed. Settlements that come too late for it belong to the outer path. */
  fail(outer: Settlement): void {
    for (const work of this.#late ?? []) outer.await(work)
    this.#late = outer.#late ??= new Set()
  }

  /** Resolves when all late work has finished or timed out; undefined when there is none. */
  late(log: Logger): Promise<void> | undefined {
    const late = this.#late
    if (late === undefined || late.size === 0) return undefined
    return atMost(allOf(late), () => log.error({ id: this.#id }, `a stage has not settled within ${settleTimeout} ms`))
  }

  /**
   * Settles everything that needs nothing from `finally`. Returns a promise, which never rejects, only if it has to
   * wait.
   */
  endBeforeFinally(slots: Bag, error: End['error']): Promise<void> | undefined {
    const due = this.#due
    // Nearly always all wait for `finally`, and a list of them would be a second one.
    if (due.every(({ by }) => by.afterFinally)) return undefined
    this.#due = due.filter(({ by }) => by.afterFinally)
    return this.#settleAll(
      due.filter(({ by }) => !by.afterFinally),
      { slots, error },
    )
  }

  /** Settles the rest; later settlements run at once. Returns like `endBeforeFinally`. */
  end(slots: Bag, error: End['error']): Promise<void> | undefined {
    this.#ended = { slots, error }
    const now = this.#due
    this.#due = []
    return this.#settleAll(now, this.#ended)
  }

  #settleAll(due: readonly Due[], ended: Ended): Promise<void> | undefined {
    let last: Promise<void> | undefined
    for (let at = due.length - 1; at >= 0; at--) {
      const one = due[at] as Due
      last = last === undefined ? this.#settle(one, ended) : last.then(() => this.#settle(one, ended))
    }
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
        () =>
          log.error(
            { id: this.#id, at },
            `"${name}" has not settled within ${settleTimeout} ms; the gateway does not wait any longer`,
          ),
      )
    } catch (thrown) {
      failed(thrown)
      return undefined
    }
  }
}

async function allOf(pending: ReadonlySet<Promise<unknown>>): Promise<void> {
  // Late work may add further late work.
  while (pending.size > 0) await Promise.allSettled(pending)
}

function endOf(error: End['error'], scrub: Settler['scrub']): End {
  if (error === undefined) return {}
  const { code, message, tags } = error
  return { error: { code: scrub(code), message: scrub(message), tags } }
}

/** Waits for a promise that never rejects, for at most 5 seconds; `over` is called when they are over. */
export function atMost(work: Promise<void>, over: () => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      over()
      resolve()
    }, settleTimeout)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
