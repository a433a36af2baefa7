import { basename, resolve } from 'node:path'
import { Refusal } from '../../engine/index.ts'
import type { CommandOutput, Json } from '../../engine/index.ts'
import { isObject, parsedJson } from '../../engine/kit.ts'
import { litellmVariable, meantVariable } from './draft.ts'
import { hasLitellmTables, readDatabase, textIn } from './litellm-database.ts'
import type { LitellmDatabase, Row } from './litellm-database.ts'
import { LitellmKeys, tellTables } from './litellm-keys.ts'
import { opener } from './litellm-sealed.ts'
import { readLitellm } from './litellm.ts'
import type { ReadLitellm } from './litellm.ts'
import { outcome } from './outcome.ts'
import type { Imported, OutcomeOptions } from './outcome.ts'
import { foresee, storeKeys, targetOf } from './keys.ts'
import { Unreadable, textOf, treeOf } from './tree.ts'
import type { Node } from './tree.ts'

/** The options of the command. */
export interface LitellmImport extends OutcomeOptions {
  readonly file?: string | undefined
  readonly database?: string | undefined
  readonly salt_key: string
  readonly master_key_as_key: boolean
}

/** Imports a configuration of LiteLLM and its database. Returns the exit code. */
export async function importLitellm(options: LitellmImport, output: CommandOutput): Promise<number> {
  const { file, database: address, master_key_as_key: masterKeyAsKey, out } = options
  if (file === undefined && address === undefined) throw new Refusal('name a configuration, or a --database')
  const folder = resolve(output.folder, out)
  const read = async (): Promise<Imported> => {
    const target = await targetOf(folder, output)
    await refuseTheirs(target, address)
    const database = address === undefined ? undefined : await readDatabase(address)
    const later = (reading: ReadLitellm) => database && readModels(database, reading, saltKey(options, reading, output))
    const { folder: here, environment } = output
    const given = { folder: here, environment, masterKeyAsKey, ...(database ? { later } : {}) }
    const reading = await readLitellm(file, given)
    const { draft, report } = reading
    const imported = {
      draft,
      report,
      product: 'LiteLLM',
      from: file === undefined ? 'a database of LiteLLM' : basename(file),
    }
    if (database === undefined) return imported
    const keys = new LitellmKeys(reading, database, Date.now()).read()
    tellTables(database, reading)
    if (keys.some(({ fields }) => fields.mcpServers))
      report.note('Imported keys may use no MCP server until their lists name some (mcp_servers).')
    // As before, a model without a price costs nothing.
    if (keys.some(({ fields }) => fields.budget)) draft.set('rate_limits.budget.unknown_price', 'allow')
    if (options.dry_run) await foresee(target, keys, report)
    return { ...imported, store: () => storeKeys(target, keys, { folder, report, output }) }
  }
  return outcome(read, options, output)
}

/** Refuses the database of LiteLLM as that of the gateway. Throws a `Refusal`. */
async function refuseTheirs(target: string, given: string | undefined): Promise<void> {
  const refused = new Refusal(
    "DATABASE_URL names a database of LiteLLM, which reads the same variable; give it to --database, and set DATABASE_URL to the gateway's own, or to nothing",
  )
  if (target === given) throw refused
  if (!target.startsWith('postgres')) return
  const has = await hasLitellmTables(target).catch((error: unknown) => {
    // Without keys, nothing is stored there.
    if (error instanceof Unreadable && given === undefined) return false
    throw error
  })
  if (has) throw refused
}

/** The text of the key that seals values of the database: a variable, else the master key. */
function saltKey(
  { salt_key: name }: LitellmImport,
  { masterKey }: ReadLitellm,
  { environment }: CommandOutput,
): string | undefined {
  const text = textOf(masterKey)
  const variable = text === undefined ? 'LITELLM_MASTER_KEY' : (litellmVariable(text) ?? meantVariable(text))
  return environment[name] || (variable === undefined ? text : environment[variable]) || undefined
}

/** Reads the credentials and the models that stand in the database. */
function readModels({ rows }: LitellmDatabase, { models, report }: ReadLitellm, key: string | undefined): void {
  const open = opener(key)
  const unopened = new Set<string>()
  const opened = (text: string, path: string) => {
    const found = open(text)
    if (found !== 'unopened') return found.text
    unopened.add(path)
    return ''
  }
  const json = (row: Row, column: string) => {
    const value = row[column]
    return typeof value === 'string' ? parsedJson(value) : value
  }
  const plain = (text: string) => text
  const list = (path: string, entries: readonly (readonly [string, Node])[]): Node => {
    return { file: 'database', line: 0, path, kind: 'list', value: null, text: '', members: new Map(entries) }
  }
  const entry = (path: string, members: Readonly<Record<string, Node>>): Node => {
    return {
      file: 'database',
      line: 0,
      path,
      kind: 'map',
      value: null,
      text: '',
      members: new Map(Object.entries(members)),
    }
  }
  const text = (value: Json | undefined, path: string) => treeOf(value ?? null, path, plain)
  const credentials = rows.CredentialsTable.map((row, at) => {
    const path = `LiteLLM_CredentialsTable[${textIn(row, 'credential_name') ?? at}]`
    return [
      String(at),
      entry(path, {
        credential_name: text(row['credential_name'], `${path}.credential_name`),
        credential_values: treeOf(json(row, 'credential_values'), `${path}.credential_values`, opened),
        credential_info: treeOf(json(row, 'credential_info'), `${path}.credential_info`, plain),
      }),
    ] as const
  })
  const entries = rows.ProxyModelTable.flatMap((row, at) => {
    const name = open(textIn(row, 'model_name') ?? '')
    const path = `LiteLLM_ProxyModelTable[${textIn(row, 'model_id') ?? at}]`
    const info = json(row, 'model_info')
    const why = leftOutBecause(row, info)
    if (why !== undefined) {
      report.lost({ file: 'database', line: 0, path }, why, 'client')
      return []
    }
    const made = [
      String(at),
      entry(path, {
        model_name: text(name === 'unopened' ? null : name.text, `${path}.model_name`),
        litellm_params: treeOf(json(row, 'litellm_params'), `${path}.litellm_params`, opened),
        model_info: treeOf(info, `${path}.model_info`, plain),
      }),
    ] as const
    return [made]
  })
  const roots = [...credentials, ...entries].map(([, node]) => node)
  const isSection = (path: string) => /^[^.]*\](?:\.(?:litellm_params|model_info|credential_values))?$/.test(path)
  models.readCredentials(list('LiteLLM_CredentialsTable', credentials), (node) => unopened.has(node.path))
  models.readList(list('LiteLLM_ProxyModelTable', entries), (node) => unopened.has(node.path))
  for (const path of unopened)
    report.lost(
      { file: 'database', line: 0, path },
      'it cannot be opened: name the variable of its key by --salt-key',
      'client',
    )
  report.complete(roots, isSection)
}

/** Why a model of the database is left out, so that nobody may use more than before; undefined: it is not. */
function leftOutBecause(row: Row, info: Json | undefined): string | undefined {
  if (row['blocked'] === true) return 'it is blocked, so it is left out: add it when it may be asked'
  const team = isObject(info) ? info['team_id'] : undefined
  if (typeof team !== 'string' || team === '') return undefined
  return 'its team alone might use it, so it is left out: add it, and list it in the keys of the team'
}
