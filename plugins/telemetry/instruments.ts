import type { RecordName } from '../../engine/index.ts'

/**
 * Where the values of a label come from: a fixed table, the names of a type of records, the error codes that somebody
 * has declared, or what the engine itself names (pipelines, protocols, versions). Values of `free` have no table, and
 * are counted under this name.
 */
export type LabelValues =
  | readonly string[]
  | { readonly records: RecordName }
  | { readonly free: string }
  | 'pipeline'
  | 'protocol'
  | 'version'
  | 'code'

/** How the values of several processes become one: added, the greatest, the least, or that of any process. */
export type Across = 'sum' | 'max' | 'min' | 'first'

/** What every instrument says of itself. */
export interface Instrument<L extends string> {
  /** Lower-case words with `_`, the unit, and `_total` for a counter. */
  readonly name: string
  /** One sentence. */
  readonly help: string
  readonly labels?: Readonly<Record<L, LabelValues>>
}

export interface Counter {
  add(amount?: number): void
  /** Takes over a total that is counted elsewhere. It never falls. */
  set(total: number): void
}
export interface Gauge {
  set(value: number): void
  add(amount: number): void
}
export interface Histogram {
  observe(value: number): void
}

/** One metric with the values of all its series, as processes tell each other, and as `prom-client` aggregates them. */
export interface ToldMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly aggregator: Across
  readonly values: readonly ToldValue[]
}

export interface ToldValue {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** Of a histogram: the name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string
}

/** Values of a label that have not been there for so long that their series end. */
export interface EndedValues {
  readonly metric: string
  readonly label: string
  readonly values: readonly string[]
}

/** Tells whether the series that a value names end. */
export type HasEnded = (values: LabelValues, value: string) => boolean

/** The value of one combination of labels. */
abstract class Series {
  readonly labels: Readonly<Record<string, string>>

  constructor(labels: Readonly<Record<string, string>>) {
    this.labels = labels
  }

  abstract told(name: string): readonly ToldValue[]
}

/** Counts, or holds a value. */
class NumberSeries extends Series implements Counter, Gauge {
  #value = 0

  add(amount = 1): void {
    this.#value += amount
  }

  set(value: number): void {
    this.#value = value
  }

  told(): readonly ToldValue[] {
    return [{ labels: this.labels, value: this.#value }]
  }
}

class HistogramSeries extends Series implements Histogram {
  readonly #bounds: readonly number[]
  /** The observations of each bucket alone, and of what is beyond the last one. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    super(labels)
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && value > (bounds[at] as number)) at++
    this.#counts[at] = (this.#counts[at] as number) + 1
    this.#sum += value
  }

  told(name: string): readonly ToldValue[] {
    let count = 0
    const buckets = Array.from(this.#counts, (own, at) => {
      count += own
      return { labels: { le: this.#bounds[at] ?? '+Inf', ...this.labels }, value: count, metricName: `${name}_bucket` }
    })
    return [
      ...buckets,
      { labels: this.labels, value: this.#sum, metricName: `${name}_sum` },
      { labels: this.labels, value: count, metricName: `${name}_count` },
    ]
  }
}

/** Tells whether a value may stand in a label; the value that stands there if it may not. */
export type Bound = (values: LabelValues, value: string) => string

const asItIs: Bound = (_, value) => value

type Labels = Readonly<Record<string, string>>

/** Every combination of the values of labels; none if a label has no fixed list of them. */
function combined(labels: readonly (readonly [string, LabelValues])[]): readonly Labels[] {
  return labels.reduce<readonly Labels[]>(
    (all, [label, values]) =>
      all.flatMap((one) => (isTable(values) ? values.map((value) => ({ ...one, [label]: value })) : [])),
    [{}],
  )
}

function isTable(values: LabelValues): values is readonly string[] {
  return Array.isArray(values)
}

/** A metric of this process. */
export class Metric<S extends Series = Series> {
  readonly name: string
  readonly type: ToldMetric['type']
  readonly across: Across
  readonly labels: Readonly<Record<string, LabelValues>>
  readonly #help: string
  readonly #make: (labels: Readonly<Record<string, string>>) => S
  readonly #series = new Map<string, S>()

  constructor(
    { name, help, labels = {} }: Instrument<string>,
    type: ToldMetric['type'],
    across: Across,
    make: (labels: Readonly<Record<string, string>>) => S,
  ) {
    this.name = name
    this.type = type
    this.across = across
    this.labels = labels
    this.#help = help
    this.#make = make
    // What has no labels, or a fixed list of values for each, is there from the start, as 0: the first event is a rise.
    const tables = Object.entries(labels)
    if (tables.length === 0) this.of({}, asItIs)
    else if (type === 'counter') for (const each of combined(tables)) this.of(each, asItIs)
  }

  /** The series of these labels; a label that is left out is empty. */
  of(given: Readonly<Record<string, string | undefined>>, bound: Bound): S {
    const labels: Record<string, string> = {}
    let key = ''
    for (const name in this.labels) {
      const value = given[name] ?? ''
      labels[name] = value === '' ? '' : bound(this.labels[name] as LabelValues, value)
      key += `${labels[name]}\n`
    }
    const known = this.#series.get(key)
    if (known) return known
    const made = this.#make(labels)
    this.#series.set(key, made)
    return made
  }

  /**
   * Ends series.
   * @returns whether there were any
   */
  prune(hasEnded: HasEnded): boolean {
    const before = this.#series.size
    const labels = Object.entries(this.labels)
    for (const [key, series] of this.#series)
      if (labels.some(([label, values]) => hasEnded(values, series.labels[label] ?? ''))) this.#series.delete(key)
    return this.#series.size < before
  }

  /** Forgets all series, such as those of a version that is no longer there. */
  clear(): void {
    this.#series.clear()
  }

  told(): ToldMetric {
    const { name, type, across: aggregator } = this
    const values = [...this.#series.values()].flatMap((series) => series.told(name))
    return { name, help: this.#help, type, aggregator, values }
  }
}

export const counterMetric = (instrument: Instrument<string>, across: Across) =>
  new Metric(instrument, 'counter', across, (labels) => new NumberSeries(labels))

export const gaugeMetric = (instrument: Instrument<string>, across: Across) =>
  new Metric(instrument, 'gauge', across, (labels) => new NumberSeries(labels))

/** @param bounds upper bounds of the buckets, ascending */
export const histogramMetric = (instrument: Instrument<string>, bounds: readonly number[]) =>
  new Metric(instrument, 'histogram', 'sum', (labels) => new HistogramSeries(labels, bounds))
