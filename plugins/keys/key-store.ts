import { setTimeout } from 'node:timers/promises'
import { GatewayError } from '../../engine/index.ts'
import type { Principal, ServiceHost } from '../../engine/index.ts'
import { within } from '../../engine/kit.ts'
import { KeyIndex } from './key-index.ts'
import type { NoteUse } from './key-index.ts'
import type { DeclaredKey, KeyFields, KnownKey } from './known-key.ts'
import { NameTaken, changeKey, insertKey, keyOf, madeLength, madePrefix, makeText, reached } from './stored-keys.ts'
import type { MadeKey, Making, PlanChange, StoredKey, Witness } from './stored-keys.ts'
import type { KeyRow } from './table.ts'

/** A conflict of a declared key with the database. */
export interface KeyProblem {
  /** Index of the key. */
  readonly index: number
  readonly message: string
}

/** Milliseconds between two full reads, which find any other change of a key. */
const CHANGES = 5_000

/** Milliseconds between two reads for unknown keys. */
const SECOND_LOOK = 1_000

/** Maximum milliseconds that a search waits for the database. */
const SEARCH = 4_000

/** Numbers of which at least one differs after every change of a key. */
const counts = `
  select count(*) as living, count(revoked_at) as revoked, sum(version) as versions,
    (select count(*) from api_keys_revoked) as archived
  from api_keys`

/** The API keys of the config file and of the database: an index in memory, and changes of the stored ones. */
export class KeyStore {
  readonly index: KeyIndex
  readonly #stores: Pick<ServiceHost, 'database' | 'rows'>

  /** The next read for unknown keys, until it begins. */
  #look: Promise<void> | undefined
  #lookedAt = -Infinity
  /** The last read for unknown keys. Never rejects. */
  #reading: Promise<void> | undefined
  /** When the last read began, when the read of the current keys began, and the counts of the last poll. */
  #readAt = -Infinity
  #known = -Infinity
  #state = ''

  constructor(stores: Pick<ServiceHost, 'database' | 'rows'>, noteUse: NoteUse = () => undefined) {
    this.#stores = stores
    this.index = new KeyIndex(noteUse)
  }

  /**
   * Like `find` of the index, for a key that another process may just have created. Reads the database, at most once a second for
   * all callers together. Rejects with `store_unavailable` if it does not answer in time.
   */
  async search(text: string): Promise<Principal | undefined> {
    // Another process creates only keys of this form.
    if (text.length !== madeLength || !text.startsWith(madePrefix)) return undefined
    try {
      await within((this.#look ??= this.#lookAgain()), SEARCH, `no answer within ${SEARCH} ms`)
    } catch (error) {
      throw new GatewayError('store_unavailable', {}, { cause: error })
    }
    return this.index.find(text)
  }

  /**
   * Conflicts of newly declared keys with keys of the database; none at a start. The messages have the names of keys,
   * never their text. All other mistakes of declared keys are found before, without the database.
   */
  problems(declared: readonly DeclaredKey[], isStart = false): readonly KeyProblem[] {
    if (isStart) return []
    const rivals = this.index.rivals()
    return declared.flatMap(({ name, key }, index) => {
      if (this.index.declares(name)) return []
      const problems: string[] = []
      if (rivals.hasName(name)) problems.push(`api key "${name}" exists in the database too; rename one`)
      if (rivals.hasText(key)) problems.push(`api key "${name}" has the text of a key in the database`)
      return problems.map((message) => ({ index, message }))
    })
  }

  /**
   * Reads the keys of the database if one was changed, or if the last read is 5 seconds old. Resolves to whether one
   * was changed since the last call.
   */
  async poll(): Promise<boolean> {
    const state = JSON.stringify(await this.#stores.rows(counts))
    const changed = state !== this.#state
    if (changed || performance.now() - this.#readAt >= CHANGES) await this.refresh()
    this.#state = state
    return changed
  }

  /** Reads the keys of the database if any process has changed one. Rejects with `store_unavailable`. */
  async update(): Promise<void> {
    await reached(async () => {
      const state = JSON.stringify(await this.#stores.rows(counts))
      // The next poll shall tell of the change.
      if (state !== this.#state) await this.refresh()
    })
  }

  /** When keys were used last; without ids, all that were ever used. Rejects with `store_unavailable`. */
  async lastUses(ids?: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (ids?.length === 0) return new Map()
    const all = this.#stores.database.selectFrom('api_keys_used').selectAll()
    const uses = await reached(() => (ids ? all.where('id', 'in', ids) : all).execute())
    return new Map(uses.map(({ id, at }) => [id, at]))
  }

  /** Reads the keys of the database. */
  async refresh(): Promise<void> {
    const began = (this.#readAt = performance.now())
    const rows = await this.#stores.rows<KeyRow>('select * from api_keys where revoked_at is null')
    // A later read has already finished.
    if (began < this.#known) return
    this.#known = began
    this.index.store(rows.map(keyOf))
  }

  /** Creates a key in the database. Resolves to its text, which is available only here. Rejects with a `NameTaken`. */
  async createKey(fields: KeyFields, making?: Making): Promise<MadeKey> {
    this.#refuseDeclared(fields.name)
    const made = await insertKey(this.#stores.database, fields, making)
    await this.refresh()
    return made
  }

  /** Every key of the database, including revoked ones, oldest first. */
  stored(): Promise<readonly StoredKey[]> {
    const columns = 'id, name, hint, owner, models, created_at, expires_at, revoked_at'
    return this.#stores.rows<StoredKey>(`
      select ${columns} from api_keys union all select ${columns} from api_keys_revoked order by created_at, id`)
  }

  /** Changes a key of the database. Resolves to whether anything changed; undefined: there is no such key. */
  async change(id: string, versions: readonly number[] | undefined, plan: PlanChange): Promise<boolean | undefined> {
    const planned: PlanChange = (key, row) => {
      const change = plan(key, row)
      if (change?.set.name !== undefined) this.#refuseDeclared(change.set.name, key.fields.name)
      return change
    }
    const changed = await changeKey(this.#stores.database, id, versions, planned)
    await this.refresh()
    return changed
  }

  /** Gives a key of the database another text, and lets the text before serve for some milliseconds more. */
  async rotate(
    id: string,
    versions: readonly number[] | undefined,
    grace: number,
    witnessOf?: (key: KnownKey, hint: { readonly from: string; readonly to: string }) => Witness,
  ): Promise<MadeKey | undefined> {
    const { text, columns } = makeText()
    const found = await this.change(id, versions, (key, { hash, hint }) => {
      const now = Date.now()
      const previous = grace > 0 ? { previous_hash: hash, previous_until: now + grace } : noPrevious
      const witness = witnessOf?.(key, { from: hint, to: columns.hint })
      return { set: { ...columns, ...previous, rotated_at: now }, ...(witness && { witness }) }
    })
    return found === undefined ? undefined : { id, text }
  }

  /** Revokes a key of the database permanently, by its id. Resolves to whether it was active. */
  async revoke(id: string, versions?: readonly number[], witnessOf?: (key: KnownKey) => Witness): Promise<boolean> {
    const revoked = await this.change(id, versions, (key) => {
      const witness = witnessOf?.(key)
      return { set: { revoked_at: Date.now() }, ...(witness && { witness }) }
    })
    return revoked === true
  }

  /** Creates the key `first` if there is no key, and resolves to its text; only once, even if many processes start. */
  async ensureFirstKey(make = (fields: KeyFields) => this.createKey(fields)): Promise<string | undefined> {
    await this.refresh()
    if (this.index.all.length > 0 || (await this.#hasRevoked())) return undefined
    try {
      return (await make({ name: 'first' })).text
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error
      await this.refresh()
      return undefined
    }
  }

  async #hasRevoked(): Promise<boolean> {
    const [row] = await this.#stores.rows<{ revoked: number; archived: number }>(counts)
    return row !== undefined && row.revoked + row.archived > 0
  }

  /** Refuses a name of the file, unless the key has it in that form already. */
  #refuseDeclared(name: string, before?: string): void {
    if (name !== before && this.index.declares(name))
      throw new NameTaken(`an API key named "${name}" is declared in the config file`)
  }

  /** Reads again. Callers before its begin share the same read. */
  async #lookAgain(): Promise<void> {
    const wait = this.#lookedAt + SECOND_LOOK - performance.now()
    await setTimeout(Math.max(0, wait), undefined, { ref: false })
    // A database that hangs is asked once, however many wait.
    await this.#reading
    this.#look = undefined
    this.#lookedAt = performance.now()
    const reading = this.refresh()
    // Its failure goes to those who wait for it, not to those after them.
    this.#reading = reading.catch(() => undefined)
    await reading
  }
}

const noPrevious = { previous_hash: null, previous_until: null }
