import { performance } from 'node:perf_hooks'
import { defineService } from '../../engine/index.ts'
import type { Candidate, Catalog, ConfigOf, Requester, Services } from '../../engine/index.ts'
import { duration, durationSchema, placesOf } from '../../engine/kit.ts'
import { breakerOf, coolingKeys, merged } from './breaker-rows.ts'
import type { BreakerRow, PooledKey, Told } from './breaker-rows.ts'
import type { CircuitState } from './circuit.ts'
import { Healths, Visit } from './health.ts'
import type { BreakerRules, Health } from './health.ts'
import { Processes } from './processes.ts'
import { migrations } from './table.ts'
import { keysOf, troubles } from './troubles.ts'
import type { ResetsTable } from './table.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'What holds when providers are slow, fail or answer too much.',
  properties: {
    fallbacks: { type: 'boolean', default: true, description: 'Whether the `fallbacks` of models are tried.' },
    breaker: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description:
        'When a provider that fails is left out for a while. Only timeouts, failed connections, 5xx and broken answers are failures. The last candidate of a request is never left out.',
      properties: {
        enabled: { type: 'boolean', default: true, description: 'Whether providers are left out at all.' },
        failures: { type: 'integer', minimum: 1, default: 5, description: 'Failures in a row that open the breaker.' },
        ratio: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: 1,
          default: 0.5,
          description: 'Share of failures that opens it, among at least `minimum` requests within `window`.',
        },
        minimum: { type: 'integer', minimum: 1, default: 20, description: 'Requests from which on `ratio` counts.' },
        window: { ...durationSchema, 'x-minimum': '1s', default: '30s', description: 'Time that `ratio` is about.' },
        open: {
          ...durationSchema,
          'x-minimum': '10ms',
          default: '30s',
          description:
            'How long it is open before one request may probe the provider; after every failed probe once more as long, and always up to 20 % longer at random.',
        },
        open_max: { ...durationSchema, 'x-minimum': '10ms', default: '5m', description: 'Longest time it is open.' },
        per: {
          enum: ['provider', 'provider_model'],
          default: 'provider_model',
          description: 'Whether all models of a provider share a breaker, or each has its own.',
        },
      },
    },
  },
} as const

/** The health of providers, as the stages of one configuration see it. */
export interface Resilience {
  /** Whether fallbacks are tried. */
  readonly fallbacks: boolean
  /** The health of a candidate in this process. */
  healthOf(candidate: Candidate): Health
  /** Whether a candidate would be left out now. */
  isOpen(candidate: Candidate): boolean
  /**
   * Begins a call of a candidate; undefined: it is to be left out.
   * @param insists whether it is called even if its breaker is open
   */
  visit(candidate: Candidate, insists: boolean): Visit | undefined
  /** The breakers of all processes, one per provider and model used since their start, and the keys that cool down. */
  all(): Promise<{ readonly breakers: readonly BreakerRow[]; readonly keys: readonly PooledKey[] }>
  /**
   * Closes breakers in every process, in this one at once.
   * @param by who asks for it
   * @returns how many had counted failures
   */
  reset(which: Pick<ResetsTable, 'provider' | 'model'>, by: Requester): Promise<number>
}

declare module '../../engine/index.ts' {
  interface Services {
    resilience: Resilience
  }
}

/** Knows which providers fail. */
export default defineService({
  name: 'resilience',
  summary: 'The health of providers: breakers, requests under way, latencies.',
  settings,
  migrations,
  uses: ['audit', 'metrics', 'notifications'],
  open(host) {
    let turned: (provider: string, to: CircuitState) => void = () => undefined
    const healths = new Healths(undefined, (provider, to) => turned(provider, to))
    const gauges: Gauges = new Map()
    let tell: () => Told = () => ({ breakers: [], keys: [] })
    const processes = new Processes(host, { tell: () => tell(), reset: (which) => healths.reset(which) })
    return {
      configure({ fallbacks, breaker }, { audit, metrics, notifications }, { catalog, records }) {
        const rules = rulesOf(breaker)
        const own = (): Told => ({
          breakers: healths.all(rules.perModel).map((health) => breakerOf(health, rules)),
          keys: records
            .of('provider')
            .flatMap(({ name }) =>
              (catalog.provider(name)?.provider.cooling?.() ?? []).map((key) => ({ provider: name, ...key })),
            ),
        })
        const everywhere = async () => [own(), ...(await processes.others())]
        const view: Resilience = {
          fallbacks,
          healthOf: (candidate) => healths.of(candidate, rules.perModel),
          isOpen: (candidate) =>
            rules.enabled && healths.of(candidate, rules.perModel).circuit.isWaiting(performance.now()),
          visit(candidate, insists) {
            const health = healths.of(candidate, rules.perModel)
            const admission = rules.enabled ? health.circuit.admit(performance.now()) : 'call'
            if (admission === 'wait' && !insists) return undefined
            processes.start()
            return new Visit(health, rules, admission === 'probe')
          },
          async all() {
            const told = await everywhere()
            return { breakers: merged(told), keys: coolingKeys(told) }
          },
          async reset(which, by) {
            const { provider, model } = which
            const found = merged(await everywhere()).filter(
              (one) =>
                (provider === null || one.provider === provider) &&
                (model === null || one.model === model) &&
                (one.state !== 'closed' || one.failures > 0),
            )
            await host.database.transaction().execute(async (transaction) => {
              await processes.announce(transaction, which)
              if (found.length === 0) return
              const target = provider === null ? {} : { target: { type: 'provider', id: provider, name: provider } }
              const details = { reset: found.length, ...(model === null ? {} : { model }) }
              await audit.append(transaction, { action: 'breaker.reset', by, ...target, details })
            })
            healths.reset(which)
            return found.length
          },
        }
        return {
          view,
          live() {
            tell = own
            healths.keep((health) => canBeAsked(health, catalog))
            turned = measured(metrics, () => healths.all(rules.perModel), gauges)
            notifications.watch('resilience', {
              read: async () => troubles(await view.all(), (name) => keysOf(records.find('provider', name))),
            })
          },
        }
      },
      close: () => processes.close(),
    }
  },
})

const states = { closed: 0, open: 2, half_open: 1 } as const satisfies Record<CircuitState, number>

/** Whether a request can lead to a provider, or to a model at a provider. */
function canBeAsked({ provider, model }: Health, catalog: Pick<Catalog, 'find' | 'provider'>): boolean {
  if (catalog.provider(provider) === undefined) return false
  if (model === null) return true
  const record = catalog.find(model)
  return (
    record !== undefined && record.enabled !== false && placesOf(record).some((place) => place.provider === provider)
  )
}

/** What was measured last, by provider; a configuration may have it no more. */
type Gauges = Map<string, ReturnType<ReturnType<Services['metrics']['gauge']>>>

/** Measures the circuits of this process. Returns what counts their changes. */
function measured(metrics: Services['metrics'], all: () => readonly Health[], gauges: Gauges) {
  const labels = { provider: { records: 'provider' } } as const
  const help = 'The worst breaker of a provider: 0 closed, 1 half open, 2 open.'
  const state = metrics.gauge({ name: 'sluice_breaker_state', help, labels, across: 'max' })
  const transitions = metrics.counter({
    name: 'sluice_breaker_transitions_total',
    help: 'Changes of the breakers of a provider.',
    labels: { ...labels, to: Object.keys(states) },
  })
  metrics.onRead('resilience', () => {
    const worst = new Map<string, number>()
    for (const { provider, circuit } of all())
      worst.set(provider, Math.max(worst.get(provider) ?? 0, states[circuit.state]))
    // What is not known any more has no failures, and its series goes on for a while.
    for (const gauge of gauges.values()) gauge.set(0)
    for (const [provider, value] of worst) {
      const gauge = state({ provider })
      gauges.set(provider, gauge)
      gauge.set(value)
    }
  })
  return (provider: string, to: CircuitState) => transitions({ provider, to }).add()
}

function rulesOf({
  window,
  open,
  open_max: openMax,
  per,
  ...others
}: ConfigOf<typeof settings>['breaker']): BreakerRules {
  return {
    ...others,
    window: duration(window),
    open: duration(open),
    openMax: duration(openMax),
    perModel: per === 'provider_model',
  }
}
