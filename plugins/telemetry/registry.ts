import type { RecordName, TypedRecords } from '../../engine/index.ts'
import { rowOf } from '../../engine/kit.ts'
import { counterMetric, gaugeMetric, histogramMetric } from './instruments.ts'
import type {
  Across,
  Bound,
  Counter,
  EndedValues,
  Gauge,
  HasEnded,
  Histogram,
  Instrument,
  LabelValues,
  Metric,
  ToldMetric,
  ToldValue,
} from './instruments.ts'

/** Milliseconds that the series of a deleted record, or key, stay. */
const stay = 55 * 60_000
/** Milliseconds that others are told of a value that has ended: each of them notices the end of a value by itself. */
const tells = 5 * 60_000
/** Milliseconds between two looks at which values of labels without a table are there: it takes a list of all keys. */
const looks = 10_000
/** What stands for all values beyond the most that a label may have. */
const beyond = 'other'

/** Tells of a label without a table which values are there; undefined: it does not know this label. */
export type Living = (label: string) => ((value: string) => boolean) | undefined

/** A value that is no more, and since when, in milliseconds of the clock. */
interface Gone {
  readonly values: LabelValues
  readonly value: string
  readonly since: number
}

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
  readonly #gone = new Map<string, Gone>()
  readonly #living = new Map<string, Living>()
  readonly #now: () => number
  #lookedAt = -Infinity
  /** How often series have ended: whoever holds some asks for them again. */
  ended = 0

  /**
   * @param failed hears of a listener that throws
   * @param now milliseconds of a clock that never goes back
   */
  constructor(failed: (owner: string, error: unknown) => void, now: () => number = () => performance.now()) {
    this.#failed = failed
    this.#now = now
  }

  /** Asks from now on which values of labels without a table are there; a later one of the same owner replaces it. */
  asks(owner: string, living: Living): void {
    this.#living.set(owner, living)
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

  /**
   * What processes have told, without what has ended and without labels of before. What ends does so for all of them at
   * once: a sum that lost one share after the other would fall, and a counter that falls has begun anew.
   * @param ended what has ended in the eyes of any of them
   */
  current(
    processes: readonly (readonly ToldMetric[])[],
    ended: readonly EndedValues[],
  ): readonly (readonly ToldMetric[])[] {
    const mayStand = this.#mayStand()
    const hasEnded = this.#hasEnded(mayStand)
    const elsewhere = this.#keysOf(ended)
    const isCurrent = (declared: Metric['labels'], { le: _bucket, ...own }: ToldValue['labels']) =>
      Object.keys(own).join() === Object.keys(declared).join() &&
      Object.entries(declared).every(([label, values]) => {
        const value = String(own[label])
        return mayStand(values, value) || !(hasEnded(values, value) || elsewhere.has(keyOf(values, value)))
      })
    return processes.map((told) =>
      told.map((metric) => {
        const { labels } = this.#metrics.get(metric.name) ?? {}
        return labels ? { ...metric, values: metric.values.filter((value) => isCurrent(labels, value.labels)) } : metric
      }),
    )
  }

  /** What has ended in the eyes of this process, for a while. */
  ends(): readonly EndedValues[] {
    const now = this.#now()
    const over = [...this.#gone.values()].filter(({ since }) => now - since > stay)
    if (over.length === 0) return []
    const byKind = Map.groupBy(over, ({ values }) => kindOf(values))
    return [...this.#metrics.values()].flatMap(({ name: metric, labels }) =>
      Object.entries(labels).flatMap(([label, declared]) => {
        const values = byKind.get(kindOf(declared))?.map(({ value }) => value)
        return values ? [{ metric, label, values }] : []
      }),
    )
  }

  /** The configuration that is live, and how many values a label without a table may have. */
  follow(records: Pick<TypedRecords, 'find'>, most: number): void {
    this.#records = records
    this.#most = most
    this.#lookedAt = -Infinity
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
    if (!known.has(value) && known.size >= this.#most) return beyond
    known.add(value)
    return value
  }

  #isThere(type: RecordName, name: string): boolean {
    return this.#records?.find(type, name) !== undefined
  }

  /** Tells whether a value may go on to stand in a label. Each label without a table is asked for once. */
  #mayStand(): (values: LabelValues, value: string) => boolean {
    const asked = new Map<string, (value: string) => boolean>()
    const livingOf = (label: string) => {
      const known = [...this.#living.values()].map((living) => living(label)).find((one) => one !== undefined)
      const isThere = known ?? (() => true)
      asked.set(label, isThere)
      return isThere
    }
    return (values, value) => {
      if (typeof values !== 'object' || value === '') return true
      if ('records' in values) return value === 'unknown' || this.#isThere(values.records, value)
      if (!('free' in values)) return true
      return value === beyond || (asked.get(values.free) ?? livingOf(values.free))(value)
    }
  }

  /** Tells whether a value has not been there for so long that its series end; notes what has just gone. */
  #hasEnded(mayStand: (values: LabelValues, value: string) => boolean): HasEnded {
    const now = this.#now()
    return (values, value) => {
      if (mayStand(values, value)) return false
      const key = keyOf(values, value)
      const gone = this.#gone.get(key) ?? { values, value, since: now }
      this.#gone.set(key, gone)
      return now - gone.since > stay
    }
  }

  #keysOf(ended: readonly EndedValues[]): ReadonlySet<string> {
    return new Set(
      ended.flatMap(({ metric, label, values }) => {
        const declared = this.#metrics.get(metric)?.labels[label]
        return declared ? values.map((value) => keyOf(declared, value)) : []
      }),
    )
  }

  #prune(): void {
    const now = this.#now()
    if (now - this.#lookedAt < looks) return
    this.#lookedAt = now
    const mayStand = this.#mayStand()
    const hasEnded = this.#hasEnded(mayStand)
    for (const metric of this.#metrics.values()) if (metric.prune(hasEnded)) this.ended++
    for (const [label, values] of this.#free)
      for (const value of values) if (hasEnded({ free: label }, value)) values.delete(value)
    for (const [key, { values, value, since }] of this.#gone)
      if (mayStand(values, value) || now - since > stay + tells) this.#gone.delete(key)
  }
}

/** What names the source of the values of a label; undefined: its values never go. */
function kindOf(values: LabelValues): string | undefined {
  if (typeof values !== 'object') return undefined
  if ('records' in values) return `records ${values.records}`
  return 'free' in values ? `free ${values.free}` : undefined
}

function keyOf(values: LabelValues, value: string): string {
  return `${kindOf(values)}\n${value}`
}

/** `ok`, or a code that somebody has declared: a provider may send any text as the code of its error. */
function isCode(code: string): boolean {
  return code === 'ok' || rowOf(code) !== undefined
}
