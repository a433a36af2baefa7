import { randomUUIDv7 } from 'node:crypto'
import { GatewayError } from '../../engine/index.ts'
import type { JsonObject, Requester, ServiceHost, Services, TableQueries } from '../../engine/index.ts'
import { checkInput, mergePatch, whenFree } from '../../engine/kit.ts'
import { columnsOf, fieldsIn, memberSchema } from './member-body.ts'
import type { MemberFields } from './member-body.ts'
import { memberColumns } from './member.ts'
import { differing, refuseLast, refuseOwn, refuseTaken, withKnownModels } from './member-rules.ts'
import type { ModelNames } from './member-rules.ts'
import { checkPassword, randomPassword } from './password-rules.ts'
import type { MembersTable } from './table.ts'

/** A member as the database has it, without the password. */
export type MemberRow = Omit<MembersTable, 'password'>

/** Who changes a member: the client of an exchange, or the person at the command line. */
export type Author = Asking | { readonly actor: { readonly type: 'cli' } }

interface Asking {
  readonly by: Requester
  /** Whether the client has repeated the password. */
  readonly confirmed?: boolean
}

/** The versions of a member that a change accepts; undefined: any. */
type Versions = readonly number[] | undefined

/** A member, and its password if it was made. */
export interface MemberWithPassword {
  readonly row: MemberRow
  readonly temporary?: string
}

/** What members change of their own accounts. */
export interface OwnChange {
  readonly username?: string
  readonly password?: string
  readonly tracing?: boolean
  /** Action of the row of the audit trail. */
  readonly action: string
}

/** What changes of members need. */
export interface MemberParts extends Pick<Services, 'members' | 'audit' | 'limits'> {
  /** The query builder is loaded by its first user. */
  readonly host: Pick<ServiceHost, 'database'>
  readonly names: ModelNames
}

/** The columns of a member without the password. */
const columns = [
  ...memberColumns,
  'version',
  'created_at',
  'last_login_at',
] as const satisfies readonly (keyof MemberRow)[]

/** Reads and changes members. Each change has its row of the audit trail, in the same transaction. */
export class MemberChanges {
  readonly #parts: MemberParts

  constructor(parts: MemberParts) {
    this.#parts = parts
  }

  async list(): Promise<readonly MemberRow[]> {
    return this.#parts.host.database.selectFrom('members').select(columns).execute()
  }

  /** Rejects with `not_found`, and with `stale_version` if the member has none of the versions. */
  async get(id: string, versions?: Versions, from = this.#parts.host.database): Promise<MemberRow> {
    // PostgreSQL rejects a null character in texts.
    const found = id.includes('\0') ? undefined : from.selectFrom('members').select(columns).where('id', '=', id)
    const row = await found?.executeTakeFirst()
    if (row === undefined) throw notFound(id)
    if (versions?.includes(row.version) === false)
      throw new GatewayError('stale_version', { type: 'member', name: row.username, version: row.version })
    return row
  }

  /** The member with this name in any case. Rejects with `not_found`. */
  async named(username: string): Promise<MemberRow> {
    const row = await this.#parts.members.store.read(username)
    if (row === undefined) throw notFound(username)
    return row
  }

  /** Creates a member. Without a password, one is made, which must be changed. */
  async create(given: MemberFields, password: string | undefined, author: Author): Promise<MemberWithPassword> {
    const { members, audit, names } = this.#parts
    const username = given.username.toLowerCase()
    const fields = { ...withKnownModels(given, names), username }
    const { hash, temporary } = await this.#newPassword(password, username)
    const row: MembersTable = {
      id: randomUUIDv7(),
      ...columnsOf(fields),
      must_change_password: temporary === undefined ? 0 : 1,
      tracing: 0,
      password: hash,
      session_version: 1,
      version: 1,
      created_at: Date.now(),
      last_login_at: null,
    }
    if (row.role === 'admin') refuseUnconfirmed(author)
    await members.store.change(async (transaction) => {
      await refuseTaken(transaction, username)
      await transaction.insertInto('members').values(row).execute()
      await audit.append(transaction, { ...entryOf('member.create', row, author), after: fields })
    })
    return { row, ...(temporary !== undefined && { temporary }) }
  }

  /** Applies a merge patch (RFC 7396). Without a difference, the member stays as it is. */
  change(id: string, patch: JsonObject, author: Author, versions?: Versions): Promise<MemberRow> {
    const { members, audit, names } = this.#parts
    return members.store.change(async (transaction) => {
      const row = await this.get(id, versions, transaction)
      const before = fieldsIn(row)
      const merged = checkInput(memberSchema, mergePatch(before, patch)) as MemberFields
      const after = { ...withKnownModels(merged, names), username: merged.username.toLowerCase() }
      const differs = differing(before, after)
      if (differs.size === 0) return row
      if (isOwn(id, author)) refuseOwn(differs)
      const isAdmin = ({ role, disabled }: MemberFields) => role === 'admin' && !disabled
      if (isAdmin(before) && !isAdmin(after)) await refuseLast(transaction, id)
      if (differs.has('role') && after.role === 'admin') refuseUnconfirmed(author)
      if (differs.has('username')) await refuseTaken(transaction, after.username)
      const endsSessions = differs.has('role') || (differs.has('disabled') && after.disabled)
      const changed = await this.#write(transaction, row, {
        ...columnsOf(after),
        ...(endsSessions && { session_version: row.session_version + 1 }),
      })
      await audit.append(transaction, { ...entryOf('member.update', changed, author), before, after })
      return changed
    })
  }

  /** Deletes a member, which ends the sessions and disables the keys. */
  remove(id: string, author: Author, versions?: Versions): Promise<void> {
    const { members, audit } = this.#parts
    return members.store.change(async (transaction) => {
      const row = await this.get(id, versions, transaction)
      if (row.role === 'admin' && row.disabled === 0) await refuseLast(transaction, id)
      await transaction.deleteFrom('members').where('id', '=', id).execute()
      await audit.append(transaction, { ...entryOf('member.delete', row, author), before: fieldsIn(row) })
    })
  }

  /** Sets a password and ends the sessions. Without a password, one is made, which must be changed. */
  async resetPassword(
    id: string,
    password: string | undefined,
    author: Author,
    versions?: Versions,
  ): Promise<MemberWithPassword> {
    const { members, audit } = this.#parts
    const { username } = await this.get(id, versions)
    if (isOwn(id, author)) throw new GatewayError('own_account', { param: 'password' })
    const { hash, temporary } = await this.#newPassword(password, username)
    const row = await members.store.change(async (transaction) => {
      const before = await this.get(id, versions, transaction)
      if (before.role === 'admin') refuseUnconfirmed(author)
      const changed = await this.#write(transaction, before, {
        password: hash,
        must_change_password: temporary === undefined ? 0 : 1,
        session_version: before.session_version + 1,
      })
      await audit.append(transaction, entryOf('member.reset_password', changed, author))
      return changed
    })
    return { row, ...(temporary !== undefined && { temporary }) }
  }

  /** Forgets what a member has spent in the running period. */
  resetBudget(id: string, author: Author, versions?: Versions): Promise<MemberRow> {
    const { host, audit, limits } = this.#parts
    return whenFree(() =>
      host.database.transaction().execute(async (transaction) => {
        const row = await this.get(id, versions, transaction)
        await limits.reset({ kind: 'member', id }, transaction)
        await audit.append(transaction, entryOf('member.reset_budget', row, author))
        return row
      }),
    )
  }

  /** Changes what members may change of their own accounts. A new password ends the sessions. */
  async changeOwn(id: string, { username, password, tracing, action }: OwnChange, author: Author): Promise<MemberRow> {
    const { members, audit } = this.#parts
    const name = username?.toLowerCase()
    const hash = password === undefined ? undefined : await members.passwords.hash(password)
    return members.store.change(async (transaction) => {
      const row = await this.get(id, undefined, transaction)
      const renamed = name !== undefined && name !== row.username
      if (renamed) await refuseTaken(transaction, name)
      const values = {
        ...(renamed && { username: name }),
        ...(tracing !== undefined && tracing !== (row.tracing !== 0) && { tracing: tracing ? 1 : 0 }),
        ...(hash !== undefined && {
          password: hash,
          must_change_password: 0,
          session_version: row.session_version + 1,
        }),
      }
      if (Object.keys(values).length === 0) return row
      const changed = await this.#write(transaction, row, values)
      await audit.append(transaction, {
        ...entryOf(action, changed, author),
        before: ownIn(row),
        after: ownIn(changed),
      })
      return changed
    })
  }

  async #write(transaction: TableQueries, { id, version }: MemberRow, values: Partial<MembersTable>) {
    const set = { ...values, version: version + 1 }
    await transaction.updateTable('members').set(set).where('id', '=', id).execute()
    return this.get(id, undefined, transaction)
  }

  /** The hash of a given password, or of one that is made. */
  async #newPassword(given: string | undefined, username: string) {
    const { leastPassword, passwords } = this.#parts.members
    if (given !== undefined) await checkPassword(given, { username, least: leastPassword, param: 'password' })
    const text = given ?? randomPassword()
    return { hash: await passwords.hash(text), temporary: given === undefined ? text : undefined }
  }
}

function isOwn(id: string, author: Author): boolean {
  return 'by' in author && author.by.principal?.id === id
}

/**
 * Rejects with `wrong_password` unless the password was repeated: whoever has a stolen session must not make an account
 * that stays when the session ends.
 */
function refuseUnconfirmed(author: Author): void {
  if ('by' in author && author.confirmed !== true) throw new GatewayError('wrong_password')
}

function entryOf(action: string, { id, username }: Pick<MemberRow, 'id' | 'username'>, author: Author) {
  const who = 'by' in author ? { by: author.by } : author
  return { action, ...who, target: { type: 'member', id, name: username } }
}

function notFound(id: string): GatewayError {
  return new GatewayError('not_found', {}, { message: `There is no member "${id.slice(0, 64)}".` })
}

/** What members change of their own accounts, as far as the audit trail tells it. */
function ownIn({ username, tracing }: MemberRow) {
  return { username, tracing: tracing !== 0 }
}
