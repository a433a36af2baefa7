import { Refusal, defineService } from '../../engine/index.ts'
import type { Catalog, Greeting, JsonObject, ModelRecord, Principal } from '../../engine/index.ts'
import { didYouMean, fitting, isPattern, isVirtual } from '../../engine/kit.ts'
import type { ApiKey } from './api-key.ts'
import { KeyStore } from './key-store.ts'
import type { DeclaredKey } from './key-store.ts'
import type { MadeKey, NewKey, StoredKey } from './stored-keys.ts'
import { migrations } from './table.ts'

/** The API keys of the configuration file and of the database. What is stored of a key is its SHA-256, never its text. */
export interface ApiKeys {
  /** The principal of a key's text; undefined when it is unknown or expired. */
  find(text: string): Principal | undefined
  /**
   * The same, of a key that may have been made elsewhere a moment ago: the database is asked, at most once a second for
   * all who wait. Never rejects.
   */
  search(text: string): Promise<Principal | undefined>
  /** Those that this configuration declares. */
  readonly declared: readonly DeclaredKey[]
  /** Every key of the database, revoked ones too, the oldest first. */
  stored(): Promise<readonly StoredKey[]>
  /**
   * Makes a key in the database. Its text is answered here and never again. Rejects with a `NameTaken`, with a `Refusal`
   * where there is no such model, and with a `GatewayError` where such a key could not be declared either.
   * @param by who asks for it
   */
  create(key: NewKey, by?: Principal): Promise<MadeKey>
  /** Revokes a key of the database, for good; answers whether it was in use. */
  revoke(key: Pick<StoredKey, 'id' | 'name'>, by?: Principal): Promise<boolean>
  /** Makes the key `first` when there is no key at all, and answers its text; once, even when many processes start. */
  first(): Promise<string | undefined>
}

declare module '../../engine/index.ts' {
  interface Services {
    api_keys: ApiKeys
  }
}

/** Milliseconds after which it is known here that another process made or revoked a key. */
const poll = 1_000

/** Those who ask with a key, and how they are found. */
export default defineService({
  name: 'api_keys',
  summary: 'The API keys, declared and stored: who shows the text of one is its principal.',
  migrations,
  async open(host) {
    const unread = (error: unknown) => host.log.warn({ err: error }, 'the API keys cannot be read again')
    const keys = new KeyStore(host, unread)
    await keys.refresh()
    const look = () => void keys.poll().then((changed) => changed && host.recheck(), unread)
    let isStart = true
    const polling = setInterval(look, poll).unref()
    return {
      configure(_settings, _services, { catalog: { models }, records, reject, accept, witness }) {
        const given = records.of('api_key')
        const names = modelNames(models)
        const declared = given.map((key) => declaredKey(key, names))
        for (const { index, message } of keys.problems(declared, isStart))
          reject(given[index] as ApiKey, [], 'keys', message)
        const view: ApiKeys = {
          find: (text) => keys.find(text),
          search: (text) => keys.search(text),
          declared,
          stored: () => keys.list(),
          create({ models: wanted, ...rest }, by) {
            const key = { ...rest, ...(wanted && { models: knownModels(wanted, names) }) }
            const { name } = key
            return keys.createKey(key, {
              accept: (text) => void accept('api_key', { ...recordOf(key), key: text }),
              witness: (done) => witness(done, { kind: 'create', type: 'api_key', name, after: recordOf(key) }, by),
            })
          },
          async revoke({ id, name }, by) {
            const revoked = await keys.revoke(id, (transaction) =>
              witness(transaction, { kind: 'delete', type: 'api_key', name, before: { name } }, by),
            )
            host.recheck()
            return revoked
          },
          first: () => keys.ensureFirstKey((key) => view.create(key)),
        }
        const live = () => {
          isStart = false
          keys.declare(declared)
        }
        return { view, live }
      },
      status() {
        const { leftOut } = keys
        return leftOut.length === 0 ? undefined : `left out, since the file declares such a key: ${leftOut.join(', ')}`
      },
      close: () => clearInterval(polling),
    }
  },
  async greet(view): Promise<Greeting | undefined> {
    const key = await view.first()
    if (key === undefined) return undefined
    return {
      now: { text: `An API key was made for you. It is shown this once:\n\n  ${key}\n`, json: { key } },
      served: ({ url, catalog }) => ({ text: howToTry(url, key, modelToTry(catalog)) }),
    }
  },
})

/** A key with its models by the names of their records: that is what is looked up. */
export function declaredKey(
  { name, key, models: allowed, expires_at: expires }: ApiKey,
  names: ModelNames,
): DeclaredKey {
  return {
    name,
    key,
    ...(allowed && {
      models: allowed.map((model) => names.get(model) ?? (isVirtual(model) ? model.toLowerCase() : model)),
    }),
    ...(expires !== undefined && { expiresAt: Date.parse(expires) }),
  }
}

/** A key as the file would declare it, but for its text. */
function recordOf({ name, models, expiresAt }: NewKey): JsonObject {
  return {
    name,
    ...(models && { models }),
    ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
  }
}

/** The models' own names. Throws a `Refusal` where one is none. */
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
