import { Refusal, defineService } from '../../engine/index.ts'
import type { Catalog, Greeting, JsonObject, ModelRecord, Principal, Requester } from '../../engine/index.ts'
import { ChangePoll, defined, didYouMean, fitting, isPattern, isVirtual, timeText } from '../../engine/kit.ts'
import type { ApiKey } from './api-key.ts'
import { KeyStore } from './key-store.ts'
import type { DeclaredKey, KeyFacts, KeyFields, LeftOut } from './known-key.ts'
import type { MadeKey, StoredKey } from './stored-keys.ts'
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
  /** What is said of a key, by its id; undefined: no living key has it. The same object until a key changes. */
  get(id: string): KeyFacts | undefined
  /** The ids of the keys that a member owns. */
  ownedBy(member: string): readonly string[]
  /** The keys that this configuration declares. */
  readonly declared: readonly DeclaredKey[]
  /** Keys of the database that are left out at present. */
  readonly leftOut: readonly LeftOut[]
  /** Every key of the database, including revoked ones, oldest first. */
  stored(): Promise<readonly StoredKey[]>
  /**
   * Creates a key in the database. Returns its text, which is available only here. Rejects with a `NameTaken`, with a
   * `Refusal` for an unknown model, and with a `GatewayError` for a key that the record type does not accept.
   */
  create(fields: KeyFields, by?: Requester): Promise<MadeKey>
  /** Revokes a key of the database permanently. Resolves to whether it was active. */
  revoke(key: Pick<StoredKey, 'id' | 'name'>, by?: Requester): Promise<boolean>
  /** Creates the key `first` if there is no key, and resolves to its text; only once, even if many processes start. */
  first(): Promise<string | undefined>
}

declare module '../../engine/index.ts' {
  interface Services {
    api_keys: ApiKeys
  }
}

/** Milliseconds between two checks for keys that another process changed. */
const poll = 500

/** Finds the principal of an API key. */
export default defineService({
  name: 'api_keys',
  summary: 'API keys, declared and stored, by which clients authenticate.',
  migrations,
  uses: ['members'],
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
    const polling = setInterval(() => void following.look(), poll).unref()
    return {
      configure(_settings, { members }, { catalog: { models }, records, reject, accept, witness }) {
        const given = records.of('api_key')
        const names = modelNames(models)
        const declared = given.map((key) => declaredKey(key, names))
        for (const { index, message } of keys.problems(declared, isStart))
          reject(given[index] as ApiKey, [], 'keys', message)
        const view: ApiKeys = {
          find: (text) => keys.index.find(text),
          search: (text) => keys.search(text),
          get: (id) => keys.index.get(id),
          ownedBy: (member) => keys.index.ownedBy(member),
          declared,
          get leftOut() {
            return keys.index.leftOut
          },
          stored: () => keys.stored(),
          create({ models: wanted, ...rest }, by) {
            const key = { ...rest, ...(wanted && { models: knownModels(wanted, names) }) }
            const { name } = key
            return keys.createKey(key, {
              accept: (text) => void accept('api_key', { ...recordOf(key), key: text }),
              witness: (done) => witness(done, { kind: 'create', type: 'api_key', name, after: recordOf(key) }, by),
              ...defined({ createdBy: by?.principal?.name }),
            })
          },
          async revoke({ id, name }, by) {
            const revoked = await keys.revoke(id, undefined, (transaction) =>
              witness(transaction, { kind: 'delete', type: 'api_key', name, before: { name } }, by),
            )
            host.recheck()
            return revoked
          },
          first: () => keys.ensureFirstKey((key) => view.create(key)),
        }
        const live = () => {
          isStart = false
          const follow = () => keys.index.follow((id) => members.find(id))
          follow()
          unfollow()
          unfollow = members.onChange(() => {
            follow()
            host.recheck()
          })
          if (keys.index.declare(declared)) host.recheck()
        }
        return { view, live }
      },
      status() {
        const out = keys.index.leftOut.map(({ name }) => name)
        const conflict = `left out, since the file declares such a key: ${out.join(', ')}`
        const problems = [following.problem, out.length > 0 ? conflict : undefined].filter((one) => one !== undefined)
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
    if (key === undefined) return undefined
    return {
      now: { text: `An API key was created for you. It is shown only once:\n\n  ${key}\n`, json: { key } },
      served: ({ url, catalog }) => ({ text: howToTry(url, key, modelToTry(catalog)) }),
    }
  },
})

/** A key with its models by the names of their records, which are used for lookups. */
export function declaredKey(record: ApiKey, names: ModelNames): DeclaredKey {
  const { name, key, models, budget, rate_limit: rateLimit, mcp_servers: mcpServers, tags, disabled } = record
  const { expires_at: expires } = record
  return defined({
    name,
    key,
    models: models?.map((model) => names.get(model) ?? (isVirtual(model) ? model.toLowerCase() : model)),
    budget: budget ?? undefined,
    rateLimit: rateLimit ?? undefined,
    mcpServers,
    tags,
    expiresAt: expires === undefined ? undefined : Date.parse(expires),
    disabled,
  })
}

/** A key as a record of the file, without its text. */
function recordOf({ rateLimit, mcpServers, expiresAt, owner: _owner, ...fields }: KeyFields): JsonObject {
  return {
    ...fields,
    ...(rateLimit && { rate_limit: rateLimit }),
    ...(mcpServers && { mcp_servers: mcpServers }),
    ...(expiresAt !== undefined && { expires_at: timeText(expiresAt) }),
  } as object as JsonObject
}

/** The record names of models. Throws a `Refusal` for an unknown model. */
function knownModels(given: readonly string[], names: ModelNames): readonly string[] {
  return given.map((name) => {
    if (isVirtual(name)) return name.toLowerCase()
    const record = names.get(name) ?? (fitting(name, names.keys()) ? name : undefined)
    if (record === undefined) throw new Refusal(`there is no model "${name}"${didYouMean(name, names.keys())}`)
    return record
  })
}

/** The name of a model's record by each of its names and aliases. */
type ModelNames = ReadonlyMap<string, string>

export function modelNames(models: readonly ModelRecord[]): ModelNames {
  const aliases = models.flatMap(({ name, aliases: others }) => others.map((alias) => [alias, name] as const))
  return new Map([...aliases, ...models.map(({ name }) => [name, name] as const)])
}

function modelToTry(catalog: Catalog): string {
  const isServed = ({ name, provider }: ModelRecord) =>
    !isPattern(name) && catalog.provider(provider)?.off === undefined
  return catalog.models.find(isServed)?.name ?? 'a-model'
}

function howToTry(url: string, key: string, model: string): string {
  return `
Try it:

  curl ${url}/v1/chat/completions \\
    -H 'authorization: Bearer ${key}' \\
    -H 'content-type: application/json' \\
    -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello, world"}]}'
`
}
