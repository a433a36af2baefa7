import type { FirstProcess, Json } from '../../engine/index.ts'
import { moduleBeside } from '../../engine/kit.ts'
import type {
  Giving,
  Hold,
  Reserved,
  Reserving,
  Seed,
  Settling,
  SharedCounters,
  Sum,
  SumState,
  Taken,
  Taking,
} from './counters.ts'
import type { Asked } from './counter-server.ts'

const module = moduleBeside('counter-server', import.meta.url)

/** The counters of the first process, which all processes of this machine share. Every call rejects if it does not answer. */
export class RemoteCounters implements SharedCounters {
  /** The first process learns at once that another one has ended. */
  readonly beat = Infinity
  readonly #first: FirstProcess

  constructor(first: FirstProcess) {
    this.#first = first
  }

  async take(take: Taking): Promise<Taken> {
    return (await this.#ask({ take })) as Taken
  }

  async give(give: Giving): Promise<void> {
    await this.#ask({ give })
  }

  async reserve(reserve: Reserving): Promise<Reserved> {
    return (await this.#ask({ reserve })) as Reserved
  }

  async settle(settle: Settling): Promise<number | undefined> {
    return (await this.#ask({ settle })) as number | undefined
  }

  async seed(seed: readonly Seed[]): Promise<void> {
    await this.#ask({ seed })
  }

  async read(read: readonly Sum[]): Promise<readonly (SumState | undefined)[]> {
    const states = (await this.#ask({ read })) as readonly (SumState | null)[]
    return states.map((state) => state ?? undefined)
  }

  async reset(bucket: string, at: number): Promise<void> {
    await this.#ask({ reset: { bucket, at } })
  }

  async hold(hold: readonly Hold[]): Promise<void> {
    await this.#ask({ hold })
  }

  async passOn({ id }: Hold): Promise<void> {
    await this.#ask({ passOn: id })
  }

  async greet(): Promise<void> {
    await this.#ask({ read: [] })
  }

  /** Without the first process there is no other one either. */
  processes(): Promise<number> {
    return Promise.resolve(1)
  }

  #ask(asked: Asked): Promise<unknown> {
    return this.#first.ask(module, asked as unknown as Json)
  }
}
