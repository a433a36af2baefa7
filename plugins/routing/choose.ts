import { hash01 } from '../../engine/kit.ts'
import type { Mode } from '../../engine/index.ts'
import type { Forecast } from './forecast.ts'
import type { Propensity } from './propensity.ts'
import { Random } from './random.ts'
import { levelOf, needOf, ranked } from './score.ts'
import type { Arm, Scored } from './score.ts'
import type { RoutingSettings } from './settings.ts'
import type { Incumbent, Shortlist, ShortlistEntry } from './shortlisted.ts'
import type { Difficulty } from './tier.ts'
import { isAbove } from './tier.ts'

/** What a choice depends on beside the models. */
export interface Choosing {
  /** Id of the request, from which random numbers follow. */
  readonly id: string
  readonly mode: Mode
  readonly difficulty: Difficulty
  /** Results of tools since the last turn of the user. */
  readonly step: number
  readonly shortlist: Pick<Shortlist, 'notes'> & {
    readonly incumbent: Pick<Incumbent, 'model' | 'tier'> | undefined
  }
  readonly settings: RoutingSettings
  /** Whether draws and trials are made; otherwise means decide. */
  readonly explores: boolean
  /** The model that a trial would go to, of those that compete, in order by means; undefined: none. */
  readonly trialAmong: (competing: readonly Scored[]) => string | undefined
  /** Models that have drawn, but cannot be chosen any more. */
  readonly gone?: readonly Pick<Arm, 'model' | 'a' | 'b'>[]
}

/** A model that was considered. */
export interface Considered extends Scored {
  readonly entry: ShortlistEntry
  readonly forecast: Forecast
  readonly observations: number
  readonly pulls: number
}

/** The models in the order in which they are asked, and how that came about. */
export interface Choice {
  /** The first one is chosen. */
  readonly order: readonly [Considered, ...Considered[]]
  /** Whether the choice is a trial, or differs from the best one by means. */
  readonly explored: boolean
  /** What it is predicted to cost more than the best one by means, in USD, from 0. */
  readonly extra: number
  readonly propensity: Required<Propensity>
  /** Such as `explore=trial:small`. */
  readonly notes: readonly string[]
}

/** What is known of a model before it is scored. */
export interface Known extends Omit<Considered, keyof Scored> {
  readonly arm: Arm
}

/**
 * Puts models in order by what is known of each. Decisions of the past are made again by the same function, from what
 * their rows say.
 */
export function chooseAmong(known: readonly Known[], choosing: Choosing): Choice {
  const { id, mode, step, difficulty, shortlist, settings, explores } = choosing
  const { exploration } = settings
  const entries = known.map(({ entry }) => entry)
  const { sure, drawn } = ordersOf(known, choosing)
  const stuck = sticking({ step, shortlist: { entries, incumbent: shortlist.incumbent }, difficulty }, mode)
  const places = placesIn(shortlist)
  const competing = sure.filter((one) => places(sure[0], one) === 0)
  // Hard requests are not tried out on models.
  const trial = explores && difficulty.tier !== 'COMPLEX' ? choosing.trialAmong(competing) : undefined
  const isTrial = trial !== undefined && hash01(`${id}trial`) < exploration.trial_share
  const order = withFirst(drawn, stuck.model ?? (isTrial ? trial : undefined))
  const [chosen] = order
  const best = stuck.model === undefined ? sure[0] : chosen
  const open = stuck.model === undefined ? drawn.filter((one) => places(drawn[0], one) === 0) : [chosen]
  return {
    order,
    explored: chosen.model !== best.model,
    extra: Math.max(0, (chosen.cost ?? 0) - (best.cost ?? 0)),
    propensity: {
      policy: explores ? 'ts-1' : 'mean-1',
      seed: settings.seed ?? '',
      trial_p: trial === undefined ? 0 : exploration.trial_share,
      ...armsAndTerms(drawn, { trial, open, incumbent: shortlist.incumbent }),
    },
    notes: [...stuck.notes, ...brokenNotes(entries), ...(isTrial ? [`explore=trial:${trial}`] : [])],
  }
}

type Order = Choice['order']

/** The models in order by means, and as they were drawn; both are the same where nothing is explored. */
function ordersOf(
  known: readonly Known[],
  { id, mode, difficulty, shortlist, settings, explores, gone }: Choosing,
): { readonly sure: Order; readonly drawn: Order } {
  const { quality_weights: weights, quality_gate: gates, seed } = settings
  const byName = new Map(known.map((one) => [one.arm.model, one]))
  const arms = known.map(({ arm }) => arm)
  const rules = { mode, benefit: difficulty.benefit, weight: weights[mode], gate: gates[mode], gone }
  const places = placesIn(shortlist)
  const ordered = (random?: Random): Order => {
    const scored = ranked(arms, { ...rules, random }).map((one): Considered => {
      const { entry, forecast, observations, pulls } = byName.get(one.model) as Known
      return Object.assign(one, { entry, forecast, observations, pulls })
    })
    return scored.sort(places) as unknown as Order
  }
  const sure = ordered()
  return { sure, drawn: explores ? ordered(new Random(id, seed ?? '')) : sure }
}

/** The order, but with one model before all others. */
function withFirst(order: Order, front: string | undefined): Order {
  const first = order.find(({ model }) => model === front)
  return first === undefined ? order : [first, ...order.filter((one) => one !== first)]
}

/** Compares models: those that fail go last; where none has enough context, the largest goes first. */
function placesIn({ notes }: Pick<Shortlist, 'notes'>): (one: Considered, other: Considered) => number {
  const isDegraded = notes.includes('degraded=context')
  const windowOf = ({ entry }: Considered) => entry.model.context_length ?? Infinity
  return (one, other) => {
    if (one.entry.isBroken !== other.entry.isBroken) return Number(one.entry.isBroken) - Number(other.entry.isBroken)
    return isDegraded && windowOf(one) !== windowOf(other) ? windowOf(other) - windowOf(one) : 0
  }
}

/** Providers that notes name at most; a row must stay small. */
const mostNamed = 10

function brokenNotes(entries: readonly ShortlistEntry[]): readonly string[] {
  const broken = entries.filter(({ isBroken }) => isBroken)
  const names = [...new Set(broken.flatMap(({ candidates }) => candidates.map(({ provider }) => provider.name)))]
  const more = names.length > mostNamed ? [`circuit=+${names.length - mostNamed}`] : []
  return [...names.slice(0, mostNamed).map((name) => `circuit=${name}`), ...more]
}

interface Drawing {
  readonly trial: string | undefined
  /** The models one of which had to be chosen. */
  readonly open: readonly Scored[]
  readonly incumbent: Choosing['shortlist']['incumbent']
}

/** All that have drawn, in order of name: only with all of them can the draws be repeated. */
function armsAndTerms(
  order: readonly Considered[],
  { trial, open, incumbent }: Drawing,
): Required<Pick<Propensity, 'arms' | 'terms'>> {
  const competing = new Set(open.map(({ model }) => model))
  // If none of those that compete has passed, they compete all the same.
  const all = open.every(({ pass }) => !pass)
  const sorted = order.toSorted((one, other) => (one.model < other.model ? -1 : 1))
  const held = sorted.find(({ model }) => model === incumbent?.model)
  const broken = sorted.filter(({ entry }) => entry.isBroken).map(({ model }) => model)
  return {
    arms: sorted.map((one) => ({
      model: one.model,
      a: one.a,
      b: one.b,
      c: one.c,
      ...(one.gate === undefined ? {} : { gate: one.gate }),
      pass: competing.has(one.model) && (one.pass || all),
      ...(one.model === trial ? { trial: true as const } : {}),
    })),
    terms: {
      share: order[0]?.share ?? 1,
      rest: sorted.map(({ rest }) => rest),
      ...(held && incumbent ? { incumbent: { model: held.model, tier: incumbent.tier, bonus: held.continuity } } : {}),
      ...(broken.length > 0 ? { broken } : {}),
    },
  }
}

/** The level that a model may lack before a harder step of an agent moves to another one. */
const lacking = 0.5

interface Stepping {
  /** Results of tools since the last turn of the user. */
  readonly step: number
  readonly shortlist: Pick<Shortlist, 'entries'> & {
    readonly incumbent: Pick<Incumbent, 'model' | 'tier'> | undefined
  }
  readonly difficulty: Difficulty
}

/**
 * The model that a step of an agent stays with: the one that served the conversation last. It moves on only if a gate has
 * removed that model, if its providers fail, or if the step is too hard for it, and so never to a lower tier. Undefined:
 * the request is no step, or moves on, for the reason in the notes.
 */
function sticking(
  { step, shortlist: { entries, incumbent }, difficulty }: Stepping,
  mode: Mode,
): { readonly model?: string; readonly notes: readonly string[] } {
  if (step === 0 || incumbent === undefined) return { notes: [] }
  const entry = entries.find(({ model }) => model.name === incumbent.model)
  if (entry === undefined) return { notes: ['sticky=broken:gate'] }
  if (entry.isBroken) return { notes: ['sticky=broken:circuit'] }
  const level = levelOf(entry.model.quality_tier)
  const isTooHard = needOf(difficulty.benefit, mode) - level >= lacking
  if (isAbove(difficulty.tier, incumbent.tier) && isTooHard) return { notes: ['sticky=broken:tier'] }
  return { model: incumbent.model, notes: [`sticky=${incumbent.model}`] }
}
