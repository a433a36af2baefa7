import type { RecordName, TypedRecords } from '../../engine/index.ts'
import { rowOf } from '../../engine/kit.ts'
import { counterMetric, gaugeMetric, histogramMetric } from './instruments.ts'
import type {
  Across,
  Bound,
  Counter,
  Gauge,
  Histogram,
  Instrument,
  LabelValues,
  Metric,
  ToldMetric,
  ToldValue,
} from './instruments.ts'

/** Milliseconds that the series of a deleted record stay. */
const stay = 55 * 60_000

type Given = Readonly<Record<string, string | undefined>>

/** The metrics of this process. */
export class Registry {
  readonly listeners = new Map<string, () => void>()
  readonly #metrics = new Map<string, Metric>()
  readonly #failed: (owner: string, error: unknown) => void
  #records: Pick<TypedRecords, 'find'> | undefined
  #most = 1_000
  /** The values of labels that have no table. */
  readonly #free = new Map<string, Set<string>>()

  /** @param failed hears of a listener that throws */
  constructor(failed: (owner: string, error: unknown) => void) {
    this.#failed = failed
  }

  counter(instrument: Instrument<string>, across: Across = 'sum'): (labels: Given) => Counter {
    return this.#declared(instrument.name, () => counterMetric(instrument, across))
  }

  gauge(instrument: Instrument<string>, across: Across): (labels: Given) => Gauge {
    return this.#declared(instrument.name, () => gaugeMetric(instrument, across))
  }

  histogram(instrument: Instrument<string>, buckets: readonly number[]): (labels: Given) => Histogram {
    return this.#declared(instrument.name, () => histogramMetric(instrument, buckets))
  }

  /** Forgets a metric, such as one that is to have other labels. */
  drop(name: string): void {
    this.#metrics.delete(name)
  }

  /** Forgets the series of a metric, such as that of a version that no longer runs. */
  clear(name: string): void {
    this.#metrics.get(name)?.clear()
  }

  /** A value as it stands in a label. */
  bounded(values: LabelValues, value: string): string {
    return value === '' ? '' : this.#bound(values, value)
  }

  /** What another process has told, without records that are no more and without labels of before. */
  current(told: readonly ToldMetric[]): readonly ToldMetric[] {
    return told.map((metric) => {
      const { labels } = this.#metrics.get(metric.name) ?? {}
      return labels
        ? { ...metric, values: metric.values.filter((value) => this.#isCurrent(labels, value.labels)) }
        : metric
    })
  }

  #isCurrent(declared: Metric['labels'], labels: ToldValue['labels']): boolean {
    const { le: _bucket, ...own } = labels
    if (Object.keys(own).join() !== Object.keys(declared).join()) return false
    return Object.entries(declared).every(
      ([label, values]) =>
        typeof values !== 'object' || !('records' in values) || this.#mayStand(values.records, String(own[label])),
    )
  }

  /** The configuration that is live, and how many values a label without a table may have. */
  follow(records: Pick<TypedRecords, 'find'>, most: number): void {
    this.#records = records
    this.#most = most
    this.#prune()
  }

  told(): ToldMetric[] {
    for (const [owner, listener] of this.listeners)
      try {
        listener()
      } catch (error) {
        this.#failed(owner, error)
      }
    this.#prune()
    return [...this.#metrics.values()].map((metric) => metric.told())
  }

  #declared<M extends Metric>(name: string, make: () => M) {
    const known = this.#metrics.get(name) as M | undefined
    const metric = known ?? make()
    this.#metrics.set(name, metric)
    return (labels: Given) => metric.of(labels, this.#bound) as ReturnType<M['of']>
  }

  readonly #bound: Bound = (values, value) => {
    if (values === 'code') return isCode(value) ? value : 'other'
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

  #isThere(type: RecordName, name: string): boolean {
    return this.#records?.find(type, name) !== undefined
  }

  /** Whether a label may go on to name a record. */
  readonly #mayStand = (type: RecordName, name: string) =>
    name === '' || name === 'unknown' || this.#isThere(type, name)

  #prune(): void {
    const now = performance.now()
    for (const metric of this.#metrics.values()) metric.prune(this.#mayStand, now, now - stay)
  }
}

/** `ok`, or a code that somebody has declared: a provider may send any text as the code of its error. */
function isCode(code: string): boolean {
  return code === 'ok' || rowOf(code) !== undefined
}
