import { setTimeout as pause } from 'node:timers/promises'
import type { ServiceHost, TableQueries } from '../../engine/index.ts'
import type { BigInteger, ResetsTable, RewardsTable } from './table.ts'
import { lateness } from './windows.ts'
import type { Windows } from './windows.ts'

/** Where evidence comes from; a decision has one row of each. */
export const sources = ['explicit', 'explicit:cheaper', 'implicit:next_turn', 'implicit:schema'] as const
export type Source = (typeof sources)[number]

/** Newest rows of a source that are read at start. */
const readAtStart = 20_000
/** Milliseconds for which rows are kept. Nobody reads as far back, except where a model is rarely rated. */
const kept: Readonly<Record<Source, number>> = {
  explicit: 365 * 86_400_000,
  'explicit:cheaper': 365 * 86_400_000,
  'implicit:next_turn': 7 * 86_400_000,
  'implicit:schema': 7 * 86_400_000,
}
/** Rows deleted at once, few enough that SQLite does not block the event loop for long, and milliseconds in between. */
const batch = 500
const breath = 20

/** The table of rewards, of which `Windows` holds what counts. */
export class Rewards {
  readonly #host: Pick<ServiceHost, 'database' | 'rows' | 'afterCommit' | 'append'>
  readonly #windows: Windows
  /** Called for experience of a model (undefined: of all) that was forgotten. */
  readonly #forgotten: (model: string | undefined) => void
  /** Resets that hold in this process, by model. */
  readonly #resets = new Map<string, number>()
  #readUntil = 0

  constructor(
    host: Pick<ServiceHost, 'database' | 'rows' | 'afterCommit' | 'append'>,
    { windows, forgotten }: { readonly windows: Windows; readonly forgotten: (model: string | undefined) => void },
  ) {
    this.#host = host
    this.#windows = windows
    this.#forgotten = forgotten
  }

  /** Adds a row that the next decision of this process knows, and others within seconds. Never waits. */
  append(row: RewardsTable): void {
    this.#host.append('experience_rewards', row)
    this.#windows.add(row)
  }

  /** Adds rows that are not there yet. They count once they are committed. */
  async insert(rows: readonly RewardsTable[], transaction?: TableQueries): Promise<void> {
    const within = async (queries: TableQueries) => {
      const added = await queries
        .insertInto('experience_rewards')
        .values([...rows])
        .onConflict((conflict) => conflict.columns(['decision', 'source']).doNothing())
        .returning('source')
        .execute()
      const isAdded = new Set(added.map(({ source }) => source))
      await this.#host.afterCommit(queries, () => {
        for (const row of rows) if (isAdded.has(row.source) && row.weight > 0) this.#windows.add(row)
      })
    }
    await (transaction ? within(transaction) : this.#host.database.transaction().execute(within))
  }

  /** Reads what was learned before this process started. */
  async read(): Promise<void> {
    await this.#readResets()
    for (const source of sources)
      this.#take(await this.#rows(`source = '${source}' order by at desc limit ${readAtStart}`))
  }

  /** Reads what other processes learned. */
  async follow(): Promise<void> {
    await this.#readResets()
    const since = this.#readUntil - lateness
    const listed = sources.map((source) => `'${source}'`).join(', ')
    this.#take(await this.#rows(`source in (${listed}) and at >= ${since}`))
  }

  /** Forgets what was learned of a model, or of all (undefined), in a transaction. */
  async reset(model: string | undefined, transaction: TableQueries): Promise<void> {
    const reset = { model: model ?? '', at: Date.now() }
    await transaction
      .insertInto('experience_resets')
      .values(reset)
      .onConflict((conflict) => conflict.column('model').doUpdateSet({ at: reset.at }))
      .execute()
    const rows = transaction.deleteFrom('experience_rewards')
    await (model === undefined ? rows : rows.where('model', '=', model)).execute()
    await this.#host.afterCommit(transaction, () => this.#forget(reset))
  }

  /** Deletes what counts no more. */
  async clean(): Promise<void> {
    for (const source of sources) {
      const old = `select decision from experience_rewards
        where source = '${source}' and at < ${Date.now() - kept[source]} limit ${batch}`
      const some = () =>
        this.#host.rows(
          `delete from experience_rewards where source = '${source}' and decision in (${old}) returning decision`,
        )
      while ((await some()).length === batch) await pause(breath)
    }
  }

  #rows(condition: string): Promise<readonly BigInteger<RewardsTable, 'at'>[]> {
    return this.#host.rows<BigInteger<RewardsTable, 'at'>>(
      `select decision, source, at, model, mode, tier, reward, weight, key_id, conversation, turn, ask from experience_rewards where ${condition}`,
    )
  }

  #take(rows: readonly BigInteger<RewardsTable, 'at'>[]): void {
    const read = rows.map((row) => ({ ...row, at: Number(row.at) })).sort((one, other) => one.at - other.at)
    for (const row of read) {
      const resetAt = Math.max(this.#resets.get('') ?? 0, this.#resets.get(row.model) ?? 0)
      if (row.weight > 0 && row.at > resetAt) this.#windows.add(row)
    }
    this.#readUntil = Math.max(this.#readUntil, read.at(-1)?.at ?? 0)
  }

  async #readResets(): Promise<void> {
    for (const { model, at } of await this.#host.rows<BigInteger<ResetsTable, 'at'>>(
      'select model, at from experience_resets',
    ))
      if (Number(at) > (this.#resets.get(model) ?? 0)) this.#forget({ model, at: Number(at) })
  }

  #forget({ model, at }: ResetsTable): void {
    this.#resets.set(model, at)
    const which = model === '' ? undefined : model
    this.#windows.forget(which, at)
    this.#forgotten(which)
  }
}
