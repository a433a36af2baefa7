import { dirname, relative, resolve } from 'node:path'
import { asText, Draft, hasVariable, litellmShape, litellmVariable, meantVariable } from './draft.ts'
import { reserve, tellNames } from './foreign.ts'
import { modelIn } from './litellm-deployment.ts'
import type { ValueOf } from './litellm-deployment.ts'
import { readGuards } from './litellm-guards.ts'
import { readMcpServers } from './litellm-mcp.ts'
import { LitellmModels } from './litellm-models.ts'
import { finishFallbacks, finishStrategy, lostSections, readSection } from './litellm-settings.ts'
import type { Reading } from './litellm-settings.ts'
import { Report } from './report.ts'
import { at, isEmpty, itemsOf, leavesOf, membersOf, readTree, textOf, Unreadable } from './tree.ts'
import type { Node } from './tree.ts'
import { unspokenBecause, vendorOf, vendors } from './vendors.ts'

/** A configuration of LiteLLM that was read. */
export interface ReadLitellm extends Reading {
  /** The master key of LiteLLM, if it stands in the file or in a variable that it names. */
  readonly masterKey?: Node
}

/** How a configuration is read. */
export interface LitellmOptions {
  /** The folder to which paths refer. */
  readonly folder: string
  /** Whether the master key becomes an API key. */
  readonly masterKeyAsKey: boolean
  /** The variables during the import. Models are named by some; no value of a secret is read. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Reads models that stand elsewhere, behind those of the file. */
  readonly later?: (reading: ReadLitellm) => void
}

const mostFiles = 100

/** Paths of sections, which never speak for their members unless they are lost. */
export function isSection(path: string): boolean {
  return /^[^.[]*$/.test(path) || /^model_list\[\d+\](?:\.(?:litellm_params|model_info))?$/.test(path)
}

/** Reads a configuration with all that it includes. Rejects with `Unreadable`. */
export async function readLitellm(file: string | undefined, options: LitellmOptions): Promise<ReadLitellm> {
  const report = new Report()
  const draft = new Draft(litellmVariable, report)
  const valueOf: ValueOf = (variable) => draft.environment.get(variable) ?? (options.environment[variable] || undefined)
  const models = new LitellmModels(draft, report, valueOf)
  const reading = { draft, report, models }
  if (file === undefined) {
    options.later?.(reading)
    finishModels(reading)
    return reading
  }
  const roots = await filesFrom(file, options.folder)
  const sections = merged(roots, report)
  readEnvironment(sections.get('environment_variables') ?? [], reading)
  reserveNames(roots, sections, draft, valueOf)
  for (const credentials of sections.get('credential_list') ?? []) models.readCredentials(credentials)
  for (const list of sections.get('model_list') ?? []) models.readList(list)
  const masterKey = at(sections.get('general_settings')?.at(-1), 'master_key')
  const given = { ...reading, ...(masterKey ? { masterKey } : {}) }
  options.later?.(given)
  models.finish()
  for (const name of ['router_settings', 'litellm_settings', 'general_settings'])
    for (const section of sections.get(name) ?? []) readSection(name, section, reading)
  finishFallbacks(reading)
  finishStrategy(reading)
  for (const guards of sections.get('guardrails') ?? []) readGuards(guards, draft, report)
  for (const servers of sections.get('mcp_servers') ?? []) readMcpServers(servers, draft, report)
  for (const [name, read] of Object.entries(lostSections))
    for (const section of sections.get(name) ?? []) if (!isEmpty(section)) read(section, reading)
  for (const section of sections.get('environment_variables') ?? []) dropKeys(section, reading)
  if (masterKey && !isEmpty(masterKey)) readMasterKey(masterKey, options.masterKeyAsKey, reading)
  tellNames(roots, litellmShape, report)
  report.complete(roots, isSection)
  report.note('Clients find the gateway at port 8080 unless PORT says another one; LiteLLM listens on port 4000.')
  return given
}

/** What follows from the models alone. */
function finishModels(reading: Reading): void {
  reading.models.finish()
  finishFallbacks(reading)
  finishStrategy(reading)
}

/** A file and all that it includes, in the order in which they count. */
async function filesFrom(file: string, folder: string): Promise<readonly Node[]> {
  const roots: Node[] = []
  const seen = new Set<string>()
  const read = async (path: string) => {
    if (seen.has(path)) return
    if (seen.size >= mostFiles) throw new Unreadable(`more than ${mostFiles} files are included`)
    seen.add(path)
    const root = await readTree(path, relative(folder, path) || path)
    if (root.kind !== 'map') throw new Unreadable(`${root.file} is no configuration: it has no fields`)
    roots.push(root)
    for (const include of itemsOf(at(root, 'include'))) {
      const name = textOf(include)
      if (name !== undefined) await read(resolve(dirname(path), name))
    }
  }
  await read(resolve(folder, file))
  return roots
}

/** The sections of all files: lists are appended, anything else is replaced by that of the last file that has it. */
function merged(roots: readonly Node[], report: Report): ReadonlyMap<string, readonly Node[]> {
  const sections = new Map<string, Node[]>()
  for (const [index, root] of roots.entries())
    for (const [name, node] of root.members) {
      if (name === 'include') {
        for (const leaf of leavesOf(node)) report.mapped(leaf, 'config/sluice.yaml')
        continue
      }
      const before = sections.get(name) ?? []
      if (index > 0 && before.length > 0 && node.kind !== 'list') {
        for (const leaf of before.flatMap(leavesOf)) report.default(leaf, `${node.file} replaces it`)
        sections.set(name, [node])
      } else sections.set(name, [...before, node])
    }
  return sections
}

/** Keeps variables that the files name or set, and the usual ones of their deployments, from secrets. */
function reserveNames(
  roots: readonly Node[],
  sections: ReadonlyMap<string, readonly Node[]>,
  draft: Draft,
  valueOf: ValueOf,
): void {
  const set = (sections.get('environment_variables') ?? []).flatMap(membersOf).map(([name]) => name)
  const deployments = (sections.get('model_list') ?? []).flatMap(itemsOf)
  const usual = deployments.flatMap((entry) => usualVariable(at(entry, 'litellm_params'), valueOf) ?? [])
  reserve(draft, roots, [...set, ...usual])
}

/** The usual variable of the vendor of a deployment whose key is not in the files. */
function usualVariable(parameters: Node | undefined, valueOf: ValueOf): string | undefined {
  const found = modelIn(at(parameters, 'model'), valueOf)
  const { vendor } = vendorOf('name' in found ? found.name : '', textOf(at(parameters, 'custom_llm_provider')))
  const hasKey = ['api_key', 'litellm_credential_name'].some((name) => textOf(at(parameters, name)) !== undefined)
  return hasKey || unspokenBecause(vendor) !== undefined ? undefined : vendors.get(vendor)?.variable
}

/** `environment_variables`, which go into `.env`. */
function readEnvironment(sections: readonly Node[], { draft, report }: Reading): void {
  for (const [name, node] of sections.flatMap(membersOf)) {
    const value = textOf(node)
    const trimmed = value?.trim() ?? ''
    if (value === undefined) report.default(node, 'says nothing')
    else if (!/^[A-Za-z_]\w*$/.test(name)) report.lost(node, 'a variable has letters, digits and "_" alone')
    else if (name === 'DATABASE_URL')
      report.changed(
        node,
        "LiteLLM's database is not used; give it to --database once, and set DATABASE_URL to another one",
      )
    else if (['HOST', 'PORT', 'LOG_LEVEL', 'SLUICE_SECRET', 'SLUICE_CONFIG', asText].includes(name))
      report.changed(node, 'the gateway reads a variable of this name in its own way; set it by hand')
    else if (draft.isVariable(node) || hasVariable(value)) {
      if (draft.isVariable(node)) draft.text(node)
      report.changed(node, 'a variable cannot be made of another one; set it by hand', '.env.example')
      draft.variables.add(name)
    } else {
      draft.environment.set(name, trimmed)
      if (trimmed === value) report.mapped(node, '.env')
      else report.changed(node, 'spaces around it are left out', '.env')
    }
  }
}

/** Drops keys of providers that none can be. */
function dropKeys(section: Node, { draft, report }: Reading): void {
  const fields = ['api_key', 'access_key_id', 'secret_access_key', 'session_token']
  const used = new Set([...draft.providers.values()].flatMap(({ record }) => fields.map((field) => record[field])))
  for (const [name, node] of membersOf(section)) {
    if (!used.has(`\${${name}}`) || /^[\x21-\x7e]+$/.test(draft.environment.get(name) ?? '-')) continue
    draft.environment.delete(name)
    report.changed(node, 'is no key, which has no spaces: set it by hand', '.env.example')
  }
}

function readMasterKey(node: Node, asKey: boolean, { draft, report }: Reading): void {
  if (!asKey)
    return report.changed(
      node,
      'it is no API key now: make an admin by the link that the gateway prints at its first start, or import with --master-key-as-key',
      undefined,
      'client',
    )
  const text = textOf(node) ?? ''
  const meant = meantVariable(text)
  if (meant === undefined && hasVariable(text))
    return report.lost(
      node,
      'it has a variable in it, which is not put in: make a key with "sluice key create"',
      'client',
    )
  if (draft.variableIn(text) === undefined && !/^[\x21-\x7e]{8,256}$/.test(text))
    return report.lost(
      node,
      'an API key has 8 to 256 characters without spaces: make one with "sluice key create"',
      'client',
    )
  const key = draft.secret(node, 'LITELLM_MASTER_KEY')
  draft.apiKeys.push({ name: 'litellm-master-key', key })
  const set = meant === undefined ? '' : `: set ${key.slice(2, -1)}`
  const advice = `it is an API key that may use every model, and administers nothing${set}`
  report.changed(node, advice, 'api_keys[]', 'client')
}
