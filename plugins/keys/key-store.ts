import { hash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { GatewayError } from '../../engine/index.ts'
import type { Principal, ServiceHost } from '../../engine/index.ts'
import { within } from '../../engine/kit.ts'
import { NameTaken, insertKey, madeLength, madePrefix, modelsOf, revokeKey, storedKeys } from './stored-keys.ts'
import type { MadeKey, Making, NewKey, StoredKey, Witness } from './stored-keys.ts'
import type { ApiKeysTable } from './table.ts'

/** An API key of the config file. */
export interface DeclaredKey {
  readonly name: string
  readonly key: string
  /** Models that the key may use; absent: all. */
  readonly models?: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}

/** A conflict of a declared key with the database. */
export interface KeyProblem {
  /** Index of the key. */
  readonly index: number
  readonly message: string
}

/** A key of the database that is left out, because the file declares a key of its name or its text. */
export interface LeftOut {
  readonly id: string
  readonly name: string
  readonly because: 'name' | 'text'
}

interface KeyRecord {
  readonly principal: Principal
  readonly expiresAt: number
}

type Records = ReadonlyMap<string, KeyRecord>

/** The form of any key: printable ASCII without spaces, which headers transport unchanged. */
const SHAPE = /^[\x21-\x7e]{8,256}$/

/** Most digests of active keys in memory. */
const REMEMBERED = 1_000

/** Milliseconds between two full reads, which find any other change of a key. */
const CHANGES = 5_000

/** Milliseconds between two reads for unknown keys. */
const SECOND_LOOK = 1_000

/** Maximum milliseconds that a search waits for the database. */
const SEARCH = 4_000

/**
 * The API keys of the config file and of the database, as one snapshot in memory: a lookup is a hash and a `Map`.
 * Records are found by the SHA-256 of a key's text, so the time of a lookup reveals nothing. Hashing is the largest
 * part of a lookup, so a bounded number of digests of active keys is cached by their texts, only in memory. `refresh`
 * reads the database again.
 */
export class KeyStore {
  readonly #stores: Pick<ServiceHost, 'database' | 'rows'>
  #declared: readonly DeclaredKey[] = []
  #fromFile: Records = new Map()
  #fromDatabase: Records = new Map()
  /** Every active key of the database, including those left out. */
  #stored: Records = new Map()
  #leftOut: readonly LeftOut[] = []
  /** Lower-case names in the database, including those of revoked keys. */
  #names: ReadonlySet<string> = new Set()

  /** Digests by the text of a key. Only keys with a record are added. */
  readonly #digests = new Map<string, string>()
  /** The next read for unknown keys, until it begins. */
  #look: Promise<void> | undefined
  #lookedAt = -Infinity
  /** The last read for unknown keys. Never rejects. */
  #reading: Promise<void> | undefined
  /** When the last read began, when the read of the current keys began, and the counts of the last poll. */
  #readAt = -Infinity
  #known = -Infinity
  #state = ''

  constructor(stores: Pick<ServiceHost, 'database' | 'rows'>) {
    this.#stores = stores
  }

  /** The principal of a key's text; undefined if the key is unknown or expired. */
  find(text: string): Principal | undefined {
    const known = this.#digests.get(text)
    if (known === undefined && (text.length > 256 || !SHAPE.test(text))) return undefined
    const digest = known ?? hash('sha256', text)
    const record = this.#fromFile.get(digest) ?? this.#fromDatabase.get(digest)
    if (record === undefined) this.#digests.delete(text)
    else if (known === undefined) this.#remember(text, digest)
    return record !== undefined && Date.now() < record.expiresAt ? record.principal : undefined
  }

  /**
   * Like `find`, for a key that another process may just have created. Reads the database, at most once a second for
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
    return this.find(text)
  }

  /**
   * The database keys that are left out, because a declared key has the same name or text. This happens at a
   * start, which has no earlier configuration to keep, and if another process has created such a key.
   */
  get leftOut(): readonly LeftOut[] {
    return this.#leftOut
  }

  /**
   * Conflicts of newly declared keys with keys of the database; none at a start. The messages have the names of keys,
   * never their text. All other mistakes of declared keys are found before, without the database.
   */
  problems(declared: readonly DeclaredKey[], isStart = false): readonly KeyProblem[] {
    if (isStart) return []
    return declared.flatMap(({ name, key }, index) => {
      if (this.#isDeclared(name)) return []
      const problems: string[] = []
      if (this.#names.has(name.toLowerCase())) problems.push(`api key "${name}" exists in the database too; rename one`)
      if (this.#stored.has(hash('sha256', key)))
        problems.push(`api key "${name}" has the text of a key in the database`)
      return problems.map((message) => ({ index, message }))
    })
  }

  /** Replaces the declared keys. Returns whether they differ. */
  declare(declared: readonly DeclaredKey[]): boolean {
    if (isDeepStrictEqual(declared, this.#declared)) return false
    this.#declared = declared
    this.#fromFile = new Map(
      declared.map(({ name, key, models, expiresAt }) => [
        hash('sha256', key),
        { principal: principalOf(`file:${name}`, name, models), expiresAt: expiresAt ?? Infinity },
      ]),
    )
    this.#fit()
    return true
  }

  /**
   * Reads the keys of the database if one was created or revoked, or if the last read is 5 seconds old. Resolves to
   * whether one was created or revoked since the last call.
   */
  async poll(): Promise<boolean> {
    const counts = await this.#stores.rows('select count(*) as made, count(revoked_at) as revoked from api_keys')
    const state = JSON.stringify(counts)
    const changed = state !== this.#state
    if (changed || performance.now() - this.#readAt >= CHANGES) await this.refresh()
    this.#state = state
    return changed
  }

  /** Reads the keys of the database. */
  async refresh(): Promise<void> {
    const began = (this.#readAt = performance.now())
    const rows = await this.#stores.rows<ApiKeysTable>('select * from api_keys')
    // A later read has already finished.
    if (began < this.#known) return
    this.#known = began
    const live = rows.filter((row) => row.revoked_at === null)
    this.#names = new Set(rows.map((row) => row.name.toLowerCase()))
    this.#stored = new Map(
      live.map((row) => [
        row.hash,
        { principal: principalOf(row.id, row.name, modelsOf(row.models)), expiresAt: row.expires_at ?? Infinity },
      ]),
    )
    this.#fit()
  }

  /** Creates a key in the database. Resolves to its text, which is available only here. Rejects with a `NameTaken`. */
  async createKey(key: NewKey, making?: Making): Promise<MadeKey> {
    const { name } = key
    if (this.#isDeclared(name)) throw new NameTaken(`an API key named "${name}" is declared in the config file`)
    const made = await insertKey(this.#stores.database, key, making)
    await this.refresh()
    return made
  }

  /** Every key of the database, including revoked ones, oldest first. */
  list(): Promise<StoredKey[]> {
    return storedKeys(this.#stores.database)
  }

  /** Revokes a key of the database permanently, by its id. Resolves to whether it was active. */
  async revoke(id: string, witness?: Witness): Promise<boolean> {
    const revoked = await revokeKey(this.#stores.database, id, witness)
    await this.refresh()
    return revoked
  }

  /** Creates the key `first` if there is no key, and resolves to its text; only once, even if many processes start. */
  async ensureFirstKey(make = (key: NewKey) => this.createKey(key)): Promise<string | undefined> {
    await this.refresh()
    if (this.#declared.length > 0 || this.#names.size > 0) return undefined
    try {
      return (await make({ name: 'first' })).text
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error
      await this.refresh()
      return undefined
    }
  }

  /** Leaves out keys of the database with the name or text of a declared key. */
  #fit(): void {
    const names = new Set(this.#declared.map(({ name }) => name.toLowerCase()))
    const out = new Map<string, LeftOut>()
    for (const [digest, { principal }] of this.#stored) {
      const { id, name } = principal
      if (names.has(name.toLowerCase())) out.set(digest, { id, name, because: 'name' })
      else if (this.#fromFile.has(digest)) out.set(digest, { id, name, because: 'text' })
    }
    this.#leftOut = [...out.values()]
    // Usually none is left out. Then the map, which may be large, is not copied.
    this.#fromDatabase =
      out.size === 0 ? this.#stored : new Map([...this.#stored].filter(([digest]) => !out.has(digest)))
  }

  #remember(text: string, digest: string): void {
    if (this.#digests.size === REMEMBERED) this.#digests.clear()
    this.#digests.set(text, digest)
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

  #isDeclared(name: string): boolean {
    return this.#declared.some((declared) => declared.name.toLowerCase() === name.toLowerCase())
  }
}

function principalOf(id: string, name: string, models: readonly string[] | undefined): Principal {
  return Object.freeze({ kind: 'key', id, name, ...(models === undefined ? {} : { models: new Set(models) }) })
}
