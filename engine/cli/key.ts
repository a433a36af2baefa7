import { isMoment } from '../config/check-keys.ts'
import { printDiagnostic } from '../config/diagnostics.ts'
import { fitting } from '../spec/model-pattern.ts'
import { settingsFormat } from '../config/settings.ts'
import type { Settings } from '../config/settings.ts'
import { didYouMean } from '../config/suggest.ts'
import { parseJson } from '../json/parse.ts'
import { loadConfiguration } from '../live/configuration.ts'
import { declaredKeys, modelNames } from '../live/declared-keys.ts'
import { isVirtual } from '../spec/catalog.ts'
import { openDatabase } from '../store/database.ts'
import { ApiKeys, NameTaken } from '../store/keys.ts'
import type { DeclaredKey, NewKey, StoredKey } from '../store/keys.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { columns, printJson } from './text.ts'

export interface CreateKeyOptions extends CommonOptions {
  readonly name: string
  /** Models the key may use, by name or alias, each text one or several with commas; absent: all. */
  readonly models?: readonly string[]
  /** A date, or a date and time (RFC 3339). */
  readonly expires?: string
}

/** Makes an API key and prints its text, once. Answers the exit code. */
export async function createKey({ config, json, ...asked }: CreateKeyOptions, terminal: Terminal): Promise<number> {
  const wanted = { name: nameOf(asked.name), ...momentOf(asked.expires) }
  return withKeys(config, terminal, async (keys, { models: records }) => {
    const models = asked.models === undefined ? {} : { models: recordsOf(asked.models, modelNames(records)) }
    try {
      const { id, text } = await keys.createKey({ ...wanted, ...models })
      terminal.out(json ? JSON.stringify({ id, name: wanted.name, key: text }) : text)
      terminal.error('Gateways that are running take it from now on.')
      return 0
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error
      terminal.error(`sluice: ${error.message}`)
      return 1
    }
  })
}

/** An API key as it is listed. Times are RFC 3339. */
interface ListedKey {
  readonly id: string
  readonly name: string
  readonly source: 'file' | 'database'
  readonly state: 'in use' | 'expired' | 'revoked'
  /** The last characters of its text; null: only the file knows them. */
  readonly hint: string | null
  /** Null: all. */
  readonly models: readonly string[] | null
  readonly created_at: string | null
  readonly expires_at: string | null
}

/** Prints the API keys of the configuration and of the database. Answers the exit code. */
export async function listKeys({ config, json }: CommonOptions, terminal: Terminal): Promise<number> {
  return withKeys(config, terminal, async (keys, settings) => {
    const stored = await keys.list()
    const listed = [...declaredKeys(settings).map(listedOfFile), ...stored.map(listedOfDatabase)]
    if (json) terminal.out(printJson(listed.map((key) => ({ ...key }))))
    else if (listed.length === 0) terminal.out('There is no API key; "sluice key create --name <name>" makes one.')
    else terminal.out(columns([['name', 'key', 'state', 'expires', 'id', 'models'], ...listed.map(rowOf)]))
    return 0
  })
}

/** Revokes an API key of the database. Answers 1 when there is none of this name or id in use. */
export async function revokeKey(
  { config, json, key }: CommonOptions & { readonly key: string },
  terminal: Terminal,
): Promise<number> {
  return withKeys(config, terminal, async (keys, settings) => {
    const stored = await keys.list()
    const found = stored.find(({ id }) => id === key) ?? stored.find(({ name }) => name === key)
    if (!found) {
      const declared = settings.api_keys.some(({ name }) => name === key)
      const names = stored.filter(({ revoked_at: revoked }) => revoked === null).map(({ name }) => name)
      const why = declared
        ? 'is declared in the configuration file: remove it there'
        : `is not there${didYouMean(key, names)}`
      terminal.error(`sluice: the API key "${key}" ${why}`)
      return 1
    }
    const revoked = await keys.revoke(found.id)
    if (!revoked) terminal.error(`sluice: the API key "${found.name}" is revoked already`)
    else if (json) terminal.out(JSON.stringify({ id: found.id, name: found.name, revoked }))
    else terminal.out(`The API key "${found.name}" is revoked. Gateways that are running know it within a second.`)
    return revoked ? 0 : 1
  })
}

/** Does something with the API keys of a configuration that is right; else tells what is wrong with it and answers 1. */
async function withKeys(
  file: string,
  terminal: Terminal,
  work: (keys: ApiKeys, settings: Settings) => Promise<number>,
): Promise<number> {
  const { environment, folder: root } = terminal
  const { settings, diagnostics } = await loadConfiguration({ file, root, environment })
  if (!settings) {
    for (const diagnostic of diagnostics) terminal.error(printDiagnostic(diagnostic))
    return 1
  }
  const database = await openDatabase(settings.database.url)
  try {
    const keys = new ApiKeys(database)
    keys.declare(declaredKeys(settings))
    return await work(keys, settings)
  } finally {
    await database.close()
  }
}

function listedOfFile({ name, models, expiresAt }: DeclaredKey): ListedKey {
  return {
    id: `file:${name}`,
    name,
    source: 'file',
    state: (expiresAt ?? Infinity) <= Date.now() ? 'expired' : 'in use',
    hint: null,
    models: models ?? null,
    created_at: null,
    expires_at: momentIn(expiresAt ?? null),
  }
}

function listedOfDatabase(key: StoredKey): ListedKey {
  const { id, name, hint, models, created_at: created, expires_at: expires, revoked_at: revoked } = key
  const ended = (expires ?? Infinity) <= Date.now() ? 'expired' : 'in use'
  return {
    id,
    name,
    source: 'database',
    state: revoked === null ? ended : 'revoked',
    hint,
    models: models === null ? null : (parseJson(models) as string[]),
    created_at: momentIn(created),
    expires_at: momentIn(expires),
  }
}

function rowOf({ id, name, source, state, hint, models, expires_at: expires }: ListedKey): string[] {
  const text = hint === null ? `(${source})` : `…${hint}`
  return [name, text, state, expires?.slice(0, 10) ?? 'never', id, models?.join(', ') ?? 'all']
}

function momentIn(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString()
}

/** A name as the configuration takes it. */
function nameOf(name: string): string {
  const { pattern, maxLength } = settingsFormat.properties.api_keys.items.properties.name
  if (name.length > maxLength || !new RegExp(pattern, 'u').test(name))
    throw new WrongUse(`the name of a key is 1 to ${maxLength} characters without spaces`)
  return name
}

function momentOf(text: string | undefined): Pick<NewKey, 'expiresAt'> {
  if (text === undefined) return {}
  if (!isMoment(text)) throw new WrongUse(`"${text}" is no date; write it like 2027-01-31 or 2027-01-31T12:00:00Z`)
  const expiresAt = Date.parse(text)
  if (expiresAt <= Date.now()) throw new WrongUse(`"${text}" has passed already`)
  return { expiresAt }
}

/** The models' own names. */
function recordsOf(texts: readonly string[], names: ReadonlyMap<string, string>): readonly string[] {
  const given = texts.flatMap((text) => text.split(',')).map((name) => name.trim())
  return given.map((name) => {
    if (isVirtual(name)) return name.toLowerCase()
    const record = names.get(name) ?? (fitting(name, names.keys()) ? name : undefined)
    if (record === undefined) throw new WrongUse(`there is no model "${name}"${didYouMean(name, names.keys())}`)
    return record
  })
}
