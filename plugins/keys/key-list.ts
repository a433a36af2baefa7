import { defineCommand } from '../../engine/index.ts'
import { columns, parseJson, printJson } from '../../engine/kit.ts'
import type { DeclaredKey, LeftOut } from './known-key.ts'
import type { StoredKey } from './stored-keys.ts'

/** Prints the API keys of the configuration and of the database. */
export default defineCommand({
  name: 'key list',
  summary: 'List the API keys, including declared ones. The keys themselves are never shown.',
  options: { type: 'object', additionalProperties: false, properties: {} } as const,
  uses: ['api_keys'],
  async run(_options, { api_keys: keys }, { json, out }) {
    const stored = await keys.stored()
    const left = new Map(keys.leftOut.map(({ id, because }) => [id, because]))
    const stateOf = (id: string) => words[keys.get(id)?.state ?? 'active']
    const listed: readonly ListedKey[] = [
      ...keys.declared.map((key) => ({ ...listedOfFile(key), state: stateOf(`file:${key.name}`) })),
      ...stored.map((key) => listedOfDatabase(key, stateOf(key.id), left.get(key.id))),
    ]
    if (json) out(printJson(listed.map((key) => ({ ...key }))))
    else if (listed.length === 0) out('There is no API key. Create one with "sluice key create --name <name>".')
    else out(columns([['name', 'key', 'state', 'expires', 'id', 'models'], ...listed.map(rowOf)]))
    return 0
  },
})

/** What states are called in the list. */
const words = { active: 'in use', disabled: 'disabled', off: 'left out', expired: 'expired' } as const

/** An API key in the list. Times are RFC 3339. */
interface ListedKey {
  readonly id: string
  readonly name: string
  readonly source: 'file' | 'database'
  readonly state: 'in use' | 'disabled' | 'left out' | 'expired' | 'revoked'
  /** Why it is left out; null: it is not. */
  readonly problem: string | null
  /** The last characters of its text; null for a declared key. */
  readonly hint: string | null
  /** Id of the member who owns it. */
  readonly owner: string | null
  /** Null: all. */
  readonly models: readonly string[] | null
  readonly created_at: string | null
  readonly expires_at: string | null
}

function listedOfFile({ name, models, expiresAt }: DeclaredKey): Omit<ListedKey, 'state'> {
  return {
    id: `file:${name}`,
    name,
    source: 'file',
    problem: null,
    hint: null,
    owner: null,
    models: models ?? null,
    created_at: null,
    expires_at: momentIn(expiresAt ?? null),
  }
}

function listedOfDatabase(
  key: StoredKey,
  living: ListedKey['state'],
  because: LeftOut['because'] | undefined,
): ListedKey {
  const { id, name, hint, models, created_at: created, expires_at: expires, revoked_at: revoked } = key
  const state = revoked === null ? living : 'revoked'
  return {
    id,
    name,
    source: 'database',
    state,
    problem: state === 'left out' ? `the file declares a key of the same ${because}` : null,
    hint,
    owner: key.owner,
    models: models === null ? null : (parseJson(models) as string[]),
    created_at: momentIn(created),
    expires_at: momentIn(expires),
  }
}

function rowOf({ id, name, source, state, problem, hint, models, expires_at: expires }: ListedKey): string[] {
  const text = hint === null ? `(${source})` : `…${hint}`
  return [
    name,
    text,
    problem === null ? state : `${state}: ${problem}`,
    expires?.slice(0, 10) ?? 'never',
    id,
    models?.join(', ') ?? 'all',
  ]
}

function momentIn(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString()
}
