import { performance } from 'node:perf_hooks'
import { defineService } from '../../engine/index.ts'
import type {
  Candidate,
  Catalog,
  ConfigOf,
  ModelRecord,
  Records,
  Services,
  SettingsAround,
  TypedRecords,
} from '../../engine/index.ts'
import { duration, durationSchema, isTooShort, placesOf, tooShort } from '../../engine/kit.ts'
import { chosenPlace, strategies } from './strategy.ts'
import type { PlaceFacts } from './strategy.ts'

const providers = (description: string) =>
  ({ type: 'array', default: [], items: { type: 'string', 'x-names': 'provider' }, description }) as const

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'Which place of a model is asked first, when it has several (`deployments`).',
  properties: {
    strategy: {
      enum: strategies,
      default: 'order',
      description:
        'Which place goes first; the others stay in line behind it. order: the first one; weighted: at random, by their weights; fastest: whose answers began soonest lately; cheapest: by the prices of the model whose only place it is, otherwise of the model itself; least_busy: with the fewest requests of this process under way.',
    },
    sticky: {
      enum: ['none', 'conversation', 'key'],
      default: 'conversation',
      description:
        'What stays with the place that served it last, as long as that works; needs the shared key-value store (`key_value`). conversation: each conversation of an API key; key: each API key.',
    },
    sticky_ttl: { ...durationSchema, default: '30m', description: 'How long it stays there after its last request.' },
    prefer: providers('Providers whose places go first.'),
    avoid: providers('Providers whose places go last.'),
  },
} as const

type Settings = ConfigOf<typeof settings>

/** Remembers which place serves. */
export interface Sticky {
  /** The place has begun to answer. */
  remember(candidate: Candidate): void
}

/** Puts the places of each model in order. */
export interface ProviderSelection {
  readonly sticky: Settings['sticky']
  /**
   * The candidates in the order in which they are to be asked. Models stay in order; of each, the chosen place goes
   * first.
   * @param subject the conversation that stays with its provider (`conversations`); undefined: nothing does
   */
  order(candidates: readonly Candidate[], subject: () => string | undefined): Promise<Ordered> | Ordered
}

export interface Ordered {
  readonly candidates: readonly Candidate[]
  readonly sticky?: Sticky
}

declare module '../../engine/index.ts' {
  interface Services {
    provider_selection: ProviderSelection
  }
  interface Slots {
    /** Remembers which place serves this conversation, or this key. */
    sticky: Sticky
  }
}

/** Chooses among the places of a model. */
export default defineService({
  name: 'provider_selection',
  summary: 'Chooses which place of a model is asked first.',
  settings,
  uses: ['resilience', 'conversations'],
  check(given, report, records, { written, sharesStore, warn }) {
    if (written['sticky'] !== undefined && given.sticky !== 'none' && !sharesStore)
      report(['sticky'], 'has no effect without the shared key-value store; set key_value', 'deployment', 'warning')
    if (isTooShort(given.sticky_ttl)) report(['sticky_ttl'], tooShort, 'timeout', 'warning')
    else if (given.sticky === 'none' && written['sticky_ttl'] !== undefined)
      report(['sticky_ttl'], 'has no effect with sticky: none', 'deployment', 'warning')
    for (const [at, name] of given.avoid.entries())
      if (given.prefer.includes(name))
        report(['avoid', at], `"${name}" is preferred, too; avoid takes precedence`, 'deployment', 'warning')
    const several = records.of('model').filter(({ provider, deployments }) => deployments.length > (provider ? 0 : 1))
    checkWeights(given, several, warn)
    if (given.strategy === 'cheapest' && several.length > 0 && !several.some((model) => hasPrice(model, records)))
      report(
        ['strategy'],
        'has no effect: no place of a model with several places has a price',
        'deployment',
        'warning',
      )
  },
  open: () => ({
    configure: (given, views, { catalog }) => ({ view: new Selection(given, { ...views, catalog }) }),
  }),
})

/** Whether the price of some place of a model is known, as its own or as that of the model whose only place it is. */
function hasPrice(model: Records['model'], records: TypedRecords): boolean {
  const { name, provider, upstream_model: upstream = name, deployments } = model
  const own = provider === undefined ? [] : [placed(provider, upstream)]
  const places = [...own, ...deployments.map((one) => placed(one.provider, one.upstream_model ?? upstream))]
  const single = records.of('model').filter((one) => one.pricing && one.provider && one.deployments.length === 0)
  const priced = single.map((one) => placed(one.provider ?? '', one.upstream_model ?? one.name))
  return model.pricing !== undefined || places.some((place) => priced.includes(place))
}

/** Warns of weights that no strategy reads, and of places that all have none. */
function checkWeights(
  { strategy }: Settings,
  several: readonly Records['model'][],
  warn: SettingsAround['warn'],
): void {
  for (const model of several) {
    const weights = model.deployments.map(({ weight }) => weight)
    const at = weights.findIndex((weight) => weight !== 1)
    if (at < 0) continue
    if (strategy !== 'weighted')
      warn(
        model,
        ['deployments', at, 'weight'],
        'deployment',
        `has no effect while provider_selection.strategy is ${strategy}`,
      )
    else if (model.provider === undefined && weights.every((weight) => weight === 0))
      warn(model, ['deployments'], 'deployment', 'no place has a weight, so none is chosen by it')
  }
}

interface Known extends Pick<Services, 'resilience' | 'conversations'> {
  readonly catalog: Catalog
}

/** Milliseconds after which a latency says nothing any more. */
const measuredFor = 300_000

class Selection implements ProviderSelection {
  readonly #settings: Settings
  readonly #known: Known
  readonly #ttl: number
  /** Prices of models that have one place, by that place. */
  readonly #prices: ReadonlyMap<string, ModelRecord['pricing']>
  readonly sticky: Settings['sticky']

  constructor(given: Settings, known: Known) {
    this.#settings = given
    this.#known = known
    this.#ttl = duration(given.sticky_ttl)
    const single = known.catalog.models.filter(({ deployments }) => deployments === undefined)
    this.#prices = new Map(single.map((model) => [placed(model.provider, model.upstream_model), model.pricing]))
    this.sticky = known.conversations.isShared ? given.sticky : 'none'
  }

  order(candidates: readonly Candidate[], subject: () => string | undefined): Promise<Ordered> | Ordered {
    // Nearly all models have one place.
    if (!candidates.some((candidate, index) => isBeside(candidate, candidates[index - 1]))) return { candidates }
    const runs = runsOf(candidates).map((run) => (run.length === 1 ? run : this.#placed(run)))
    const key = this.sticky === 'none' ? undefined : subject()
    return key === undefined ? { candidates: runs.flat() } : this.#stuck(runs, key)
  }

  /** The places of one model, without what was remembered. */
  #placed(run: readonly Candidate[]): readonly Candidate[] {
    const { strategy, prefer, avoid } = this.#settings
    const chosen = chosenPlace(
      strategy,
      run.map((candidate) => this.#factsOf(candidate)),
      Math.random,
    )
    const rank = ({ provider: { name } }: Candidate) => {
      if (avoid.includes(name)) return prefer.length + 1
      return prefer.includes(name) ? prefer.indexOf(name) : prefer.length
    }
    return first(run, run[chosen]).toSorted((one, other) => rank(one) - rank(other))
  }

  #factsOf(candidate: Candidate): PlaceFacts {
    const { model, provider } = candidate
    const place = placesOf(model).find(
      (one) => one.provider === provider.name && one.upstream_model === model.upstream_model,
    )
    const { active, latency, measured } = this.#known.resilience.healthOf(candidate)
    const { input, output } = this.#prices.get(placeOf(candidate)) ?? model.pricing ?? {}
    return {
      weight: place?.weight ?? 1,
      price: input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0),
      latency: performance.now() - measured < measuredFor ? latency : undefined,
      active,
    }
  }

  /** The places with those first whose provider served last, while they work. */
  async #stuck(runs: readonly (readonly Candidate[])[], conversation: string): Promise<Ordered> {
    const { conversations } = this.#known
    const { value: last } = await conversations.recall(conversation, 'last_provider')
    const ordered = runs.map((run) => {
      const served = run.length === 1 ? undefined : run.find(({ provider }) => provider.name === last)
      return served && this.#holds(served) ? first(run, served) : run
    })
    const several = new Set(runs.flatMap((run) => (run.length > 1 ? run : [])))
    const remember = (candidate: Candidate) => {
      if (several.has(candidate))
        conversations.remember(conversation, 'last_provider', candidate.provider.name, this.#ttl)
    }
    return { candidates: ordered.flat(), sticky: { remember } }
  }

  #holds(served: Candidate): boolean {
    if (this.#settings.avoid.includes(served.provider.name)) return false
    return this.#known.resilience.healthOf(served).circuit.state === 'closed'
  }
}

function isBeside({ model }: Candidate, before: Candidate | undefined): boolean {
  return before?.model.name === model.name
}

/** The candidates of each model, in order. */
function runsOf(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const runs: Candidate[][] = []
  candidates.forEach((candidate, index) => {
    if (isBeside(candidate, candidates[index - 1])) runs.at(-1)?.push(candidate)
    else runs.push([candidate])
  })
  return runs
}

function first(run: readonly Candidate[], chosen: Candidate | undefined): readonly Candidate[] {
  return chosen === undefined || chosen === run[0] ? run : [chosen, ...run.filter((one) => one !== chosen)]
}

function placeOf({ provider, model }: Candidate): string {
  return placed(provider.name, model.upstream_model)
}

function placed(provider: string, upstreamModel: string): string {
  return `${provider}\n${upstreamModel}`
}
