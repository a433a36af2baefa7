import { hash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Principal, ServiceHost } from '../../engine/index.ts'
import { parsedJson } from '../../engine/kit.ts'
import { NameTaken, insertKey, madeLength, madePrefix, revokeKey, storedKeys } from './stored-keys.ts'
import type { MadeKey, Making, NewKey, StoredKey, Witness } from './stored-keys.ts'
import type { ApiKeysTable } from './table.ts'

/** An API key as the config file declares it. */
export interface DeclaredKey {
  readonly name: string
  readonly key: string
  /** Models the key may use; absent: all. */
  readonly models?: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}

/** What is wrong with a declared key. */
export interface KeyProblem {
  /** Which of them it is. */
  readonly index: number
  readonly message: string
}

interface KeyRecord {
  readonly principal: Principal
  readonly expiresAt: number
}

type Records = ReadonlyMap<string, KeyRecord>

/** What any key may look like: printable ASCII without spaces, as a header carries it unharmed. */
const SHAPE = /^[\x21-\x7e]{8,256}$/

/** Most keys in use whose digests are remembered. */
const REMEMBERED = 1_000

/** Milliseconds after which any other change of a key is known here. */
const CHANGES = 5_000

/** Milliseconds between two looks for keys that are not known. */
const SECOND_LOOK = 1_000

/**
 * The API keys of the config file and of the database, as one snapshot in memory: looking one up is a hash and a `Map`.
 * Records are found by the SHA-256 of a key's text, so a lookup tells nothing by its time. Hashing takes longer than all
 * else of a lookup: the digests of keys in use are remembered by their texts, in memory alone and a bounded number of
 * them. `refresh` reads the database anew.
 */
export class KeyStore {
  readonly #stores: Pick<ServiceHost, 'database' | 'rows'>
  #declared: readonly DeclaredKey[] = []
  #fromFile: Records = new Map()
  #fromDatabase: Records = new Map()
  /** Every key of the database that is in use, those that are left out too. */
  #stored: Records = new Map()
  #leftOut: readonly string[] = []
  /** Names in the database by lower case, those of revoked keys among them. */
  #names: ReadonlySet<string> = new Set()

  /** By the text of a key that has a record; a stranger's never gets here. */
  readonly #digests = new Map<string, string>()
  readonly #onFailure: (error: unknown) => void
  /** The next look for unknown keys, as long as it has not begun. */
  #look: Promise<void> | undefined
  #lookedAt = -Infinity
  /** When the last reading began, when the one whose keys are known did, and what told the state of the database. */
  #readAt = -Infinity
  #known = -Infinity
  #state = ''

  /** @param onFailure hears that the database could not be read when a key was searched for */
  constructor(stores: Pick<ServiceHost, 'database' | 'rows'>, onFailure: (error: unknown) => void = () => undefined) {
    this.#stores = stores
    this.#onFailure = onFailure
  }

  /** The principal of a key's text; undefined when it is unknown or expired. */
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
   * The same, of a key that may have been made elsewhere a moment ago: the database is asked, at most once a second for
   * all who wait. Never rejects.
   */
  async search(text: string): Promise<Principal | undefined> {
    // Only what looks like a key that was made here can have been made elsewhere.
    if (text.length !== madeLength || !text.startsWith(madePrefix)) return undefined
    await (this.#look ??= this.#lookAgain())
    return this.find(text)
  }

  /**
   * Names of keys of the database that are left out: a declared one has the name or the text. That happens at a start,
   * where nothing runs that could go on, and where another process has made such a key.
   */
  get leftOut(): readonly string[] {
    return this.#leftOut
  }

  /**
   * What is wrong with keys a config file declares, in sentences that name keys, never their text. Keys of the database
   * are no reason against one that is declared already, nor against any at a start.
   */
  problems(declared: readonly DeclaredKey[], isStart = false): readonly KeyProblem[] {
    const names = new Set<string>()
    const digests = new Map<string, string>()
    return declared.flatMap(({ name, key, expiresAt }, index) => {
      const problems: string[] = []
      const digest = hash('sha256', key)
      const twin = digests.get(digest)
      if (!SHAPE.test(key)) problems.push(`api key "${name}": use 8 to 256 printable ASCII characters without spaces`)
      if (Number.isNaN(expiresAt)) problems.push(`api key "${name}": its expiry is no date`)
      if (names.has(name.toLowerCase())) problems.push(`api key "${name}" is declared twice`)
      const isNew = !isStart && !this.#isDeclared(name)
      if (isNew && this.#names.has(name.toLowerCase()))
        problems.push(`api key "${name}" exists in the database too; rename one`)
      if (twin !== undefined) problems.push(`api key "${name}" has the same text as "${twin}"`)
      else if (isNew && this.#stored.has(digest))
        problems.push(`api key "${name}" has the text of a key in the database`)
      names.add(name.toLowerCase())
      digests.set(digest, name)
      return problems.map((message) => ({ index, message }))
    })
  }

  /** Takes the keys of a config file in place of those of the one before. */
  declare(declared: readonly DeclaredKey[]): void {
    this.#declared = declared
    this.#fromFile = new Map(
      declared.map(({ name, key, models, expiresAt }) => [
        hash('sha256', key),
        { principal: principalOf(`file:${name}`, name, models), expiresAt: expiresAt ?? Infinity },
      ]),
    )
    this.#fit()
  }

  /**
   * Reads the keys of the database if one was made or revoked, or when the last reading is 5 seconds old. Whether one was
   * made or revoked since this was asked last.
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
    // A reading that was overtaken knows less.
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

  /** Makes a key in the database. Its text is answered here and never again. Rejects with a `NameTaken`. */
  async createKey(key: NewKey, making?: Making): Promise<MadeKey> {
    const { name } = key
    if (this.#isDeclared(name)) throw new NameTaken(`an API key named "${name}" is declared in the config file`)
    const made = await insertKey(this.#stores.database, key, making)
    await this.refresh()
    return made
  }

  /** Every key of the database, revoked ones too, the oldest first. */
  list(): Promise<StoredKey[]> {
    return storedKeys(this.#stores.database)
  }

  /** Revokes a key of the database by its id, for good; answers whether it was in use. */
  async revoke(id: string, witness?: Witness): Promise<boolean> {
    const revoked = await revokeKey(this.#stores.database, id, witness)
    await this.refresh()
    return revoked
  }

  /** Makes the key `first` when there is no key at all, and answers its text; once, even when many processes start. */
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

  /** Leaves out those of the database whose name or text the file has. */
  #fit(): void {
    const names = new Set(this.#declared.map(({ name }) => name.toLowerCase()))
    const out = new Map<string, string>()
    for (const [digest, { principal }] of this.#stored)
      if (this.#fromFile.has(digest) || names.has(principal.name.toLowerCase())) out.set(digest, principal.name)
    this.#leftOut = [...out.values()]
    // Nearly always all of them fit, and there may be very many.
    this.#fromDatabase =
      out.size === 0 ? this.#stored : new Map([...this.#stored].filter(([digest]) => !out.has(digest)))
  }

  #remember(text: string, digest: string): void {
    if (this.#digests.size === REMEMBERED) this.#digests.clear()
    this.#digests.set(text, digest)
  }

  /** Whoever comes before it begins waits for the same look. */
  async #lookAgain(): Promise<void> {
    const wait = this.#lookedAt + SECOND_LOOK - performance.now()
    await setTimeout(Math.max(0, wait), undefined, { ref: false })
    this.#look = undefined
    this.#lookedAt = performance.now()
    await this.refresh().catch(this.#onFailure)
  }

  #isDeclared(name: string): boolean {
    return this.#declared.some((declared) => declared.name.toLowerCase() === name.toLowerCase())
  }
}

function principalOf(id: string, name: string, models: readonly string[] | undefined): Principal {
  return Object.freeze({ kind: 'key', id, name, ...(models === undefined ? {} : { models: new Set(models) }) })
}

/** A list that cannot be read allows nothing: a damaged row must not widen what a key may do. */
function modelsOf(text: string | null): readonly string[] | undefined {
  if (text === null) return undefined
  const models = parsedJson(text)
  return Array.isArray(models) ? models.filter((model) => typeof model === 'string') : []
}
