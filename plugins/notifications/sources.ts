import type { ServiceHost } from '../../engine/index.ts'
import { mapTexts } from '../../engine/kit.ts'
import type { Cause } from './cause.ts'
import type { OpenCause } from './causes.ts'

/** What sees causes of some kind. */
export interface Source {
  /** Milliseconds between two looks; default: each look of the service, which is a second. */
  readonly every?: number
  /**
   * The causes that hold now.
   * @param said those that were said and are not over yet, also before a restart
   */
  read(said: readonly OpenCause[]): readonly Cause[] | Promise<readonly Cause[]>
}

interface Watched extends Source {
  seen: readonly Cause[]
  seenAt: number
  failing: boolean
}

/** Everything that sees causes in this process. */
export class Sources {
  readonly #host: Pick<ServiceHost, 'log' | 'scrub'>
  readonly #all = new Map<string, Watched>()

  constructor(host: Pick<ServiceHost, 'log' | 'scrub'>) {
    this.#host = host
  }

  /** A later source of the same owner replaces the earlier one. */
  watch(owner: string, source: Source): void {
    const { seen = [], seenAt = -Infinity } = this.#all.get(owner) ?? {}
    this.#all.set(owner, { every: source.every ?? 0, read: (said) => source.read(said), seen, seenAt, failing: false })
  }

  /** What holds now. What a source that fails saw last goes on. */
  async read(said: readonly OpenCause[]): Promise<readonly Cause[]> {
    const all = await Promise.all([...this.#all].map(([owner, source]) => this.#seenBy(owner, source, said)))
    return all.flat().map((cause) => this.#clean(cause))
  }

  async #seenBy(owner: string, source: Watched, said: readonly OpenCause[]): Promise<readonly Cause[]> {
    const now = performance.now()
    if (now - source.seenAt < (source.every ?? 0)) return source.seen
    try {
      source.seen = await source.read(said)
      source.seenAt = now
      source.failing = false
    } catch (error) {
      if (!source.failing) this.#host.log.warn({ err: error, owner }, 'it cannot be seen whether something is wrong')
      source.failing = true
    }
    return source.seen
  }

  /** Names come from people, so that one may hold a secret by mistake. */
  #clean({ subject, facts, ...cause }: Cause): Cause {
    const scrub = (text: string) => this.#host.scrub(text).slice(0, longest)
    return { ...cause, subject: scrub(subject), facts: mapTexts(facts, scrub) as Cause['facts'] }
  }
}

/** Most characters of a text. */
const longest = 300
