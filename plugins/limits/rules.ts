import type { Budget, Principal, RateLimit, Services } from '../../engine/index.ts'
import { duration } from '../../engine/kit.ts'
import { nameOf } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import type { Rate } from './counters.ts'
import type { LimitSettings } from './settings.ts'

/** A bucket as refusals and rows name it. */
export interface Named {
  readonly kind: Bucket['kind']
  /** Name of the bucket in stores. */
  readonly bucket: string
  /** Such as `The API key "web"`. */
  readonly title: string
}

export interface RateRule extends Named, Rate {
  /** What each exchange takes: one request, and no tokens before they are estimated. */
  readonly amount: 0 | 1
  /** The period as its record says it. */
  readonly per: string
}

/** Exchanges that may run at the same time. */
export interface PlacesRule extends Named {
  readonly limit: number
}

export interface BudgetRule extends Named {
  readonly budget: Budget
}

/** Everything that limits an exchange: of its key, of the key's owner, and of the gateway. */
export interface Rules {
  readonly rates: readonly RateRule[]
  readonly places: readonly PlacesRule[]
  readonly budgets: readonly BudgetRule[]
  /** What follows of them for each exchange: the buckets of the places, and whether any rate counts tokens. */
  readonly placeBuckets: readonly string[]
  readonly countsTokens: boolean
}

function allOf(given: Pick<Rules, 'rates' | 'places' | 'budgets'>): Rules {
  const placeBuckets = given.places.map(({ bucket }) => bucket)
  return { ...given, placeBuckets, countsTokens: given.rates.some(({ counts }) => counts === 'tokens') }
}

/** What a record says about its holder. */
interface Facts {
  readonly budget?: Budget | null
  readonly rateLimit?: RateLimit | null
}

/** The services that know the holders. */
export interface Holders {
  readonly api_keys: Pick<Services['api_keys'], 'get'>
  readonly members: Pick<Services['members'], 'find'>
}

/** The rules of keys, members and the gateway, under the settings of one configuration. */
export class RuleBook {
  readonly #settings: LimitSettings
  readonly #server: Rules
  /** The last rules of each key or member. A record that changes is another object. */
  readonly #known = new WeakMap<object, { readonly owner: object | undefined; readonly rules: Rules }>()

  constructor(settings: LimitSettings) {
    this.#settings = settings
    const whole = { kind: 'server', bucket: nameOf({ kind: 'server', id: '' }), title: 'The gateway' } as const
    this.#server = rulesOf(whole, settings.server, settings.budget.server)
  }

  /** The rules for the requests of a principal; without one, only those of the gateway. */
  of(principal: Principal | undefined, { api_keys: keys, members }: Holders): Rules {
    if (!principal) return this.#server
    const { kind, id, owner } = principal
    const key = kind === 'key' ? keys.get(id) : undefined
    const member = kind === 'member' ? members.find(id) : owner === undefined ? undefined : members.find(owner)
    const holder = key ?? member
    if (!holder) return this.#server
    const known = this.#known.get(holder)
    if (known && known.owner === member) return known.rules
    const all = [this.#server]
    if (member) all.unshift(this.#rulesOf('member', member.id, member.username, member))
    if (key) all.unshift(this.#rulesOf('key', key.id, key.name, key))
    const rules = allOf({
      rates: all.flatMap(({ rates }) => rates),
      places: all.flatMap(({ places }) => places),
      budgets: all.flatMap(({ budgets }) => budgets),
    })
    this.#known.set(holder, { owner: member, rules })
    return rules
  }

  #rulesOf(kind: 'key' | 'member', id: string, name: string, { rateLimit, budget }: Facts): Rules {
    const { budget: budgets, key_default, member_default } = this.#settings
    const named = {
      kind,
      bucket: nameOf({ kind, id }),
      title: kind === 'key' ? `The API key "${name}"` : `The member "${name}"`,
    }
    return kind === 'key'
      ? rulesOf(named, rateLimit ?? key_default, budget ?? budgets.key_default)
      : rulesOf(named, rateLimit ?? member_default, budget ?? budgets.member_default)
  }
}

function rulesOf(named: Named, rateLimit: RateLimit | null, budget: Budget | null): Rules {
  const rates: RateRule[] = []
  const places: PlacesRule[] = []
  if (rateLimit) {
    const { period: per, concurrency } = rateLimit
    for (const counts of ['requests', 'tokens'] as const) {
      const limit = rateLimit[counts]
      if (limit)
        rates.push({ ...named, counts, limit, per, period: duration(per), amount: counts === 'requests' ? 1 : 0 })
    }
    if (concurrency) places.push({ ...named, limit: concurrency })
  }
  return allOf({ rates, places, budgets: budget ? [{ ...named, budget }] : [] })
}
