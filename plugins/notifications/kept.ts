import type { ServiceHost } from '../../engine/index.ts'
import { parsedObject, within } from '../../engine/kit.ts'
import type { CauseName, Notice } from './cause.ts'
import type { OpenCause } from './causes.ts'
import type { DeliveriesTable, TargetsTable } from './table.ts'

/** How many notices are shown, and for how long others are kept, in milliseconds. */
const shown = 100
const keptFor = 7 * 86_400_000

/** Milliseconds that the database has: people are told all the same. */
const patience = 3_000
const late = 'the database did not answer in time'

/** A notice and what came of it. */
export interface Sent {
  readonly notice: Notice
  readonly deliveries: readonly DeliveriesTable[]
}

/** A notice as it is kept. */
type Spoken = Notice & { readonly speaker: string }

/** Whether a speaker is meant. */
export type IsOf = (speaker: string) => boolean

/** What was said, and how it was delivered: kept in the database. */
export class Kept {
  readonly #host: Pick<ServiceHost, 'database'>

  constructor(host: Pick<ServiceHost, 'database'>) {
    this.#host = host
  }

  /** The causes that speakers have said and that lasted when they were last heard, the last said first. */
  async open(isOf: IsOf): Promise<readonly OpenCause[]> {
    const rows = await this.#host.database
      .selectFrom('notifications_open')
      .selectAll()
      .orderBy('said_at', 'desc')
      .execute()
    const those = rows.filter(({ speaker }) => isOf(speaker))
    return those.map(({ id, cause, key, subject, facts, path, since, said_at: saidAt }) => ({
      id,
      cause: cause as CauseName,
      key,
      subject,
      facts: parsedObject(facts) ?? {},
      path,
      since,
      saidAt,
    }))
  }

  /** Keeps what a speaker says, before anybody is told. */
  async said(
    speaker: string,
    notices: readonly Notice[],
    targetsOf: (notice: Notice) => readonly string[],
  ): Promise<void> {
    const work = this.#host.database.transaction().execute(async (queries) => {
      for (const notice of notices) {
        const { message, id, cause, key, subject, facts, path, state, at, since } = notice
        await queries
          .insertInto('notifications_sent')
          .values({ id: message, at, notice: JSON.stringify({ ...notice, speaker } satisfies Spoken) })
          .execute()
        const waiting = targetsOf(notice).map((target) => ({
          message,
          target,
          at,
          state: 'waiting' as const,
          attempts: 0,
          status: null,
        }))
        if (waiting.length > 0) await queries.insertInto('notifications_deliveries').values(waiting).execute()
        if (state === 'end') await queries.deleteFrom('notifications_open').where('id', '=', id).execute()
        else
          await queries
            .insertInto('notifications_open')
            .values({ id, speaker, cause, key, subject, facts: JSON.stringify(facts), path, since, said_at: at })
            .onConflict((on) => on.column('id').doUpdateSet({ facts: JSON.stringify(facts), said_at: at }))
            .execute()
      }
      const old = Date.now() - keptFor
      await queries.deleteFrom('notifications_sent').where('at', '<', old).execute()
      await queries.deleteFrom('notifications_deliveries').where('at', '<', old).execute()
    })
    await within(work, patience, late)
  }

  async delivered({ message, target, state, attempts, status }: Omit<DeliveriesTable, 'at'>): Promise<void> {
    const update = this.#host.database
      .updateTable('notifications_deliveries')
      .set({ state, attempts, status })
      .where('message', '=', message)
      .where('target', '=', target)
    await within(update.execute(), patience, late)
  }

  /** Keeps how a target does. One that fails at the same address has failed since it was first kept so. */
  async tried(target: TargetsTable): Promise<void> {
    const { name: _name, failing_since: since, ...rest } = target
    const insert = this.#host.database
      .insertInto('notifications_targets')
      .values(target)
      .onConflict((on) =>
        on.column('name').doUpdateSet((of) => ({
          ...rest,
          failing_since:
            since === null
              ? null
              : of
                  .case()
                  .when('notifications_targets.address', '=', target.address)
                  .then(of.fn.coalesce('notifications_targets.failing_since', of.val(since)))
                  .else(since)
                  .end(),
        })),
      )
    await within(insert.execute(), patience, late)
  }

  targets(): Promise<readonly TargetsTable[]> {
    const rows = this.#host.database.selectFrom('notifications_targets').selectAll().execute()
    return within(rows, patience, late)
  }

  /** Forgets how targets did that are gone, or have another address now. */
  async gone(targets: readonly Pick<TargetsTable, 'name' | 'address'>[]): Promise<void> {
    for (const { name, address } of targets) {
      const rows = this.#host.database.deleteFrom('notifications_targets').where('name', '=', name)
      const those = rows.where((of) => of.or([of('address', 'is', null), of('address', '=', address)]))
      await within(those.execute(), patience, late)
    }
  }

  /** The last notices, newest first. */
  async sent(): Promise<readonly Sent[]> {
    const { database } = this.#host
    const rows = await database
      .selectFrom('notifications_sent')
      .selectAll()
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(shown)
      .execute()
    if (rows.length === 0) return []
    const ids = rows.map(({ id }) => id)
    const all = await database.selectFrom('notifications_deliveries').selectAll().where('message', 'in', ids).execute()
    return rows.flatMap(({ id, notice }) => {
      const known = parsedObject(notice) as Notice | undefined
      return known ? [{ notice: known, deliveries: all.filter(({ message }) => message === id) }] : []
    })
  }

  /**
   * What speakers have said since a time and is not delivered yet, such as by a process that was stopped; oldest first.
   * Others deliver what they have said themselves.
   */
  async waiting(isOf: IsOf, since: number): Promise<readonly (readonly [Notice, target: string])[]> {
    const rows = await this.#host.database
      .selectFrom('notifications_deliveries')
      .innerJoin('notifications_sent', 'notifications_sent.id', 'notifications_deliveries.message')
      .select(['target', 'notice'])
      .where('state', '=', 'waiting')
      .where('notifications_deliveries.at', '>=', since)
      .orderBy('notifications_deliveries.at')
      .orderBy('message')
      .execute()
    return rows.flatMap(({ notice, target }) => {
      const known = parsedObject(notice) as Spoken | undefined
      if (known === undefined || !isOf(known.speaker)) return []
      const { speaker: _, ...said } = known
      return [[said, target] as const]
    })
  }
}
