import { LRUCache } from 'lru-cache'
import type { ServiceHost, TableQueries } from '../../engine/index.ts'
import type { Evidence } from './evidence.ts'
import { Measurements } from './measured.ts'
import { keyOf, placeOf } from './place.ts'
import type { Place } from './place.ts'
import { Pulls } from './pulls.ts'
import { Rewards } from './rewards.ts'
import type { Source } from './rewards.ts'
import type { RewardsTable } from './table.ts'
import { Turns } from './turns.ts'
import type { Answered, Belief, Decision, Known, Posterior, Prior, Seen, Signal } from './view.ts'
import { Windows } from './windows.ts'

const hour = 3_600_000
/** Milliseconds after a decision until which it can be rewarded. */
const rewardable = 7 * 24 * hour
/** What evidence counts as that nobody gave, in observations. */
const implicitWeight = 0.25
/** Rows of such evidence that are enough for an hour, of all API keys and of one: more would say nothing new. */
const enough = { all: 100, key: 20 }
/** Keys, models and sources whose rows of an hour are counted. */
const mostNoted = 10_000
/** The ask of a row in which nothing was asked in words: of rows before asks were kept, it is null. */
const noWords = ''

/** All that was learned, in one process. */
export class Lessons {
  readonly measurements = new Measurements()
  /** Whether evidence is noted that nobody gave. */
  isImplicit = true
  readonly pulls: Pulls
  readonly rewards: Rewards
  readonly #host: Pick<ServiceHost, 'database' | 'rows'>
  readonly #windows = new Windows()
  readonly #turns = new Turns<Answered>()
  /** Rows of an API key in an hour. */
  readonly #noted = new LRUCache<string, number>({ max: mostNoted })
  #isRead = false

  constructor(host: Pick<ServiceHost, 'database' | 'rows' | 'afterCommit' | 'append'>) {
    this.#host = host
    this.pulls = new Pulls(host)
    const forgotten = (model: string | undefined) => {
      this.pulls.forget(model)
      this.measurements.forget(model)
    }
    this.rewards = new Rewards(host, { windows: this.#windows, forgotten })
  }

  posterior(place: Place, prior: Prior): Posterior {
    const { gate, successes, failures, rows } = this.#windows.evidence(place, prior)
    const { strength, mean } = prior
    // Built field by field: each decision asks of each model.
    const posterior = {
      a: strength * mean + successes,
      b: strength * (1 - mean) + failures,
      observations: rows,
      pulls: this.pulls.of(place),
    }
    return gate ? { ...posterior, gate: believed(prior, gate) } : posterior
  }

  see({ from, tries, answer, turn }: Seen): void {
    const now = Date.now()
    for (const { model, isAnswered } of tries) this.measurements.tried(model, isAnswered, now, from)
    if (answer) this.measurements.answered(answer, now, from)
    const judged = turn && this.#turns.follow(turn)
    if (judged) this.observe(judged.decision, 'implicit:next_turn', judged.reward)
  }

  /** Notes evidence that nobody gave. */
  observe({ id, model, mode, tier, key, conversation, turn, ask }: Answered, source: Source, reward: number): void {
    if (!this.isImplicit) return
    const at = Date.now()
    const noted = `${Math.floor(at / hour)} ${source} ${keyOf({ model, mode, tier })} ${key}`
    const count = this.#noted.get(noted) ?? 0
    if (count >= enough.key || this.#windows.since({ model, mode, tier }, source, at - hour).length >= enough.all)
      return
    this.#noted.set(noted, count + 1)
    const place = { model, mode, tier, key_id: key, conversation, turn, ask: ask ?? noWords }
    this.rewards.append({ ...place, decision: id, source, at, reward, weight: implicitWeight })
  }

  /** Notes what a person said. Resolves to whether it counts. */
  async reward(decision: Decision, signal: Signal, transaction?: TableQueries): Promise<boolean> {
    const { id, model, mode, tier, key, cheaper } = decision
    const at = Date.now()
    const isInTime = at - decision.at <= rewardable
    const row = (source: Source, rewarded: string, weight: number): RewardsTable => ({
      decision: id,
      source,
      at,
      model: rewarded,
      mode,
      tier,
      reward: signal === 'weak' ? 0 : 1,
      weight: isInTime ? weight : 0,
      key_id: key,
      conversation: null,
      turn: null,
      ask: null,
    })
    // "Stronger than necessary" says that this model was good enough, and expects the same of the next cheaper one.
    const rows =
      signal === 'strong'
        ? [row('explicit', model, 0.5), ...(cheaper === null ? [] : [row('explicit:cheaper', cheaper, 0.5)])]
        : [row('explicit', model, 1)]
    await this.rewards.insert(rows, transaction)
    return isInTime
  }

  /** Reads what all processes learned. Resolves to whether anything may have changed. */
  async follow(): Promise<boolean> {
    await (this.#isRead ? this.rewards.follow() : this.rewards.read())
    this.#isRead = true
    await this.pulls.follow()
    return true
  }

  async known(): Promise<readonly Known[]> {
    const feedback = await this.#feedback()
    return this.#places().map((place) => ({
      ...place,
      updatedAt: Math.max(this.pulls.updatedAt(place), this.#windows.updatedAt(place)),
      feedback: feedback.get(keyOf(place)) ?? { ok: 0, weak: 0, strong: 0 },
    }))
  }

  /** @param witness is called in the transaction if anything is forgotten */
  async reset(
    model: string | undefined,
    witness: (transaction: TableQueries, count: number) => Promise<void>,
  ): Promise<number> {
    const count = this.#places().filter((place) => model === undefined || place.model === model).length
    await this.#host.database.transaction().execute(async (transaction) => {
      await this.pulls.reset(model, transaction)
      await this.rewards.reset(model, transaction)
      if (count > 0) await witness(transaction, count)
    })
    return count
  }

  /** Where anything is known. */
  #places(): readonly Place[] {
    const all = [...this.pulls.places(), ...this.#windows.places()]
    return [
      ...new Map(all.map(({ model, mode, tier }) => [keyOf({ model, mode, tier }), { model, mode, tier }])).values(),
    ]
  }

  /** How often people said what. */
  async #feedback(): Promise<ReadonlyMap<string, Known['feedback']>> {
    const rows = await this.#host.rows<Pick<RewardsTable, 'model' | 'mode' | 'tier'> & Record<Signal, number | string>>(
      `select model, mode, tier,
        sum(case when reward > 0 and weight = 1 then 1 else 0 end) as ok,
        sum(case when reward = 0 then 1 else 0 end) as weak,
        sum(case when reward > 0 and weight < 1 then 1 else 0 end) as strong
      from experience_rewards where source = 'explicit' and weight > 0 group by model, mode, tier`,
    )
    return new Map(
      rows.map(({ ok, weak, strong, ...place }) => [
        keyOf(placeOf(place)),
        { ok: Number(ok), weak: Number(weak), strong: Number(strong) },
      ]),
    )
  }
}

function believed({ strength, mean }: Prior, { successes, failures }: Evidence): Belief {
  return { a: strength * mean + successes, b: strength * (1 - mean) + failures }
}
