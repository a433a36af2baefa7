import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Principal } from '../../engine/index.ts'
import { fieldsInForce, isDisabled, principalOf } from './known-key.ts'
import type { DeclaredKey, FindOwner, KeyFacts, KeyFields, KeyState, KnownKey, LeftOut } from './known-key.ts'
import { foldedName } from './table.ts'

/** A text of a key: whom it stands for, and until when. */
interface Entry {
  readonly principal: Principal
  /** Milliseconds since 1970; `-Infinity`: the key is disabled. */
  readonly until: number
  /** When its use was last noted. */
  notedAt: number
}

type Entries = Map<string, Entry>

/** The form of any key: printable ASCII without spaces, which headers transport unchanged. */
const SHAPE = /^[\x21-\x7e]{8,256}$/

/** Most digests of active keys in memory. */
const REMEMBERED = 1_000

/** Milliseconds between two notes that a key is in use. */
const NOTED = 20_000

/** Hears at times, at least every 20 seconds, that a key is in use. */
export type NoteUse = (id: string, at: number) => void

/**
 * The living API keys of the file and of the database in memory: a lookup is a hash and a `Map`. Records are found by
 * the SHA-256 of a key's text, so the time of a lookup reveals nothing. Hashing is the largest part of a lookup, so a
 * bounded number of digests of active keys is cached by their texts, only in memory.
 */
export class KeyIndex {
  readonly #noteUse: NoteUse
  #ownerOf: FindOwner = () => undefined
  #given: readonly DeclaredKey[] = []
  #declared: readonly KnownKey[] = []
  #stored: readonly KnownKey[] = []
  #fromFile: Entries = new Map()
  #fromDatabase: Entries = new Map()
  #byId: ReadonlyMap<string, KnownKey> = new Map()
  readonly #facts = new Map<string, KeyFacts>()
  #owned: ReadonlyMap<string, readonly string[]> = new Map()
  #leftOut: ReadonlyMap<string, LeftOut> = new Map()
  /** Digests by the text of a key. Only texts of keys are added. */
  readonly #digests = new Map<string, string>()

  constructor(noteUse: NoteUse) {
    this.#noteUse = noteUse
  }

  /** The principal of a key's text; undefined if the key is unknown, expired or disabled. */
  find(text: string): Principal | undefined {
    const known = this.#digests.get(text)
    if (known === undefined && (text.length > 256 || !SHAPE.test(text))) return undefined
    const digest = known ?? hash('sha256', text)
    const entry = this.#fromFile.get(digest) ?? this.#fromDatabase.get(digest)
    if (entry === undefined) this.#digests.delete(text)
    else if (known === undefined) this.#remember(text, digest)
    const now = Date.now()
    if (entry === undefined || now >= entry.until) return undefined
    if (now - entry.notedAt >= NOTED) {
      entry.notedAt = now
      this.#noteUse(entry.principal.id, now)
    }
    return entry.principal
  }

  /** A key by its id; undefined: no living key has it. */
  get(id: string): KeyFacts | undefined {
    const known = this.#facts.get(id)
    if (known !== undefined) return known
    const key = this.#byId.get(id)
    if (key === undefined) return undefined
    const fields = this.fieldsOf(key)
    const stateOf = () => this.stateOf(key)
    const facts: KeyFacts = Object.freeze({
      ...fields,
      id,
      tags: fields.tags ?? none,
      get state() {
        return stateOf()
      },
    })
    this.#facts.set(id, facts)
    return facts
  }

  /** The fields of a key that are in force. */
  fieldsOf(key: KnownKey): KeyFields {
    return fieldsInForce(key, this.#ownerOf)
  }

  stateOf(key: KnownKey): KeyState {
    if (this.#leftOut.has(key.id)) return 'off'
    if (isDisabled(key, this.#ownerOf)) return 'disabled'
    return Date.now() >= (key.fields.expiresAt ?? Infinity) ? 'expired' : 'active'
  }

  /** The ids of the keys that a member owns. */
  ownedBy(member: string): readonly string[] {
    return this.#owned.get(member) ?? []
  }

  /** Every living key: those of the file, then those of the database. */
  get all(): readonly KnownKey[] {
    return [...this.#declared, ...this.#stored]
  }

  /** A living key by its id. */
  known(id: string): KnownKey | undefined {
    return this.#byId.get(id)
  }

  /** The principal of a living key by its name, in upper or lower case. */
  named(name: string): Principal | undefined {
    const folded = foldedName(name)
    const key = this.all.find(({ fields }) => foldedName(fields.name) === folded)
    return key && principalOf(key, this.#ownerOf)
  }

  /** Stored keys that are left out. */
  get leftOut(): readonly LeftOut[] {
    return [...this.#leftOut.values()]
  }

  /** Whether the file declares a key of this name, in any case. */
  declares(name: string): boolean {
    const folded = foldedName(name)
    return this.#declared.some(({ fields }) => foldedName(fields.name) === folded)
  }

  /** The names and texts of the stored keys, to be compared with those of the file. */
  rivals(): { hasName(name: string): boolean; hasText(text: string): boolean } {
    const names = new Set(this.#stored.map(({ fields }) => foldedName(fields.name)))
    const digests = new Set(this.#stored.flatMap(({ texts }) => texts.map(({ digest }) => digest)))
    return {
      hasName: (name) => names.has(foldedName(name)),
      hasText: (text) => digests.has(hash('sha256', text)),
    }
  }

  /** Replaces the declared keys. Returns whether they differ. */
  declare(given: readonly DeclaredKey[]): boolean {
    if (isDeepStrictEqual(given, this.#given)) return false
    this.#given = given
    this.#declared = given.map(({ key, ...fields }) => ({
      id: `file:${fields.name}`,
      fields,
      texts: [{ digest: hash('sha256', key), until: fields.expiresAt ?? Infinity }],
    }))
    this.#build()
    return true
  }

  /** Replaces the stored keys. */
  store(stored: readonly KnownKey[]): void {
    this.#stored = stored
    this.#build()
  }

  /** Takes over what members lend to their keys. To be called again when a member has changed. */
  follow(ownerOf: FindOwner): void {
    this.#ownerOf = ownerOf
    const owned = this.#stored.filter(({ id, fields }) => fields.owner !== undefined && !this.#leftOut.has(id))
    for (const [digest, entry] of this.#entriesOf(owned, this.#fromDatabase)) this.#fromDatabase.set(digest, entry)
    this.#facts.clear()
  }

  /** Leaves out keys of the database with the name or text of a declared key. */
  #build(): void {
    this.#fromFile = this.#entriesOf(this.#declared, this.#fromFile)
    const names = new Set(this.#declared.map(({ fields }) => foldedName(fields.name)))
    const out = new Map<string, LeftOut>()
    for (const { id, fields, texts } of this.#stored) {
      const { name } = fields
      if (names.has(foldedName(name))) out.set(id, { id, name, because: 'name' })
      else if (texts.some(({ digest }) => this.#fromFile.has(digest))) out.set(id, { id, name, because: 'text' })
    }
    this.#leftOut = out
    this.#fromDatabase = this.#entriesOf(
      this.#stored.filter(({ id }) => !out.has(id)),
      this.#fromDatabase,
    )
    this.#byId = new Map(this.all.map((key) => [key.id, key]))
    this.#facts.clear()
    const owned = this.#stored.filter(({ fields }) => fields.owner !== undefined)
    const byOwner = Map.groupBy(owned, ({ fields }) => fields.owner ?? '')
    this.#owned = new Map([...byOwner].map(([owner, keys]) => [owner, keys.map(({ id }) => id)]))
  }

  #entriesOf(keys: readonly KnownKey[], before: Entries): Entries {
    const entries: Entries = new Map()
    for (const key of keys) {
      const principal = principalOf(key, this.#ownerOf)
      const isOff = isDisabled(key, this.#ownerOf)
      for (const { digest, until } of key.texts)
        entries.set(digest, {
          principal,
          until: isOff ? -Infinity : until,
          notedAt: before.get(digest)?.notedAt ?? -Infinity,
        })
    }
    return entries
  }

  #remember(text: string, digest: string): void {
    if (this.#digests.size === REMEMBERED) this.#digests.clear()
    this.#digests.set(text, digest)
  }
}

const none = Object.freeze({})
