import { hash01 } from '../../engine/kit.ts'
import type { Mode } from '../../engine/index.ts'
import type { Forecast } from './forecast.ts'
import type { Propensity } from './propensity.ts'
import { Random } from './random.ts'
import { byName, draw, inOrder, levelOf, needOf, scored, sorted } from './score.ts'
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
  const { incumbent } = shortlist
  const entries = known.map(({ entry }) => entry)
  const places = placesIn(shortlist)
  const { sure, drawn, named } = ordersOf(known, places, choosing)
  const stuck = sticking({ step, shortlist: { entries, incumbent }, difficulty }, mode)
  // Hard requests are not tried out on models.
  const triable = explores && difficulty.tier !== 'COMPLEX'
  const trial = triable ? choosing.trialAmong(sure.filter((one) => places(sure[0], one) === 0)) : undefined
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
      ...armsAndTerms(named, { trial, open, incumbent }),
    },
    notes: [...stuck.notes, ...brokenNotes(entries), ...(isTrial ? [`explore=trial:${trial}`] : [])],
  }
}

type Order = Choice['order']

/**
 * The models in order by means, as they were drawn, and by name; the first two are the same where nothing is explored. A
 * model is the same object in all of them, with what it has drawn.
 */
function ordersOf(
  known: readonly Known[],
  places: Places,
  { id, mode, difficulty, settings, explores, gone }: Choosing,
): { readonly sure: Order; readonly drawn: Order; readonly named: readonly Considered[] } {
  const { quality_weights: weights, quality_gate: gates, seed } = settings
  const arms = known.map(({ arm }) => arm)
  const rules = { mode, benefit: difficulty.benefit, weight: weights[mode], gate: gates[mode] }
  const models = scored(arms, rules).map((one, index): Considered => {
    const { entry, forecast, observations, pulls } = known[index] as Known
    return Object.assign(one, { entry, forecast, observations, pulls })
  })
  const compare = (one: Considered, other: Considered) => places(one, other) || inOrder(one, other, mode)
  const named = sorted(models, byName)
  const sure = sorted(models, compare) as unknown as Order
  if (!explores) return { sure, drawn: sure, named }
  draw(named, new Random(id, seed ?? ''), gone)
  return { sure, drawn: sorted(models, compare) as unknown as Order, named }
}

/** The order, but with one model before all others. */
function withFirst(order: Order, front: string | undefined): Order {
  if (front === undefined || front === order[0].model) return order
  const first = order.find(({ model }) => model === front)
  return first === undefined ? order : [first, ...order.filter((one) => one !== first)]
}

type Places = (one: Considered, other: Considered) => number

/** Compares models: those that fail go last; where none has enough context, the largest goes first. */
function placesIn({ notes }: Pick<Shortlist, 'notes'>): Places {
  const isDegraded = notes.includes('degraded=context')
  const windowOf = ({ entry }: Considered) => entry.model.context_length ?? Infinity
  return (one, other) => {
    if (one.entry.isBroken !== other.entry.isBroken) return Number(one.entry.isBroken) - Number(other.entry.isBroken)
    return isDegraded && windowOf(one) !== windowOf(other) ? windowOf(other) - windowOf(one) : 0
  }
}

const none: readonly never[] = []

/** Providers that notes name at most; a row must stay small. */
const mostNamed = 10

function brokenNotes(entries: readonly ShortlistEntry[]): readonly string[] {
  const broken = entries.filter(({ isBroken }) => isBroken)
  if (broken.length === 0) return none
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

/**
 * All that have drawn: only with all of them can the draws be repeated.
 * @param named in order of name
 */
function armsAndTerms(
  named: readonly Considered[],
  { trial, open, incumbent }: Drawing,
): Required<Pick<Propensity, 'arms' | 'terms'>> {
  // If none of those that compete has passed, they compete all the same.
  const all = open.every(({ pass }) => !pass)
  const held = incumbent && named.find(({ model }) => model === incumbent.model)
  const isAnyBroken = named.some(({ entry }) => entry.isBroken)
  const broken = isAnyBroken ? named.filter(({ entry }) => entry.isBroken).map(({ model }) => model) : undefined
  return {
    arms: named.map((one) => {
      const { model, a, b, c, gate } = one
      const pass = (one.pass || all) && open.includes(one)
      const arm = gate === undefined ? { model, a, b, c, pass } : { model, a, b, c, gate, pass }
      return model === trial ? { ...arm, trial: true } : arm
    }),
    terms: {
      share: named[0]?.share ?? 1,
      rest: named.map(({ rest }) => rest),
      ...(held && incumbent ? { incumbent: { model: held.model, tier: incumbent.tier, bonus: held.continuity } } : {}),
      ...(broken ? { broken } : {}),
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
