import { GatewayError } from '../../engine/index.ts'
import type { ServiceHost, TableQueries } from '../../engine/index.ts'
import { whenFree } from '../../engine/kit.ts'
import type { Places } from './attempts.ts'
import { isUsername, memberColumns, memberOf } from './member.ts'
import type { Member } from './member.ts'
import type { EndedSessionsTable, MembersStateTable, MembersTable } from './table.ts'

/** The members, and the sessions that ended early. */
interface Known {
  readonly revision: number
  readonly instance: string
  readonly byId: ReadonlyMap<string, Member>
  /** When a session ends or ended, by the id of its token; milliseconds since 1970. */
  readonly ended: ReadonlyMap<string, number>
}

/** How long a place is remembered, in milliseconds. */
const placesLife = 30 * 86_400_000

const nobody: Known = { revision: -1, instance: '', byId: new Map(), ended: new Map() }

/**
 * The members of the database as one snapshot in memory, and the way to change them. `refresh` reads the database
 * again; `poll` does if another process has changed something.
 */
export class MemberStore {
  readonly #stores: Pick<ServiceHost, 'database' | 'rows'>
  #known = nobody
  readonly #listeners = new Set<() => void>()

  constructor(stores: Pick<ServiceHost, 'database' | 'rows'>) {
    this.#stores = stores
  }

  /** The id of the database. */
  get instance(): string {
    return this.#known.instance
  }

  get isEmpty(): boolean {
    return this.#known.byId.size === 0
  }

  /** Whether there is a member, in the view of all processes. */
  async hasMembers(): Promise<boolean> {
    if (this.isEmpty) await this.look()
    return !this.isEmpty
  }

  find(id: string): Member | undefined {
    return this.#known.byId.get(id)
  }

  /** The member with this name in any case. */
  named(username: string): Member | undefined {
    const name = username.toLowerCase()
    return this.#known.byId.values().find((member) => member.username === name)
  }

  /** Whether the session with this token id has ended early. */
  isEnded(session: string): boolean {
    const endedAt = this.#known.ended.get(session)
    return endedAt !== undefined && endedAt <= Date.now()
  }

  /** Calls a function after every change of members or sessions, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The row of the member with this name in any case, straight from the database. */
  async read(username: string): Promise<MembersTable | undefined> {
    // PostgreSQL rejects some texts, which are no names anyway.
    if (!isUsername(username)) return undefined
    const query = this.#stores.database.selectFrom('members').selectAll()
    return asked(() => query.where('username', '=', username.toLowerCase()).executeTakeFirst())
  }

  /**
   * Notes when a member has signed in. Resolves to false, and notes nothing, if the member has been disabled or its
   * sessions have ended since the row was read.
   * @param then runs in the transaction of the note
   */
  async noteLogin(
    { id, session_version }: Pick<MembersTable, 'id' | 'session_version'>,
    then: (transaction: TableQueries) => Promise<void>,
  ): Promise<boolean> {
    return asked(() =>
      this.#stores.database.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('members')
          .set({ last_login_at: Date.now() })
          .where('id', '=', id)
          .where('session_version', '=', session_version)
          .where('disabled', '=', 0)
          .executeTakeFirstOrThrow()
        if (numUpdatedRows === 1n) await then(transaction)
        return numUpdatedRows === 1n
      }),
    )
  }

  /** Where names have proved their identity in the last 30 days. */
  readonly places: Places = {
    has: async (place) => {
      const rows = this.#stores.database.selectFrom('members_places').select('at').where('place', '=', place)
      const row = await asked(() => rows.executeTakeFirst())
      return row !== undefined && row.at > Date.now() - placesLife
    },
    note: (place) =>
      asked(async () => {
        const { database } = this.#stores
        const at = Date.now()
        await database
          .deleteFrom('members_places')
          .where('at', '<=', at - placesLife)
          .execute()
        const row = database.insertInto('members_places').values({ place, at })
        await row.onConflict((on) => on.column('place').doUpdateSet({ at })).execute()
      }),
  }

  /** Ends all sessions of a member, within a change. */
  async endSessions(transaction: TableQueries, id: string): Promise<void> {
    await transaction
      .updateTable('members')
      .set(({ eb }) => ({ session_version: eb('session_version', '+', 1) }))
      .where('id', '=', id)
      .execute()
  }

  /** Ends the sessions of all members, within a transaction of the engine. */
  async endAllSessions(transaction: TableQueries): Promise<void> {
    await this.#takeTurn(transaction)
    await transaction
      .updateTable('members')
      .set(({ eb }) => ({ session_version: eb('session_version', '+', 1) }))
      .execute()
  }

  /**
   * Runs a change in a transaction. Changes of all processes run one at a time, so `work` may decide by what it reads.
   * This process knows the change when the promise resolves.
   */
  async change<T>(work: (transaction: TableQueries) => Promise<T>): Promise<T> {
    const { database } = this.#stores
    const result = await asked(() =>
      database.transaction().execute(async (transaction) => {
        await this.#takeTurn(transaction)
        return work(transaction)
      }),
    )
    await asked(() => this.refresh())
    return result
  }

  /** Tells other processes of a change. The lock on the only row is what changes wait for. */
  async #takeTurn(transaction: TableQueries): Promise<void> {
    await transaction
      .updateTable('members_state')
      .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
      .execute()
  }

  /** Reads the database if there was a change since the last read. Resolves to whether there was. */
  async poll(): Promise<boolean> {
    const [state] = await this.#stores.rows<MembersStateTable>('select revision from members_state')
    return state?.revision === this.#known.revision ? false : this.refresh()
  }

  /** The same for a client that waits. Rejects with `store_unavailable`. */
  async look(): Promise<void> {
    await asked(() => this.poll())
  }

  /** Reads the database. Resolves to whether anything has changed. */
  async refresh(): Promise<boolean> {
    const { rows } = this.#stores
    // A change between two of these statements is found by the next poll, because the revision is read first.
    const [state] = await rows<MembersStateTable>('select instance, revision from members_state')
    if (state === undefined) throw new Error('the table members_state is empty')
    const members = await rows<MembersTable>(`select ${memberColumns.join(', ')} from members`)
    const ended = await rows<EndedSessionsTable>(`select * from members_ended where expires_at > ${Date.now()}`)
    const { revision, instance } = state
    const before = this.#known.revision
    // A later read may have finished first.
    if (revision < before) return false
    const byId = new Map(members.map((row) => [row.id, memberOf(row)]))
    this.#known = { revision, instance, byId, ended: new Map(ended.map((row) => [row.session, row.ended_at])) }
    if (revision === before) return false
    for (const listener of this.#listeners) listener()
    return true
  }
}

/** Asks the database. Whatever it fails with, its client gets `store_unavailable`. */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await whenFree(work)
  } catch (error) {
    throw error instanceof GatewayError ? error : new GatewayError('store_unavailable', {}, { cause: error })
  }
}
