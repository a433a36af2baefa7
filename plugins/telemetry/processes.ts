import type { Json, ServiceHost } from '../../engine/index.ts'
import { moduleBeside } from '../../engine/kit.ts'
import type { Across, ToldMetric } from './instruments.ts'
import type { Registry } from './registry.ts'
import type { Report, Totals } from './totals.ts'

/** Milliseconds that the first process has for an answer, and a thread to print the metrics. */
const limits = { answer: 1_000, print: 10_000 }

const totals = moduleBeside('totals', import.meta.url)
const print = moduleBeside('print', import.meta.url)

type Told = readonly ToldMetric[]

/** The metrics of all processes of a gateway: each tells the first one what it counts, and whoever is asked adds them up. */
export class Processes {
  readonly #host: Pick<ServiceHost, 'firstProcess' | 'work' | 'log'>
  readonly #registry: Registry
  /** Tells the first process a last time. */
  #stop: (() => Promise<void>) | undefined
  /** Reads what `prom-client` measures of Node.js and of the process; made on first use. */
  #reading: Promise<() => Promise<Told>> | undefined
  #runtime: Told = []
  /** What the others told last. */
  #others: Totals = { told: [], ended: [] }

  constructor(host: Pick<ServiceHost, 'firstProcess' | 'work' | 'log'>, registry: Registry) {
    this.#host = host
    this.#registry = registry
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
    const answer = await firstProcess?.ask(totals, this.#report(true), limits.answer).catch((error: unknown) => {
      // What the others told last is better than nothing.
      log.warn({ err: error }, 'the first process does not tell what the others count')
    })
    if (answer !== undefined) this.#others = answer as unknown as Totals
    const { told: others, ended } = this.#others
    return work<string>(print, this.#registry.current([told, ...others], ended), limits.print)
  }

  close(): Promise<void> | undefined {
    const stop = this.#stop
    this.#stop = undefined
    return stop?.()
  }

  #told(): ToldMetric[] {
    return [...this.#registry.told(), ...this.#runtime]
  }

  #report(asks: boolean): Json {
    // Read for the next report, because it takes a moment.
    if (!asks) void this.#readRuntime()
    const report: Report = { metrics: this.#told(), ended: this.#registry.ends(), asks }
    return report as unknown as Json
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
  return async () => {
    const told = (await register.getMetricsAsJSON()) as unknown as Told
    return told.map((metric) => ({ ...metric, aggregator: acrossOf(metric) }))
  }
}

/** Of several processes, what the library leaves out is that of the first to start, and the slowest loop counts. */
function acrossOf({ name, aggregator }: ToldMetric): Across {
  if (name === 'process_start_time_seconds') return 'min'
  return name.startsWith('nodejs_eventloop_lag') ? 'max' : aggregator
}
