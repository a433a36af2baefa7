import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { defineService } from '../../engine/index.ts'
import { GatewayMetrics } from './gateway-metrics.ts'
import type { Across, Counter, Gauge, Histogram, Instrument, ToldMetric } from './instruments.ts'
import { Processes } from './processes.ts'
import { Registry } from './registry.ts'
import type { Living } from './registry.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'What is measured, for Prometheus.',
  properties: {
    metrics: {
      type: 'object',
      additionalProperties: false,
      default: {},
      title: 'Metrics',
      description: 'Counters, gauges and histograms, at GET /metrics.',
      properties: {
        enabled: { type: 'boolean', default: true, title: 'Enabled', description: 'Whether anything is measured.' },
        access: {
          enum: ['key', 'open'],
          default: 'key',
          title: 'Access',
          description: 'Who may read: a session, or an API key with `metrics`; "open": anybody.',
        },
        labels: {
          type: 'array',
          maxItems: 8,
          uniqueItems: true,
          default: [],
          title: 'Further labels',
          items: {
            type: 'string',
            pattern: '^(key|member|tag:[a-z][a-z0-9_]{0,63})$',
            patternErrorMessage: 'must be key, member or tag:<name>',
          },
          description: 'Labels of requests, tokens and cost: key, member, or tag:<name> of an API key.',
        },
        max_series: {
          type: 'integer',
          minimum: 1,
          maximum: 100_000,
          default: 1000,
          title: 'Most values',
          description: 'Values of each further label; beyond, "other" stands there.',
        },
      },
    },
  },
} as const

/** Makes instruments, each once per process: a second declaration of a name gives the first. */
export interface Metrics {
  readonly enabled: boolean
  readonly access: 'key' | 'open'
  counter<L extends string>(instrument: Instrument<L>): (labels: Readonly<Record<L, string>>) => Counter
  gauge<L extends string>(
    instrument: Instrument<L> & { readonly across: Across },
  ): (labels: Readonly<Record<L, string>>) => Gauge
  /** `buckets`: upper bounds, ascending. */
  histogram<L extends string>(
    instrument: Instrument<L> & { readonly buckets: readonly number[] },
  ): (labels: Readonly<Record<L, string>>) => Histogram
  /** Calls a listener before the metrics are read, such as one that sets gauges; a later one of the same owner replaces it. */
  onRead(owner: string, listener: () => void): void
  /** Asks from now on which values of a label without a table are there: series of others end within an hour. */
  asks(owner: string, living: Living): void
  /** What this process has counted. */
  told(): readonly ToldMetric[]
  /** The metrics of all processes, in the text format of Prometheus. */
  text(): Promise<string>
}

declare module '../../engine/index.ts' {
  interface Services {
    metrics: Metrics
  }
}

/** Counts what the gateway does, and tells it to Prometheus. */
export default defineService({
  name: 'metrics',
  summary: 'Counters, gauges and histograms of all processes.',
  section: 'telemetry',
  settings,
  check({ metrics: { enabled, access } }, report, _records, { isReachable }) {
    if (enabled && access === 'open' && isReachable)
      report(
        ['metrics', 'access'],
        'whoever reaches the gateway can read its metrics, which name models and providers',
        'open-metrics',
        'warning',
      )
  },
  open(host) {
    const registry = new Registry((owner, error) => host.log.error({ err: error, owner }, 'its metrics cannot be read'))
    const told = new GatewayMetrics(registry)
    const processes = new Processes(host, registry)
    const channels = [
      ['sluice:exchange:start', (message: unknown) => told.begins(message as never)],
      ['sluice:exchange:end', (message: unknown) => told.ends(message as never)],
      ['sluice:call:end', (message: unknown) => told.called(message as never)],
      ['sluice:socket:start', (message: unknown) => told.opened(message as never)],
      ['sluice:socket:end', (message: unknown) => told.closed(message as never)],
      ['sluice:reload:end', (message: unknown) => told.reloaded(message as never)],
    ] as const
    /** Sets what is known only when somebody reads. */
    const read = () => {
      const { degraded } = host.state()
      const { shared } = host.keyValue
      const stores = {
        database: !degraded.includes('database'),
        ...(shared && { key_value: !degraded.includes('key_value') }),
      }
      told.read({ version: host.version, stores })
    }
    let listens = false
    const listen = (enabled: boolean) => {
      if (enabled === listens) return
      listens = enabled
      for (const [name, listener] of channels) (enabled ? subscribe : unsubscribe)(name, listener)
      if (!enabled) told.forget()
    }
    return {
      configure({ metrics: { enabled, access, labels, max_series: most } }, _views, { version, records, catalog }) {
        const view: Metrics = {
          enabled,
          access,
          counter: (instrument) => registry.counter(instrument),
          gauge: (instrument) => registry.gauge(instrument, instrument.across),
          histogram: (instrument) => registry.histogram(instrument, instrument.buckets),
          told() {
            read()
            return registry.told()
          },
          asks: (owner, living) => registry.asks(owner, living),
          onRead: (owner, listener) => void registry.listeners.set(owner, listener),
          text() {
            read()
            return processes.text()
          },
        }
        return {
          view,
          live() {
            registry.follow(records, most)
            told.follow({ version, models: catalog.models, labels })
            listen(enabled)
            processes.follow(enabled)
          },
        }
      },
      close() {
        listen(false)
        return processes.close()
      },
    }
  },
})
