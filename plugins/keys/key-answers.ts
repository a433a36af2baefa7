import { GatewayError } from '../../engine/index.ts'
import type { Host, JsonObject, Principal, RecordView, Services } from '../../engine/index.ts'
import { answered, asText, budgetStateSchema, rateLimitStateSchema, shape, timeText } from '../../engine/kit.ts'
import { checkedBody, fieldsIn } from './key-body.ts'
import type { Whose } from './key-body.ts'
import type { KeyFields, KeyState, KnownKey } from './known-key.ts'
import { foldedName } from './table.ts'

const orNull = (description: string) => shape.orNull(shape.text(description))
const time = (description: string) => shape.orNull(shape.time(description))
const names = (description: string) => shape.orNull(shape.list({ type: 'string' }, description))

const keyFields = {
  id: shape.text('Its id.'),
  name: shape.text('Its name.'),
  hint: orNull('The last characters of its text; null: it is too short to show them, or off.'),
  owner: shape.orNull(
    shape.object({ id: shape.text('His id.'), username: shape.text('His name.') }, {}, 'The member who owns it.'),
  ),
  models: names('Models that it may use; null: all.'),
  budget: budgetStateSchema,
  rate_limit: rateLimitStateSchema,
  mcp_servers: names('MCP servers that it may use; null: all over HTTP.'),
  tags: shape.map({ type: 'string' }, 'Its tags.'),
  expires_at: time('When it expires.'),
  disabled: shape.flag('Whether it is rejected for the time being.'),
  state: shape.word(['active', 'disabled', 'expired', 'off'], 'Whether it can be used.'),
  source: shape.word(['file', 'database'], 'Where it comes from.'),
  created_at: time('When it was created.'),
  created_by: orNull('Name of who created it.'),
  updated_at: time('When it was last changed.'),
  last_used_at: time('When it was last used, to the minute.'),
  rotated_at: time('When it last got another text.'),
  version: shape.orNull(shape.integer('Its version, from 1; null: it is declared in the file.')),
}
const declaredAt = shape.object(
  { file: shape.text('The file.'), line: shape.integer('The line, from 1.') },
  {},
  'Where the configuration file declares it.',
)

const metrics = shape.flag('It may read the metrics of the gateway.')

const guarding = {
  guards: shape.list({ type: 'string' }, 'Guards that judge its requests, beside those that judge all.'),
  guards_off: shape.list({ type: 'string' }, 'Guards that do not judge its requests.'),
}

/** JSON Schema of an API key. */
export const keyShape = shape.object(keyFields, { declared_at: declaredAt, ...guarding, metrics })

/** JSON Schema of an API key with its text. */
export const textShape = shape.object(
  { ...keyFields, key: shape.text('Its text, which is told only here.') },
  { ...guarding, metrics },
)

/** A stored key as an answer, with its version as entity tag. */
export function answeredKey(body: JsonObject, location?: string) {
  return answered(body, { version: body['version'] as number | null, ...(location === undefined ? {} : { location }) })
}

/** The services that answers about keys need. */
export const needed = ['api_keys', 'members', 'limits'] as const

type Needed = Pick<Services, (typeof needed)[number]>

/** A key as clients may see it. */
export interface ShownKey {
  readonly key: KnownKey
  /** The fields in force. */
  readonly fields: KeyFields
  readonly state: KeyState
  /** The last characters of its text; null: it is too short to show them, or off. */
  readonly hint: string | null
  /** Absent: the database holds it. */
  readonly declared?: RecordView
}

/** Who asks, and for whose keys. */
export interface Asker {
  readonly principal: Principal
  readonly of: Whose
}

/** The keys of a configuration as the answers of actions. */
export class KeyAnswers {
  readonly #records: Host['records']
  readonly #services: Needed

  constructor({ records }: Pick<Host, 'records'>, services: Needed) {
    this.#records = records
    this.#services = services
  }

  /** The keys that somebody may see, as all processes have left them. Rejects with `store_unavailable`. */
  async all(asker: Asker): Promise<readonly ShownKey[]> {
    const { store } = this.#services.api_keys
    await store.update()
    const stored = store.index.all.filter((key) => key.stored !== undefined)
    return [...this.#declared(), ...stored.map((key) => this.#shown(key))].filter((shown) => maySee(asker, shown))
  }

  /** The key of a path's `:id`. Rejects with `not_found`, also for a key of somebody else. */
  async find(id: string, asker: Asker): Promise<ShownKey> {
    const { store } = this.#services.api_keys
    await store.update()
    const key = store.index.known(id)
    const found = key?.stored ? this.#shown(key) : this.#declared().find((one) => one.key.id === id)
    if (found === undefined || !maySee(asker, found)) throw notFound(id)
    return found
  }

  /** A key that can be changed here. Rejects with `not_found` and `declared_in_file`. */
  async findStored(id: string, asker: Asker): Promise<ShownKey> {
    const found = await this.find(id, asker)
    if (found.declared) throw declaredInFile(found.fields.name)
    return found
  }

  /** Refuses a name that the file declares, in any case, even for a key that is off. Throws `declared_in_file`. */
  requireUndeclared(name: string): void {
    const twin = this.#views().find((view) => foldedName(view.name) === foldedName(name))
    if (twin) throw declaredInFile(twin.name)
  }

  /** Checks what the schema of a body cannot; see `checkedBody`. */
  checked(body: JsonObject): JsonObject {
    const { api_keys: keys, members } = this.#services
    return checkedBody(body, {
      accept: (declarable) => keys.accept(declarable),
      isMember: (id) => members.find(id) !== undefined,
    })
  }

  /** Whether a configured MCP server is a program. */
  readonly isProgram = (name: string): boolean =>
    this.#records.of('mcp_server').some((view) => view.name === name && view.value['transport'] === 'stdio')

  /** A stored key for clients, after it was created or changed. Rejects with `not_found` if it is gone already. */
  async stored(id: string): Promise<JsonObject> {
    const key = this.#services.api_keys.store.index.known(id)
    if (key?.stored === undefined) throw notFound(id)
    const [shown] = await this.print([this.#shown(key)])
    return shown as JsonObject
  }

  /** Keys for clients, with what is left of their budgets. Rejects with `store_unavailable`. */
  async print(keys: readonly ShownKey[]): Promise<readonly JsonObject[]> {
    const { api_keys: service, limits } = this.#services
    const uses = await service.store.lastUses(keys.map(({ key }) => key.id))
    const limited = keys.flatMap(({ key: { id }, fields: { budget } }) => (budget ? [{ id, budget }] : []))
    const states = await limits.budgetsOf(limited.map(({ id, budget }) => [{ kind: 'key', id }, budget]))
    const budgets = new Map(limited.map(({ id }, index) => [id, states[index]]))
    return keys.map((shown) => this.#printed(shown, uses.get(shown.key.id), budgets.get(shown.key.id)))
  }

  #printed({ key, fields, state, hint, declared }: ShownKey, usedAt: number | undefined, budget?: object): JsonObject {
    const { stored } = key
    const owner = fields.owner === undefined ? undefined : this.#services.members.find(fields.owner)
    const { requests = null, tokens = null, concurrency = null, period } = fields.rateLimit ?? {}
    return {
      id: key.id,
      name: fields.name,
      hint,
      owner: owner ? { id: owner.id, username: owner.username } : null,
      models: fields.models ?? null,
      budget: (budget as JsonObject | undefined) ?? null,
      rate_limit: fields.rateLimit ? { requests, tokens, concurrency, period } : null,
      mcp_servers: fields.mcpServers ?? null,
      tags: fields.tags ?? {},
      expires_at: textOf(fields.expiresAt),
      disabled: fields.disabled ?? false,
      state,
      source: stored ? 'database' : 'file',
      ...(fields.guards && { guards: fields.guards }),
      ...(fields.guardsOff && { guards_off: fields.guardsOff }),
      ...(fields.metrics === true && { metrics: true }),
      ...(declared?.declaredAt && { declared_at: { ...declared.declaredAt } }),
      created_at: textOf(stored?.createdAt),
      created_by: stored?.createdBy ?? null,
      updated_at: textOf(stored?.updatedAt),
      last_used_at: textOf(usedAt),
      rotated_at: textOf(stored?.rotatedAt),
      version: stored?.version ?? null,
    }
  }

  #views(): readonly RecordView[] {
    return this.#records.of('api_key').filter(({ source }) => source === 'file')
  }

  #declared(): readonly ShownKey[] {
    const { index } = this.#services.api_keys.store
    return this.#views().map((declared) => {
      const on = declared.problem === undefined ? index.known(`file:${declared.name}`) : undefined
      const hint = declared.secrets['key']?.hint ?? null
      return { ...(on ? this.#shown(on) : shownOff(declared)), hint, declared }
    })
  }

  #shown(key: KnownKey): ShownKey {
    const { index } = this.#services.api_keys.store
    return { key, fields: index.fieldsOf(key), state: index.stateOf(key), hint: key.stored?.hint ?? null }
  }
}

/** A declared key whose variable is unset. */
function shownOff({ name, value }: RecordView): ShownKey {
  const expiresAt = Date.parse(asText(value['expires_at']))
  const { expiresAt: _moment, ...others } = fieldsIn({ ...value, name })
  const fields = { ...others, ...(Number.isNaN(expiresAt) ? {} : { expiresAt }) }
  return { key: { id: `file:${name}`, fields, texts: [] }, fields, state: 'off', hint: null }
}

function maySee({ principal, of }: Asker, { fields }: ShownKey): boolean {
  return (of === 'all' && principal.role === 'admin') || fields.owner === principal.id
}

export function notFound(id: string): GatewayError {
  return new GatewayError('not_found', {}, { message: `There is no API key "${id.slice(0, 64)}".` })
}

function declaredInFile(name: string): GatewayError {
  return new GatewayError('declared_in_file', { type: 'API key', name })
}

function textOf(moment: number | undefined): string | null {
  return moment === undefined ? null : timeText(moment)
}
