import type { Attributes, HrTime } from '@opentelemetry/api'
import type * as Sdk from '@opentelemetry/sdk-metrics'
import type { CollectionResult, MetricData, MetricProducer, PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { Delivery } from './delivery.ts'
import type { Sending, TelemetryEnvironment } from './environment.ts'
import type { ToldMetric, ToldValue } from './instruments.ts'
import { closing, exporterOptions, resourceOf, withoutVariables } from './open-tracing.ts'

/** Metrics of this process on their way to a collector. */
export interface Pushing {
  /** Sends the last state, and ends. Takes at most so many milliseconds; never rejects. */
  close(limit: number): Promise<void>
}

/** Sends what the registries of this process hold to a collector, again and again: there is one count of everything. */
export async function openPushing(
  environment: TelemetryEnvironment,
  delivery: Delivery,
  version: string,
  told: () => readonly ToldMetric[],
): Promise<Pushing> {
  const [sdk, resource, exporter] = await Promise.all([
    import('@opentelemetry/sdk-metrics'),
    resourceOf(environment, version),
    metricExporter(environment.metrics.sending),
  ])
  const { interval } = environment.metrics
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter: counted(exporter, delivery),
    exportIntervalMillis: interval,
    exportTimeoutMillis: Math.min(interval, 30_000),
    metricProducers: [new RegistryProducer(sdk, version, told)],
  })
  const provider = new sdk.MeterProvider({ resource, readers: [reader] })
  return { close: (limit) => closing(provider.shutdown(), limit) }
}

async function metricExporter(sending: Sending): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } =
    sending.protocol === 'http/json'
      ? await import('@opentelemetry/exporter-metrics-otlp-http')
      : await import('@opentelemetry/exporter-metrics-otlp-proto')
  return withoutVariables(() => new OTLPMetricExporter(exporterOptions(sending)))
}

/** The exporter, which tells what became of each batch. */
function counted(exporter: PushMetricExporter, delivery: Delivery): PushMetricExporter {
  const send = exporter.export.bind(exporter)
  exporter.export = (metrics, done) => {
    delivery.handedOver()
    send(metrics, (result) => {
      const { code }: { readonly code: number } = result
      if (code === 0) delivery.accepted()
      else delivery.lost(1)
      done(result)
    })
  }
  return exporter
}

/** Units by the last word of a name, which leaves the name. */
const units: Readonly<Record<string, string>> = { seconds: 's', usd: 'USD', bytes: 'By' }

class RegistryProducer implements MetricProducer {
  readonly #sdk: typeof Sdk
  readonly #version: string
  readonly #told: () => readonly ToldMetric[]
  readonly #began = now()

  constructor(sdk: typeof Sdk, version: string, told: () => readonly ToldMetric[]) {
    this.#sdk = sdk
    this.#version = version
    this.#told = told
  }

  async collect(): Promise<CollectionResult> {
    const { emptyResource } = await import('@opentelemetry/resources')
    const time = now()
    const metrics = this.#told()
      .filter(({ values }) => values.length > 0)
      .map((metric) => this.#dataOf(metric, time))
    const scopeMetrics = [{ scope: { name: 'sluice', version: this.#version }, metrics }]
    // The provider puts its own resource in the place of this one.
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] }
  }

  #dataOf({ name, help, type, values }: ToldMetric, endTime: HrTime): MetricData {
    const { AggregationTemporality, DataPointType } = this.#sdk
    const [own, unit] = nameAndUnit(name)
    // ValueType.DOUBLE, whose package is not loaded for its sake.
    const descriptor = { name: own, description: help, unit, valueType: 1 }
    const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
    const startTime = this.#began
    const point = ({ labels, value }: ToldValue) => ({ startTime, endTime, attributes: attributesOf(labels), value })
    if (type === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: values.map(point) }
    if (type === 'counter')
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: values.map(point) }
    const dataPoints = seriesIn(values).map(({ labels, ...value }) => ({
      startTime,
      endTime,
      attributes: attributesOf(labels),
      value,
    }))
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
}

/** `sluice_cost_usd_total` is `sluice.cost`, in USD. Names of the conventions stay. */
function nameAndUnit(name: string): readonly [string, string] {
  if (name.includes('.')) return [name, /token/.test(name) ? '{token}' : 's']
  const words = name.replace(/_total$/, '').split('_')
  const unit = units[words.at(-1) ?? '']
  if (unit !== undefined) return [words.slice(0, -1).join('.'), unit]
  return [words.join('.'), words.includes('tokens') ? '{token}' : '1']
}

/** A label that does not apply is empty, and no attribute. */
function attributesOf(labels: ToldValue['labels']): Attributes {
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))
}

interface HistogramPoint {
  readonly labels: ToldValue['labels']
  readonly buckets: { readonly boundaries: number[]; readonly counts: number[] }
  readonly sum: number
  readonly count: number
}

/** The values of a histogram by series: of each there are all buckets, each with those below it, then sum and count. */
function seriesIn(values: readonly ToldValue[]): HistogramPoint[] {
  const all: HistogramPoint[] = []
  let [boundaries, counts, below, sum]: [number[], number[], number, number] = [[], [], 0, 0]
  for (const { labels, value, metricName = '' } of values) {
    if (metricName.endsWith('_bucket')) {
      if (labels['le'] !== '+Inf') boundaries.push(Number(labels['le']))
      counts.push(value - below)
      below = value
    } else if (metricName.endsWith('_sum')) sum = value
    else {
      all.push({ labels, buckets: { boundaries, counts }, sum, count: value })
      ;[boundaries, counts, below, sum] = [[], [], 0, 0]
    }
  }
  return all
}

function now(): HrTime {
  const milliseconds = Date.now()
  return [Math.floor(milliseconds / 1_000), (milliseconds % 1_000) * 1e6]
}
