import { defineService } from '../../engine/index.ts'
import type {
  Catalog,
  JsonObject,
  Mode,
  ModelRecord,
  SectionReport,
  Services,
  Tier,
  TypedRecords,
} from '../../engine/index.ts'
import { fitting, isObject, isPattern, tiers, virtualModels } from '../../engine/kit.ts'
import { evaluationOf } from './evaluation.ts'
import type { Replaying } from './recorded-arms.ts'
import { replayed } from './replay.ts'
import type { PastDecision, Replayed } from './replay.ts'
import { settings } from './settings.ts'
import type { RoutingSettings } from './settings.ts'

/** How smart routing decides. */
export interface SmartRouting {
  readonly settings: RoutingSettings
  /** Whether virtual models are served, if any model is eligible. */
  readonly enabled: boolean
  /** The models that a virtual model can choose from, in the order of the configuration. */
  eligible(catalog: Catalog): readonly ModelRecord[]
  /** Those of this configuration. */
  readonly models: readonly ModelRecord[]
  /**
   * Decides a request of the past again, by these settings; undefined: it was refused. With the running settings, the
   * choice is the same, unless records have changed.
   */
  replay(past: PastDecision, by: Omit<Replaying, 'before' | 'catalog'>): Replayed | undefined
  /** Counts a decision, for metrics. */
  decided(decision: Decided): void
  /** Estimates what the mean reward of rated decisions would have been under another policy. */
  readonly evaluation: typeof evaluationOf
}

/** What is counted of a decision. `degraded`: rules were relaxed because no model kept them all. */
interface Decided {
  readonly mode: Mode
  readonly tier: Tier
  readonly model: string
  readonly degraded: boolean
}

declare module '../../engine/index.ts' {
  interface Services {
    smart_routing: SmartRouting
  }
}

/** The settings of smart routing, for all stages and services that take part in it. */
export default defineService({
  name: 'smart_routing',
  summary: 'How the virtual models fast, auto and best choose a model.',
  settings,
  uses: ['metrics'],
  check(given, report, records, { models, written }) {
    checkJudge(given, report, records)
    checkEffects(given, written, report)
    const baseline = models.find(({ name }) => name === given.baseline_model)
    if (baseline && !baseline.pricing)
      report(['baseline_model'], `"${baseline.name}" has no price, so savings are not known`, 'routing', 'warning')
    if (given.enabled && !records.of('model').some(isEligible))
      report(['enabled'], 'no model has auto_eligible: true, so there is nothing to choose from', 'routing', 'warning')
  },
  open: () => {
    let count: SmartRouting['decided'] = () => undefined
    const known = new WeakMap<Catalog, readonly ModelRecord[]>()
    const eligible = (catalog: Catalog) => {
      let found = known.get(catalog)
      if (!found) known.set(catalog, (found = catalog.models.filter(isEligible)))
      return found
    }
    return {
      configure(given, { metrics }, { catalog }) {
        const replay: SmartRouting['replay'] = (past, by) => replayed(past, { before: given, catalog, ...by })
        return {
          view: {
            settings: given,
            enabled: given.enabled,
            eligible,
            models: eligible(catalog),
            replay,
            decided: (decision) => count(decision),
            evaluation: evaluationOf,
          },
          live: () => void (count = counted(metrics)),
        }
      },
    }
  },
})

function counted(metrics: Services['metrics']): SmartRouting['decided'] {
  const decisions = metrics.counter({
    name: 'sluice_routing_decisions_total',
    help: 'Models that were chosen; degraded: no model kept to all rules.',
    labels: { mode: virtualModels, tier: tiers, model: { records: 'model' }, degraded: ['true', 'false'] },
  })
  return ({ degraded, ...labels }) => decisions({ ...labels, degraded: String(degraded) }).add()
}

function isEligible({
  name,
  auto_eligible: eligible,
  enabled = true,
}: Pick<ModelRecord, 'name' | 'auto_eligible' | 'enabled'>): boolean {
  // A pattern is no model that could be chosen.
  return eligible && enabled && !isPattern(name)
}

/** Warns of settings of the judge that change nothing. */
function checkEffects({ enabled, judge }: RoutingSettings, written: JsonObject, report: SectionReport): void {
  if (!judge.enabled) return
  const warn = (field: string, message: string) => report(['judge', field], message, 'routing', 'warning')
  const { max_confidence: confidence, complexity_band: band, not_low_anchor: anchor } = judge.gate
  const isClosed = confidence === null && band === null && !anchor
  if (!enabled) warn('enabled', 'has no effect while smart routing is off')
  else if (isClosed && (!judge.shadow || judge.sample_rate === 0))
    warn('enabled', 'has no effect, because "gate" is empty, so the judge is never asked')
  const given = isObject(written['judge']) ? written['judge'] : {}
  const idle = judge.shadow ? ['apply_min_confidence', 'apply_min_escalation'] : ['sample_rate']
  for (const field of idle)
    if ((given[field] ?? undefined) !== undefined) warn(field, `has no effect with shadow: ${judge.shadow}`)
}

function checkJudge({ judge }: RoutingSettings, report: SectionReport, records: TypedRecords): void {
  const [low = 0, high = 1] = judge.gate.complexity_band ?? []
  if (low >= high)
    report(['judge', 'gate', 'complexity_band'], 'must be two ascending numbers: from the first to below the second')
  if (!judge.enabled) return
  const { model: name } = judge
  if (name === null) return report(['judge', 'model'], 'the judge is enabled, so it must name a model', 'reference')
  const models = records.of('model')
  const { pattern } =
    fitting(
      name,
      models.map((model) => model.name),
    ) ?? {}
  const model = records.find('model', name) ?? models.find((one) => one.name === pattern)
  // An unknown name is a finding of its own.
  if (model && !model.supports_mapeval)
    report(['judge', 'model'], `the model "${name}" lacks supports_mapeval, so it cannot judge`, 'reference')
}
