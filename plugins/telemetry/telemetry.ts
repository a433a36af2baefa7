import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { defineService } from '../../engine/index.ts'
import type { Services } from '../../engine/index.ts'
import { providersIn } from './call-span.ts'
import { ConventionMetrics } from './convention-metrics.ts'
import { Delivery } from './delivery.ts'
import { endingCertificates } from './ending-certificates.ts'
import { readEnvironment } from './environment.ts'
import type { TelemetryEnvironment } from './environment.ts'
import { placesIn } from './gateway-metrics.ts'
import { openPushing } from './otlp-metrics.ts'
import type { Pushing } from './otlp-metrics.ts'
import { Registry } from './registry.ts'
import type { Signal } from './variable-reader.ts'

/** What is sent by OTLP, and how that goes. */
export interface Telemetry {
  /** What OpenTelemetry's variables say. */
  readonly environment: TelemetryEnvironment
  readonly deliveries: Readonly<Record<Signal, Delivery>>
  /** Whether a signal that the settings ask for can be sent: a variable may have a value that cannot be used. */
  canSend(signal: Signal): boolean
  /** Says whether a signal is asked for, by the configuration that is live. */
  asks(signal: Signal, isAsked: boolean): void
  /** Says how the sending of a signal began: an error turns it off, until it begins without one. */
  opened(signal: Signal, error?: unknown): void
}

declare module '../../engine/index.ts' {
  interface Services {
    telemetry: Telemetry
  }
}

/** Knows what is sent to collectors, and tells when it does not arrive. */
export default defineService({
  name: 'telemetry',
  summary: "OpenTelemetry's variables, and whether collectors take what is sent.",
  section: 'telemetry',
  uses: ['metrics', 'notifications'],
  variables: (environment) => readEnvironment(environment).said,
  open(host) {
    const environment = readEnvironment(host.environment)
    const deliveries = { traces: new Delivery('traces'), metrics: new Delivery('metrics') }
    const asked = new Set<Signal>()
    const told = new Set<Signal>()
    const failed = new Set<Signal>()
    const conventions = new Registry((owner, error) => host.log.error({ err: error, owner }, 'cannot be measured'))
    const measured = new ConventionMetrics(conventions)
    const channels = [
      ['sluice:call:end', (message: unknown) => measured.called(message as never)],
      ['sluice:exchange:end', (message: unknown) => measured.ends(message as never)],
    ] as const
    const opened = (signal: Signal, error?: unknown) => {
      if (error === undefined) return void failed.delete(signal)
      if (!failed.has(signal)) host.log.error({ err: error, signal }, 'telemetry is off: it cannot be sent')
      failed.add(signal)
    }
    let pushing: Promise<Pushing | undefined> | undefined
    /** Never rejects. */
    const opening = async (told: Parameters<typeof openPushing>[3]) => {
      try {
        const made = await openPushing(environment, deliveries.metrics, host.version, told)
        opened('metrics')
        return made
      } catch (error) {
        opened('metrics', error)
        return undefined
      }
    }
    /** Begins, or stops, to send metrics; what was counted stays. */
    const push = async (isOn: boolean, metrics: Services['metrics'], limit = flushing) => {
      if (isOn === (pushing !== undefined)) return
      for (const [name, listener] of channels) (isOn ? subscribe : unsubscribe)(name, listener)
      const before = pushing
      const told = () => [...metrics.told(), ...conventions.told()]
      pushing = isOn ? opening(told) : undefined
      await (await before)?.close(limit)
    }
    /** Those of signals that are sent; both signals may have the same. */
    const certificates = () => {
      const used = environment.certificates.filter(({ signal }) => asked.has(signal))
      return [...new Map(used.map((file) => [file.variable, file])).values()]
    }
    let stop: (limit: number) => Promise<void> = () => Promise.resolve()
    const reasonOf = (signal: Signal) => {
      if (!asked.has(signal)) return undefined
      return environment.broken.get(signal) ?? (failed.has(signal) ? 'they cannot be sent' : undefined)
    }
    return {
      configure(_settings, { metrics, notifications }, { records, catalog }) {
        const isAsked = metrics.enabled && environment.metrics.pushes
        const view: Telemetry = {
          environment,
          deliveries,
          canSend: (signal) => !environment.broken.has(signal),
          asks(signal, isAsked) {
            if (isAsked) asked.add(signal)
            else asked.delete(signal)
            const reason = isAsked ? environment.broken.get(signal) : undefined
            if (reason === undefined || told.has(signal)) return
            told.add(signal)
            host.log.error({ signal, reason }, 'telemetry is off: a variable of the environment cannot be used')
          },
          opened,
        }
        return {
          view,
          live() {
            measure(metrics, deliveries)
            view.asks('metrics', isAsked)
            notifications.watch('certificates', { every: looks, read: () => endingCertificates(certificates()) })
            conventions.follow(records, mostValues)
            measured.follow(providersIn(records), placesIn(catalog.models))
            stop = (limit) => push(false, metrics, limit)
            push(isAsked && view.canSend('metrics'), metrics).catch((error: unknown) =>
              host.log.error({ err: error }, 'metrics cannot be sent'),
            )
          },
        }
      },
      close: (limit) => stop(Math.min(flushing, limit)),
      status() {
        const reasons = signals.map((signal) => {
          const reason = reasonOf(signal)
          if (reason !== undefined) return `${signal} are off: ${reason}`
          return asked.has(signal) ? deliveries[signal].status() : undefined
        })
        return reasons.filter((reason) => reason !== undefined).join('; ') || undefined
      },
    }
  },
})

/** Milliseconds that a process which ends has for its last metrics. */
const flushing = 5_000
/** Milliseconds between two looks at files of certificates. */
const looks = 60_000
/** Most values of a label that has no table. */
const mostValues = 1_000

const signals: readonly Signal[] = ['traces', 'metrics']

function measure(metrics: Services['metrics'], deliveries: Telemetry['deliveries']): void {
  const help = 'Spans and batches of metrics that were lost: the queue was full, or the collector did not take them.'
  const dropped = metrics.counter({ name: 'sluice_telemetry_dropped_total', help, labels: { signal: signals } })
  metrics.onRead('telemetry', () => {
    for (const signal of signals) dropped({ signal }).set(deliveries[signal].dropped)
  })
}
