import type { RecordName, TypedRecords } from '../../engine/index.ts'
import { counterMetric, gaugeMetric, histogramMetric } from './instruments.ts'
import type { Across, Bound, Instrument, Metric, ToldMetric } from './instruments.ts'

/** Milliseconds that the series of a deleted record stay. */
const stay = 55 * 60_000

/** The metrics of this process. */
export class Registry {
  readonly listeners = new Map<string, () => void>()
  readonly #metrics = new Map<string, Metric>()
  #records: Pick<TypedRecords, 'find'> | undefined
  #most = 1_000
  /** The values of labels that have no table. */
  readonly #free = new Map<string, Set<string>>()

  counter(instrument: Instrument<string>) {
    return this.#declared(instrument.name, () => counterMetric(instrument))
  }

  gauge(instrument: Instrument<string>, across: Across) {
    return this.#declared(instrument.name, () => gaugeMetric(instrument, across))
  }

  histogram(instrument: Instrument<string>, buckets: readonly number[]) {
    return this.#declared(instrument.name, () => histogramMetric(instrument, buckets))
  }

  /** Forgets a metric, such as one that is to have other labels. */
  drop(name: string): void {
    this.#metrics.delete(name)
  }

  /** The configuration that is live, and how many values a label without a table may have. */
  follow(records: Pick<TypedRecords, 'find'>, most: number): void {
    this.#records = records
    this.#most = most
    this.#prune()
  }

  told(): ToldMetric[] {
    for (const listener of this.listeners.values()) listener()
    this.#prune()
    return [...this.#metrics.values()].map((metric) => metric.told())
  }

  #declared<M extends Metric>(name: string, make: () => M) {
    const known = this.#metrics.get(name) as M | undefined
    const metric = known ?? make()
    this.#metrics.set(name, metric)
    return (labels: Parameters<M['of']>[0]) => metric.of(labels, this.#bound) as ReturnType<M['of']>
  }

  readonly #bound: Bound = (values, value) => {
    if (typeof values === 'string') return value
    if ('free' in values) return this.#limited(values.free, value)
    if ('records' in values) return this.#isThere(values.records, value) ? value : 'unknown'
    return values.includes(value) ? value : 'other'
  }

  #limited(label: string, value: string): string {
    const known = this.#free.get(label) ?? new Set<string>()
    this.#free.set(label, known)
    if (!known.has(value) && known.size >= this.#most) return 'other'
    known.add(value)
    return value
  }

  #isThere = (type: RecordName, name: string) => this.#records?.find(type, name) !== undefined

  #prune(): void {
    const now = performance.now()
    const isThere = (type: RecordName, name: string) => name === '' || name === 'unknown' || this.#isThere(type, name)
    for (const metric of this.#metrics.values()) metric.prune(isThere, now, now - stay)
  }
}
