import { defineStage, noConfig } from '../../engine/index.ts'
import type { Catalog, JsonObject, Mode, Principal, Services, Tier } from '../../engine/index.ts'
import { decidedBlock } from './block.ts'
import type { Estimate } from './block.ts'
import { decide } from './decide.ts'
import type { Choice, Considered } from './choose.ts'
import { partsOf, reasoningOf, tellReasons } from './reasoning.ts'
import { keyOf, modeIn } from './shortlist.ts'
import type { Shortlist } from './shortlisted.ts'
import { limited } from './tier.ts'
import type { RoutingSettings } from './settings.ts'

/** How a request for a virtual model was decided. It can be stored as JSON. */
export type Decision = {
  readonly mode: Mode
  /** After the judge, floors and caps. */
  readonly tier: Tier
  readonly complexity: number
  readonly benefit: number
  /** All models in the order in which they are asked, with what they are predicted to cost in USD; null: unknown. */
  readonly candidates: readonly { readonly model: string; readonly cost: number | null; readonly pass: boolean }[]
  /** In one line, without prompt text. */
  readonly reasoning: string
  /** What was asked, and where it belongs: its answer, and the next turn, teach something about the decision. */
  readonly asked: Asked
  /** The object `routing` of the row, without what is known only when the request was served. */
  readonly block: JsonObject
}

/** A request that was decided. */
type Asked = Pick<Shortlist, 'conversation' | 'incumbent' | 'input'> & {
  /** The last text of the user, cleaned. Never to be logged. */
  readonly ask: string
  /** User turns so far, and results of tools since the last one. */
  readonly turn: number
  readonly step: number
  /** Whether the client named the conversation, or sent an answer of it. */
  readonly isFollowed: boolean
}

declare module '../../engine/index.ts' {
  interface Slots {
    /** How a request for a virtual model was decided. */
    decision: Decision
  }
}

/** Decides which models of the shortlist are asked, in which order. */
export default defineStage({
  name: 'select',
  summary: 'Put the models that may serve a request for a virtual model in order.',
  config: noConfig,
  needs: ['request', 'target', 'ensemble', 'shortlist'],
  reads: ['verdict', 'principal', 'preview'],
  provides: ['decision', 'candidates'],
  owes: [{ duty: 'record-routing', at: 'finally', ahead: ['log'] }],
  uses: ['smart_routing', 'experience', 'members', 'routing_records', 'conversations'],
  build:
    (_config, { catalog }, { smart_routing: routing, experience, members, routing_records: records, conversations }) =>
    ({ request, target, ensemble, shortlist, verdict, principal, preview }, scope) => {
      const mode = modeIn(target)
      const running = preview?.settings ?? routing.settings
      const settings = preview?.seed === undefined ? running : { ...running, seed: preview.seed }
      const { facts } = ensemble
      const { format } = request.neutral('generate')
      const { notes: bounds, ...difficulty } = limited(ensemble, { facts, format, verdict }, settings)
      const id = preview?.id ?? scope.id
      const step = Number(facts['step'] ?? 0)
      const choice = decide({ id, key: keyOf(principal), mode, difficulty, step, shortlist, settings, experience })
      const [chosen] = choice.order
      const notes = [...(verdict?.notes ?? none), ...bounds, ...shortlist.notes, ...choice.notes]
      const { tier } = difficulty
      const reasons = partsOf({ tier, notes: [...ensemble.notes, ...notes], chosen: chosen.model })
      tellReasons(tier, reasons, scope)
      const estimate = estimateOf(choice, settings, catalog)
      if (!preview) {
        const degraded = notes.some((note) => note.startsWith('degraded='))
        routing.decided({ mode, tier, model: chosen.model, degraded })
        experience.pulled({ model: chosen.model, mode, tier, cost: chosen.cost, extra: choice.extra })
        const at = Date.now() - scope.elapsed()
        const { ask: text } = ensemble
        // Sealing it takes longer than the decision.
        scope.onEnd?.(() => records.keep({ id: scope.id, at, text, isJudged: Boolean(verdict?.block()) }))
      }
      const decision: Decision = {
        mode,
        ...difficulty,
        candidates: choice.order.map(({ model, cost, pass }) => ({ model, cost, pass })),
        reasoning: reasoningOf(reasons),
        asked: {
          conversation: shortlist.conversation,
          incumbent: shortlist.incumbent,
          input: shortlist.input,
          ask: ensemble.ask,
          turn: Number(facts['turn'] ?? 0),
          step,
          isFollowed: facts['first'] === false || conversations.isNamed(request),
        },
        block: decidedBlock({
          mode,
          difficulty,
          ensemble,
          notes,
          conversation: shortlist.conversation,
          shortlist,
          choice,
          estimate,
          settings,
          isDiagnosed: settings.diagnostics || preview !== undefined || isTraced(principal, members),
        }),
      }
      return { decision, candidates: choice.order.flatMap(({ entry }) => entry.candidates) }
    },
})

const none: readonly never[] = []

/** Whether the owner of the key has switched the tracing of his requests on. */
function isTraced(principal: Principal | undefined, members: Services['members']): boolean {
  const id = principal?.kind === 'member' ? principal.id : principal?.owner
  return id !== undefined && members.find(id)?.tracing === true
}

function estimateOf({ order }: Choice, { baseline_model: named }: RoutingSettings, catalog: Catalog): Estimate {
  const [{ forecast }] = order
  const wanted = named === null ? undefined : catalog.find(named)?.name
  const baseline = (wanted && order.find(({ model }) => model === wanted)) || usualBaseline(order)
  const { input, output, cost } = forecast
  return { input, output, cost, baseline: baseline.model, baseline_cost: baseline.forecast.cost }
}

/** The cheapest of the models with the highest level. */
function usualBaseline([first, ...others]: Choice['order']): Considered {
  let best = first
  for (const one of others) {
    const isCheaper = one.level === best.level && (one.cost ?? Infinity) < (best.cost ?? Infinity)
    if (one.level > best.level || isCheaper) best = one
  }
  return best
}
