import type { Json, ServiceHost } from '../../engine/index.ts'
import { moduleBeside } from '../../engine/kit.ts'
import type { ToldMetric } from './instruments.ts'

/** Milliseconds that the first process has for an answer, and a thread to print the metrics. */
const limits = { answer: 1_000, print: 10_000 }

const totals = moduleBeside('totals', import.meta.url)
const print = moduleBeside('print', import.meta.url)

type Told = readonly ToldMetric[]

/** The metrics of all processes of a gateway: each tells the first one what it counts, and whoever is asked adds them up. */
export class Processes {
  readonly #host: Pick<ServiceHost, 'firstProcess' | 'work' | 'log'>
  readonly #counted: () => ToldMetric[]
  /** Tells the first process a last time. */
  #stop: (() => Promise<void>) | undefined
  /** Reads what `prom-client` measures of Node.js and of the process; made on first use. */
  #reading: Promise<() => Promise<Told>> | undefined
  #runtime: Told = []
  /** What the others told last. */
  #others: readonly Told[] = []

  /** @param counted what this process has counted */
  constructor(host: Pick<ServiceHost, 'firstProcess' | 'work' | 'log'>, counted: () => ToldMetric[]) {
    this.#host = host
    this.#counted = counted
  }

  /** Begins, or stops, to tell the first process. */
  follow(enabled: boolean): void {
    if (enabled) this.#stop ??= this.#host.firstProcess?.report(totals, () => this.#report(false))
    else void this.close()
  }

  /** The metrics of all processes, in the text format of Prometheus. */
  async text(): Promise<string> {
    const { firstProcess, work, log } = this.#host
    await this.#readRuntime()
    const told = this.#told()
    const others = await firstProcess?.ask(totals, this.#report(true), limits.answer).catch((error: unknown) => {
      // What the others told last is better than nothing.
      log.warn({ err: error }, 'the first process does not tell what the others count')
    })
    if (others !== undefined) this.#others = others as unknown as readonly Told[]
    return work<string>(print, [told, ...this.#others], limits.print)
  }

  close(): Promise<void> | undefined {
    const stop = this.#stop
    this.#stop = undefined
    return stop?.()
  }

  #told(): ToldMetric[] {
    return [...this.#counted(), ...this.#runtime]
  }

  #report(asks: boolean): Json {
    // Read for the next report, because it takes a moment.
    if (!asks) void this.#readRuntime()
    return { metrics: this.#told(), asks } as unknown as Json
  }

  async #readRuntime(): Promise<void> {
    try {
      const read = await (this.#reading ??= openRuntime())
      this.#runtime = await read()
    } catch (error) {
      this.#host.log.error({ err: error }, 'the process cannot be measured')
    }
  }
}

/** The default metrics of `prom-client`: `process_*` and `nodejs_*`. */
async function openRuntime(): Promise<() => Promise<Told>> {
  const { Registry, collectDefaultMetrics } = await import('prom-client')
  const register = new Registry()
  collectDefaultMetrics({ register })
  return async () => (await register.getMetricsAsJSON()) as unknown as Told
}
