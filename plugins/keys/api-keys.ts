import { randomUUID } from 'node:crypto'
import { defineService } from '../../engine/index.ts'
import type { Greeting, HeldChange, JsonObject, Principal, Services } from '../../engine/index.ts'
import { ChangePoll, whenFree, timeText } from '../../engine/kit.ts'
import type { ApiKey } from './api-key.ts'
import { declarable, declaredKey, knownModels, modelNames } from './declared-keys.ts'
import { greetingOf } from './first-key.ts'
import { notFound } from './key-answers.ts'
import { bodyOfFields } from './key-body.ts'
import { entryOf } from './key-entry.ts'
import type { Changer, KeyAction, KeyEdit } from './key-entry.ts'
import { KeyStore } from './key-store.ts'
import type { DeclaredKey, KeyFacts, KeyFields, KnownKey, LeftOut } from './known-key.ts'
import { requireRoom } from './key-policy.ts'
import {
  closedKeys,
  endsGuard,
  forgetGuard,
  guardsOf,
  namedBy,
  refuseNamedGuard,
  requireGuards,
} from './named-guards.ts'
import { takeKeys } from './take-keys.ts'
import type { Taken, TakenKey, Taking } from './take-keys.ts'
import { changedColumns } from './stored-keys.ts'
import type { MadeKey, StoredKey, Witness } from './stored-keys.ts'
import { migrations, noteLastUses } from './table.ts'

/** The API keys of the configuration file and of the database, which stores the SHA-256 of a key, never its text. */
export interface ApiKeys {
  /** The principal of a key's text; undefined if the key is unknown, expired or disabled. */
  find(text: string): Principal | undefined
  /**
   * Like `find`, for a key that another process may just have created. Reads the database, at most once a second for
   * all callers together. Rejects with `store_unavailable`
   * if it does not answer in time.
   */
  search(text: string): Promise<Principal | undefined>
  /** The principal of a living key by its name, in upper or lower case; undefined: no key has it. */
  named(name: string): Principal | undefined
  /** A key by its id; undefined: no living key has it. The same object until a key changes. */
  get(id: string): KeyFacts | undefined
  /** The ids of the keys that a member owns. */
  ownedBy(member: string): readonly string[]
  /** The keys that this configuration declares. */
  readonly declared: readonly DeclaredKey[]
  /** Keys of the database that are left out at present. */
  readonly leftOut: readonly LeftOut[]
  /** Every key of the database, including revoked ones, oldest first. */
  stored(): Promise<readonly StoredKey[]>
  /** For the stages of this plugin. */
  readonly store: KeyStore
  /** Checks the body of a key like a declared one; returns it with defaults and with the record names of its models. */
  accept(body: JsonObject): JsonObject
  /**
   * Creates a key in the database. Returns its text, which is available only here. Rejects with a `NameTaken`, with a
   * `Refusal` for an unknown model, and with a `GatewayError` for a key that the record type does not accept.
   * @param mostOwned the number of living keys that its owner may have; beyond, it rejects with `too_many_keys`
   */
  create(fields: KeyFields, by?: Changer, mostOwned?: number): Promise<MadeKey>
  /**
   * Changes the fields in force of a key of the database. Resolves to whether there is such a key. Rejects with a
   * `NameTaken` and, like the next two, with `stale_version`.
   */
  change(id: string, how: Changing & { readonly edit: (fields: KeyFields) => KeyFields }): Promise<boolean>
  /** Gives a key of the database another text. The text before serves for `grace` milliseconds more. */
  rotate(id: string, how: Changing & { readonly grace: number }): Promise<MadeKey | undefined>
  /** Revokes a key of the database permanently. Resolves to whether it was active. */
  revoke(key: Pick<StoredKey, 'id' | 'name'>, how?: Changing): Promise<boolean>
  /**
   * Takes keys of another gateway over by the hashes of their texts, in one transaction with a row of the audit trail for
   * each. Those that are known stay as they are.
   * @param stored called in the transaction after a key is stored
   */
  take(keys: readonly TakenKey[], stored: Taking['stored']): Promise<Taken>
  /** Does something else to a key, in one transaction with its entry in the audit trail. */
  act(action: KeyAction, key: Pick<StoredKey, 'id' | 'name'>, by: Changer, work: Witness): Promise<void>
  /** Creates the key `first` if there is no key, and resolves to its text; only once, even if many processes start. */
  first(): Promise<string | undefined>
}

/** Who changes a key, and the versions it may have; absent: any. */
export interface Changing {
  readonly by?: Changer
  readonly versions?: readonly number[] | undefined
  /** The member who must own the key, also when the change is made; absent: anybody. */
  readonly owner?: string
}

declare module '../../engine/index.ts' {
  interface Services {
    api_keys: ApiKeys
  }
}

/** Milliseconds between two checks for keys that another process changed. */
const poll = 500

const actions = { create: 'create', change: 'update', delete: 'delete' } as const

/** Finds the principal of an API key. */
export default defineService({
  name: 'api_keys',
  summary: 'API keys, declared and stored, by which clients authenticate.',
  migrations,
  uses: ['members', 'audit', 'notifications', 'metrics'],
  async open(host) {
    const uses = host.appender('api_keys_uses', { sums: noteLastUses })
    const keys = new KeyStore(host, (id, at) => uses.append({ key_id: id, at }))
    await keys.refresh()
    const following = new ChangePoll({
      poll: () => keys.poll(),
      changed: () => host.recheck(),
      unknown: 'keys changed by other processes are not known',
    })
    let isStart = true
    let unfollow = () => {}
    let tellOf: Tell | undefined
    let isGuard = (_name: string) => true
    const polling = setInterval(() => void following.look(), poll).unref()
    return {
      configure(
        _settings,
        { members, audit, notifications, metrics },
        { catalog: { models }, records, reject, accept, witness, isDeclared },
      ) {
        const given = records.of('api_key')
        const names = modelNames(models)
        const declared = given.map((key) => declaredKey(key, names))
        for (const { index, message } of keys.problems(declared, isStart))
          reject(given[index] as ApiKey, [], 'keys', message)
        const guards = records.of('guard').filter((guard) => !isDeclared(guard))
        const storedGuards = new Set(guards.map(({ name }) => name))
        const guarded =
          (after: KeyFields, before?: KeyFields): Witness =>
          (transaction) =>
            requireGuards(transaction, host.dialect, namedBy(after, before), storedGuards)
        const tell: Tell = (kind, id, edit, by) => async (transaction) => {
          const { before, after } = edit
          const { name } = (after ?? before) as KeyFields
          const views = { ...(before && { before: declarable(before) }), ...(after && { after: declarable(after) }) }
          const requester = typeof by === 'object' ? by : undefined
          await witness(transaction, { kind, type: 'api_key', name, ...views, audited: true }, requester)
          await audit.append(transaction, entryOf(actions[kind], { id, name }, by, edit))
        }
        const view: ApiKeys = {
          find: (text) => keys.index.find(text),
          search: (text) => keys.search(text),
          named: (name) => keys.index.named(name),
          get: (id) => keys.index.get(id),
          ownedBy: (member) => keys.index.ownedBy(member),
          declared,
          get leftOut() {
            return keys.index.leftOut
          },
          stored: () => keys.stored(),
          store: keys,
          accept(body) {
            // Whether its name is taken is found when it is stored.
            const [name, key] = [randomUUID(), randomUUID()]
            const { key: _text, ...fields } = declaredKey(accept('api_key', { ...body, name, key }), names)
            return { ...bodyOfFields(fields), name: body['name'] }
          },
          create({ models: wanted, ...rest }, by, mostOwned) {
            const after = { ...rest, ...(wanted && { models: knownModels(wanted, names) }) }
            const { owner } = after
            const limit = mostOwned === undefined || owner === undefined ? undefined : { owner, most: mostOwned }
            return keys.createKey(after, {
              accept: (text) => void accept('api_key', { ...declarable(after), key: text }),
              async prepare(transaction) {
                await guarded(after)(transaction)
                if (limit) await requireRoom(transaction, host.dialect, limit)
              },
              witness: (transaction, { id, hint }) =>
                tell('create', id, { after, hint: { from: null, to: hint } }, by)(transaction),
              createdBy: typeof by === 'object' ? by.principal?.name : undefined,
            })
          },
          async change(id, { by, versions, owner, edit }) {
            const changed = await keys.change(id, versions, (key) => {
              requireOwner(key, owner)
              const before = keys.index.fieldsOf(key)
              const after = edit(before)
              const set = changedColumns(before, after)
              return Object.keys(set).length === 0
                ? undefined
                : { set, prepare: guarded(after, before), witness: tell('change', id, { before, after }, by) }
            })
            host.recheck()
            return changed !== undefined
          },
          async rotate(id, { by, versions, owner, grace }) {
            const made = await keys.rotate(id, versions, grace, (key, hint) => {
              requireOwner(key, owner)
              const { name } = key.fields
              return (transaction) => audit.append(transaction, entryOf('rotate', { id, name }, by, { hint }))
            })
            host.recheck()
            return made
          },
          async revoke({ id }, { by, versions, owner } = {}) {
            const revoked = await keys.revoke(id, versions, (key) => {
              requireOwner(key, owner)
              const { fields: before, stored } = key
              return tell('delete', id, { before, hint: { from: stored?.hint ?? null, to: null } }, by)
            })
            host.recheck()
            return revoked
          },
          async take(given, stored) {
            const taken = await takeKeys(host.database, given, {
              isDeclared: (name) => keys.index.declares(name),
              accept({ models: wanted, ...rest }) {
                const fields = { ...rest, ...(wanted && { models: knownModels(wanted, names) }) }
                accept('api_key', { ...declarable(fields), key: randomUUID() })
                return fields
              },
              async stored(transaction, key) {
                const { id, fields, hint } = key
                await guarded(fields)(transaction)
                const change = {
                  kind: 'create',
                  type: 'api_key',
                  name: fields.name,
                  after: declarable(fields),
                } as const
                await witness(transaction, { ...change, audited: true })
                const edit = { after: fields, hint: { from: null, to: hint } }
                await audit.append(transaction, entryOf('import', { id, name: fields.name }, 'cli', edit))
                await stored(transaction, key)
              },
            })
            await keys.refresh()
            host.recheck()
            return taken
          },
          act: (action, key, by, work) =>
            whenFree(() =>
              host.database.transaction().execute(async (transaction) => {
                await work(transaction)
                await audit.append(transaction, entryOf(action, key, by))
              }),
            ),
          first: () => keys.ensureFirstKey((key) => view.create(key)),
        }
        const live = () => {
          isStart = false
          tellOf = tell
          isGuard = guardsOf(accept)
          const follow = () => keys.index.follow((id) => members.find(id))
          follow()
          unfollow()
          unfollow = members.onChange(() => {
            follow()
            host.recheck()
          })
          if (keys.index.declare(declared)) host.recheck()
          metrics.asks('api_keys', (label) => livingOf(label, keys.index.all, members))
          notifications.watch('api_keys', { every: endingLooks, read: () => endingKeys(keys) })
        }
        return { view, live }
      },
      async witness(transaction, change, by) {
        const tell = tellOf
        if (tell === undefined || !endsGuard(change)) return
        await refuseNamedGuard(transaction, change.name)
        await forgetGuard(transaction, change.name, (key, after) =>
          tell('change', key.id, { before: key.fields, after }, by),
        )
      },
      status() {
        const out = keys.index.leftOut.map(({ name }) => name)
        const conflict = `left out, since the file declares such a key: ${out.join(', ')}`
        const closed = closedKeys(keys.index.all, isGuard)
        const problems = [following.problem, out.length > 0 ? conflict : undefined, closed].filter(
          (one) => one !== undefined,
        )
        return problems.length > 0 ? problems.join('; ') : undefined
      },
      close() {
        clearInterval(polling)
        unfollow()
      },
    }
  },
  async greet(view): Promise<Greeting | undefined> {
    const key = await view.first()
    return key === undefined ? undefined : greetingOf(key)
  },
})

/** Shows a change of a key to other services, and appends it to the audit trail. */
type Tell = (kind: HeldChange['kind'], id: string, edit: KeyEdit, by: Changer) => Witness

/** A key may change hands between the request of its owner and the change. Throws `not_found`. */
function requireOwner({ id, fields }: KnownKey, owner: string | undefined): void {
  if (owner !== undefined && fields.owner !== owner) throw notFound(id)
}

/** Tells which values of a label of metrics name a key, a tag of one, or a member; undefined: it is another label. */
function livingOf(
  label: string,
  keys: readonly KnownKey[],
  members: Pick<Services['members'], 'find'>,
): ((value: string) => boolean) | undefined {
  if (label === 'member') return (id) => members.find(id) !== undefined
  const tag = label.startsWith('tag:') ? label.slice('tag:'.length) : undefined
  if (label !== 'key' && tag === undefined) return undefined
  const values = new Set(keys.map(({ fields }) => (tag === undefined ? fields.name : fields.tags?.[tag])))
  return (value) => values.has(value)
}

type Cause = Awaited<ReturnType<Parameters<Services['notifications']['watch']>[1]['read']>>[number]

/** How long before its end a key is told, and milliseconds between two looks. */
const ahead = 14 * 86_400_000
const endingLooks = 5_000

/** The keys that end soon. */
function endingKeys({ index }: Pick<KeyStore, 'index'>): readonly Cause[] {
  const now = Date.now()
  return index.all.flatMap(({ id }): Cause[] => {
    const { name = '', state, expiresAt = Infinity } = index.get(id) ?? {}
    if (state !== 'active' || expiresAt <= now || expiresAt > now + ahead) return []
    const at = timeText(expiresAt)
    return [
      {
        cause: 'expires',
        key: `expires api_key ${id}`,
        subject: `The API key "${name}" ends at ${at}`,
        facts: { kind: 'api_key', name, expires_at: at },
        path: `/keys/${encodeURIComponent(id)}`,
      },
    ]
  })
}
