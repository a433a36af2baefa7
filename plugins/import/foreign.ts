import type { Json } from '../../engine/index.ts'
import { bareName, escaped, ownVariables, variableNamed } from './draft.ts'
import type { Draft, DraftProvider } from './draft.ts'
import type { Report } from './report.ts'
import { isSecretAddress } from './secrets.ts'
import { itemsOf, leavesOf, membersOf, textOf } from './tree.ts'
import type { Node } from './tree.ts'
import { addressIn, vendors } from './vendors.ts'

/** The names that vendors have elsewhere, by those that LiteLLM has for them. */
const otherNames: Readonly<Record<string, string>> = {
  'azure-openai': 'azure',
  'azure-ai': 'azure_ai',
  'aws-bedrock': 'bedrock',
  google: 'gemini',
  'google-ai': 'gemini',
  'mistral-ai': 'mistral',
  'together-ai': 'together_ai',
  'perplexity-ai': 'perplexity',
  'fireworks-ai': 'fireworks_ai',
  fireworks: 'fireworks_ai',
  'x-ai': 'xai',
  'novita-ai': 'novita',
  'nvidia-nim': 'nvidia_nim',
  lambda: 'lambda_ai',
  moonshotai: 'moonshot',
  vllm: 'hosted_vllm',
  sgl: 'hosted_vllm',
  'open-ai': 'openai',
}

/** The vendor that another gateway calls so; undefined: the gateway does not speak to it. */
export function vendorNamed(name: string): string | undefined {
  const known = Object.hasOwn(otherNames, name) ? otherNames[name] : name.replaceAll('-', '_')
  return known !== undefined && vendors.has(known) ? known : undefined
}

/** What says where a provider is, and with which credentials it is asked. Absent values are the usual ones. */
export interface Connection {
  readonly address?: Node | undefined
  readonly key?: Node | undefined
  readonly region?: Node | undefined
  readonly accessKey?: Node | undefined
  readonly secretKey?: Node | undefined
  readonly sessionToken?: Node | undefined
  readonly version?: Node | undefined
  readonly headers?: Readonly<Record<string, Json>>
  readonly total?: string | undefined
  /** Whether it is not to be asked. */
  readonly isOff?: boolean
}

/** The provider of a connection, made if there is none. */
export function providerFor(
  vendor: string,
  given: Connection,
  { draft, report }: { readonly draft: Draft; readonly report: Report },
): DraftProvider {
  const known = vendors.get(vendor)
  if (known === undefined) throw new Error(`there is no vendor "${vendor}"`)
  const { type, preset, base, baseVariable, variable } = known
  const record: Record<string, Json> = { type, ...(preset === undefined ? {} : { preset }) }
  const address = textOf(given.address)
  if (given.address && address !== undefined) {
    const url = draft.isVariable(given.address) ? draft.text(given.address) : written(vendor, address, draft)
    const { told } = addressIn(vendor, known, address)
    if (told !== undefined && !draft.isVariable(given.address))
      report.changed(given.address, told, 'providers[].base_url')
    if (url.startsWith('${') && !draft.isVariable(given.address) && !isSecretAddress(address))
      report.changed(
        given.address,
        'is no address that starts with http:// or https://: set its variable',
        'providers[]',
      )
    record['base_url'] = url
    if (type === 'native' && url !== base) record['type'] = 'compatible'
  } else if (base !== undefined) record['base_url'] = base
  else if (baseVariable !== undefined) record['base_url'] = draft.variable(baseVariable)
  if (type === 'bedrock') {
    const isRegion = given.region && (draft.isVariable(given.region) || /^[a-z0-9-]+$/.test(given.region.text))
    record['region'] = given.region && isRegion ? draft.text(given.region) : draft.variable('AWS_REGION')
    if (given.region && !isRegion) report.changed(given.region, 'is no region: set AWS_REGION', 'providers[].region')
    const secrets = { access_key_id: given.accessKey, secret_access_key: given.secretKey } as const
    if (given.accessKey === undefined && given.key) record['api_key'] = draft.secret(given.key, `${vendor}_api_key`)
    else
      for (const [field, node] of Object.entries(secrets))
        record[field] = node ? draft.secret(node, `${vendor}_${field}`) : draft.variable(`AWS_${field.toUpperCase()}`)
    if (given.sessionToken) record['session_token'] = draft.secret(given.sessionToken, `${vendor}_session_token`)
  } else if (given.key && !draft.isKey(given.key)) {
    record['api_key'] = draft.unset(`${vendor}_api_key`)
    report.changed(given.key, 'is no key, which has no spaces: set its variable', 'providers[]')
  } else if (given.key) record['api_key'] = draft.secret(given.key, `${vendor}_api_key`)
  else if (variable !== undefined) record['api_key'] = draft.variable(variable)
  const version = textOf(given.version)
  if (type === 'azure' && given.version && version !== undefined && isVersion(version, draft.isVariable(given.version)))
    record['api_version'] = draft.text(given.version)
  if (given.headers && Object.keys(given.headers).length > 0) record['headers'] = given.headers
  if (given.total !== undefined) record['timeouts'] = { total: given.total }
  // One that is off has a record of its own.
  if (given.isOff === true) record['enabled'] = false
  return draft.provider(vendor, record)
}

function isVersion(text: string, isVariable: boolean): boolean {
  return isVariable || /^\d{4}-\d\d-\d\d(?:-[\w.]+)?$/.test(text)
}

/** An address for the file; a variable in place of what is none. */
function written(vendor: string, given: string, draft: Draft): string {
  const address = addressOf(vendor, given)
  const isAddress = ['http:', 'https:'].includes(URL.parse(address)?.protocol ?? '')
  if (!isAddress) return draft.unset(`${vendor}_base_url`)
  return isSecretAddress(address) ? draft.variable(draft.keep(address, `${vendor}_base_url`)) : escaped(address)
}

function addressOf(vendor: string, given: string): string {
  const known = vendors.get(vendor)
  const address = known ? addressIn(vendor, known, given).address : given
  // Other gateways leave out the path that their clients of this vendor add.
  return known?.type === 'native' && URL.parse(address)?.pathname === '/' ? `${address.replace(/\/$/, '')}/v1` : address
}

/** Keeps variables that files name from secrets, and usual ones of vendors whose keys are not in the files. */
export function reserve(draft: Draft, files: readonly Node[], usual: Iterable<string> = []): void {
  const named = files.flatMap(leavesOf).flatMap(({ text }) => draft.variableIn(text) ?? bareName(text) ?? [])
  for (const name of [...ownVariables, ...named, ...usual]) draft.reserved.add(name)
}

/** Tells of variables whose names the gateway cannot read. */
export function tellNames(roots: readonly Node[], shape: RegExp, report: Report): void {
  for (const leaf of roots.flatMap(leavesOf)) {
    const [, name] = shape.exec(leaf.text) ?? []
    if (name === undefined || variableNamed(name) === name) continue
    report.changed(leaf, `no variable can have this name here: set ${variableNamed(name)}`, '.env.example')
  }
}

/** Whether a list says one of these words. */
export function listHas(list: Node | undefined, word: string): boolean {
  return itemsOf(list).some((item) => textOf(item) === word)
}

/** A member by its name in snake or camel case. */
export function member(node: Node | undefined, name: string): Node | undefined {
  return membersOf(node).find(([key]) => snakeCase(key) === name)?.[1]
}

/** A name in snake case. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Lets a request be tried as often as the longest row of places and fallbacks needs. */
export function tryAll(longest: number, { draft, report }: { readonly draft: Draft; readonly report: Report }): void {
  const path = 'resilience.retries.tries'
  const usual = 3
  const given = draft.settings.get(path)
  const wanted = Math.min(10, longest)
  if (wanted <= (typeof given === 'number' ? given : usual)) return
  draft.settings.set(path, wanted)
  report.note(`A request is tried ${wanted} times in all, so that each fallback has its turn (${path}).`)
}
