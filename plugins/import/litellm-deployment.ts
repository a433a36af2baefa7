import type { Json } from '../../engine/index.ts'
import { printDuration } from '../../engine/kit.ts'
import { escaped, litellmVariable } from './draft.ts'
import type { Draft, DraftProvider } from './draft.ts'
import { isHeaderText, readHeaders } from './headers.ts'
import { PriceList, isPrice, priceIn, pricePlace } from './pricing.ts'
import type { Price } from './pricing.ts'
import type { Report } from './report.ts'
import { isModelName, isSecretAddress, isSecretVariable } from './secrets.ts'
import { isEmpty, itemsOf, numberOf, textOf } from './tree.ts'
import type { Node } from './tree.ts'
import { addressIn, unspokenBecause, upstreamName, vendorOf, vendors } from './vendors.ts'
import type { Vendor } from './vendors.ts'

/** Parameters of requests, which LiteLLM lets a deployment have. */
const requestParameters =
  /^(?:temperature|top_p|top_k|max_tokens|max_completion_tokens|n|stop|seed|presence_penalty|frequency_penalty|logit_bias|response_format|tools|tool_choice|functions|thinking|reasoning_effort|reasoning|verbosity|user|extra_body|stream|stream_options|modalities|audio|metadata|prompt|messages|input_type|dimensions|encoding_format|keep_alive|num_ctx|safety_settings|service_tier)$/

const defaults = 'set defaults in a pipeline: docs/recipes/defaults.yaml'
/** What is said of limits of a deployment. */
export const noLimits = 'deployments have no limits; limit the keys (rate_limit), or the gateway (rate_limits.server)'

/** What is said of a timeout of zero, which LiteLLM takes for none. */
export const noTimeout = 'zero is no timeout; the usual one counts'

/** What is said of parameters of a deployment that have no place. */
const lostParameters: Readonly<Record<string, string>> = {
  additional_drop_params: defaults,
  allowed_openai_params: 'the gateway passes on what the protocol of the provider has; nothing need be allowed',
  tags: 'requests are not routed by tags; give the models names of their own, and keys lists of models',
  max_budget: 'deployments have no budgets; give budgets to keys, or to the gateway (rate_limits.budget)',
  budget_duration: 'deployments have no budgets; give budgets to keys, or to the gateway (rate_limits.budget)',
  order: 'places are asked in the order of the list with provider_selection.strategy: order',
  silent_model: 'nothing is sent to a second model; compare models by "sluice route"',
  mock_response: 'use a provider of type echo',
  max_retries: 'tries are counted for a request as a whole: resilience.retries.tries',
  max_parallel_requests: `${noLimits}; max_connections of a provider bounds its connections`,
  aws_role_name: 'use access keys, or an API key of Bedrock',
  aws_session_name: 'use access keys, or an API key of Bedrock',
  aws_profile_name: 'use access keys, or an API key of Bedrock',
  aws_web_identity_token: 'use access keys, or an API key of Bedrock',
  aws_sts_endpoint: 'use access keys, or an API key of Bedrock',
  azure_ad_token_provider: 'use an API key, or a token with auth: bearer',
  tenant_id: 'use an API key, or a token with auth: bearer',
  client_id: 'use an API key, or a token with auth: bearer',
  client_secret: 'use an API key, or a token with auth: bearer',
  azure_scope: 'use an API key, or a token with auth: bearer',
  azure_username: 'use an API key, or a token with auth: bearer',
  azure_password: 'use an API key, or a token with auth: bearer',
  use_in_pass_through: 'requests are not passed through to vendors',
  litellm_trace_id: 'requests have ids of their own',
  cache_control_injection_points: 'request_policy.prompt_caching marks what vendors may cache',
  guardrails: 'name the guards of the model: models[].guards',
  ssl_verify: 'certificates are always verified; NODE_EXTRA_CA_CERTS adds an authority',
}

/** The name of a variable. */
function bare(variable: Json | undefined): string {
  return typeof variable === 'string' ? variable.replace(/^\$\{|\}$/g, '') : ''
}

/** Where parameters may come from: those of the deployment go first. */
type Parameters = ReadonlyMap<string, Node>

/** What a deployment says, beside where it is. */
export interface Deployment {
  readonly provider: DraftProvider
  readonly upstream: string
  readonly prices: PriceList
}

interface Needed {
  readonly draft: Draft
  readonly report: Report
  /** Whether a value was sealed, and could not be opened. */
  readonly isUnopened: (node: Node) => boolean
  readonly valueOf: ValueOf
}

/** The value of a variable during the import; undefined: it has none. */
export type ValueOf = (variable: string) => string | undefined

/** The name of a model, where it is given, and the variable in which it stands. */
interface NamedModel {
  readonly node: Node
  readonly name: string
  readonly variable?: string
}

/** The model that a deployment names, or why it names none. */
export function modelIn(node: Node | undefined, valueOf: ValueOf): NamedModel | { readonly lost: string } {
  const given = textOf(node)
  if (node === undefined || given === undefined) return { lost: 'it names no model: litellm_params.model' }
  const variable = litellmVariable(given)
  if (variable === undefined) return { node, name: given }
  const stands = `the name of its model stands in ${variable}`
  // Nobody names a model in the variable of a secret.
  if (isSecretVariable(variable)) return { lost: `${stands}, which is named like a secret; write the name there` }
  const name = valueOf(variable)
  if (name === undefined) return { lost: `${stands}; set the variable for the import, or write the name` }
  if (!isModelName(name)) return { lost: `${stands}, whose value looks like a secret; write the name there` }
  return { node, name, variable }
}

/** Reads `litellm_params` of a deployment. Undefined: it is lost, and the report says why. */
export function readDeployment(entry: Node, parameters: Parameters, needed: Needed): Deployment | undefined {
  const { report, valueOf } = needed
  const model = modelIn(parameters.get('model'), valueOf)
  const lose = (why: string) => {
    report.lost(entry, why, 'client')
    return undefined
  }
  if ('lost' in model) return lose(model.lost)
  const custom = textOf(parameters.get('custom_llm_provider'))
  const found = vendorOf(model.name, custom)
  const vendor = vendors.get(found.vendor)
  if (vendor === undefined) return lose(unspokenBecause(found.vendor) ?? '')
  const { upstream, region } = upstreamName(found)
  if (upstream.slice(0, -1).includes('*')) return lose('"*" may stand at the end of a name only')
  if (upstream === '' || /\s/.test(upstream)) return lose('the name of a model at its vendor has no spaces')
  const reader = new ProviderReader(found.vendor, vendor, parameters, needed)
  const provider = reader.read(region)
  const written = model.variable && `the value that ${model.variable} had during the import is written`
  const advice = [written, vendor.advice].filter((one) => one !== undefined).join('; ')
  if (advice === '') report.mapped(model.node, 'models[].upstream_model')
  else report.changed(model.node, advice, 'models[].upstream_model', vendor.advice === undefined ? undefined : 'client')
  const customNode = parameters.get('custom_llm_provider')
  if (customNode) report.mapped(customNode, 'models[].provider')
  const prices = new PriceList()
  for (const [key, node] of parameters) readRest(key, node, prices, report)
  return { provider, upstream, prices }
}

/** Speaks of parameters that do not say where the deployment is. */
function readRest(key: string, node: Node, prices: PriceList, report: Report): void {
  if (report.has(node)) return
  if (isEmpty(node) || (node.kind === 'leaf' && node.text === '')) return report.default(node, 'says nothing')
  if (isPrice(key)) return readPrice(key, node, prices, report)
  // Weights are read with those of the other places, headers one by one.
  if (['weight', 'rpm', 'tpm', 'extra_headers', 'default_headers', 'litellm_credential_name'].includes(key)) return
  if (key === 'api_version') return report.default(node, 'has no effect there')
  if (/^aws_(?:access_key_id|secret_access_key|session_token)$/.test(key))
    return report.default(node, 'api_key goes first')
  if (key === 'drop_params' || key === 'modify_params') return report.default(node, 'translation drops and tells')
  if (key === 'merge_reasoning_content_in_choices') return report.lost(node, 'reasoning stands in fields of its own')
  const isLimit = ['max_parallel_requests', 'max_budget'].includes(key)
  if (Object.hasOwn(lostParameters, key))
    return report.lost(node, lostParameters[key] ?? '', isLimit ? 'limit' : undefined)
  if (key.startsWith('vertex_')) return report.lost(node, 'use provider type gemini with an API key')
  if (requestParameters.test(key)) return report.lost(node, defaults)
  report.lost(node, 'there is no such setting of a provider or a model')
}

/** Adds a price to the list of its model. */
export function readPrice(key: string, node: Node, prices: PriceList, report: Report): void {
  const place = pricePlace(key)
  if (place === undefined) return report.lost(node, 'there is no such price; the usual one counts')
  const price = priceIn(node, place)
  if (price === undefined) return report.lost(node, 'is no amount of money')
  if (price.exact) report.mapped(node, price.to)
  else report.changed(node, 'prices have at most nine decimals', price.to)
  addPrice(price, prices, report)
}

/** Adds a price to a list, and tells of the one that does not count any more. */
export function addPrice(price: Price, prices: PriceList, report: Report): void {
  const { kept, cheaper } = prices.add(price) ?? {}
  if (kept && cheaper)
    report.changed(cheaper.node, `a model has one price: the dearer one counts, ${kept.value}`, cheaper.to)
}

/** Reads what says where a deployment is and how to speak to it. */
class ProviderReader {
  readonly #vendor: Vendor
  readonly #name: string
  readonly #parameters: Parameters
  readonly #draft: Draft
  readonly #report: Report
  readonly #record: Record<string, Json> = {}
  readonly #isUnopened: Needed['isUnopened']

  constructor(name: string, vendor: Vendor, parameters: Parameters, { draft, report, isUnopened }: Needed) {
    this.#name = name
    this.#vendor = vendor
    this.#parameters = parameters
    this.#draft = draft
    this.#report = report
    this.#isUnopened = isUnopened
  }

  read(region: string | undefined): DraftProvider {
    const { type, preset } = this.#vendor
    this.#record['type'] = type
    if (preset !== undefined) this.#record['preset'] = preset
    this.#address()
    if (type === 'bedrock') this.#bedrock(region)
    else this.#key()
    if (type === 'azure') this.#azure()
    this.#headers()
    this.#timeouts()
    // It is off until the variable of its key is set by hand.
    if ([...this.#parameters.values()].some(this.#isUnopened)) this.#record['enabled'] = false
    return this.#draft.provider(this.#name.replace(/_chat$|_converse$/, ''), this.#record)
  }

  /** A parameter that says something. */
  #given(...names: readonly string[]): Node | undefined {
    return names.map((name) => this.#parameters.get(name)).find((node) => textOf(node) !== undefined)
  }

  #word(field: string): string {
    return `${this.#name}_${field}`
  }

  #address(): void {
    const { base, baseVariable, type } = this.#vendor
    const node = this.#given('api_base', 'base_url', ...(type === 'bedrock' ? ['aws_bedrock_runtime_endpoint'] : []))
    if (node === undefined) {
      if (base !== undefined) this.#record['base_url'] = base
      else if (baseVariable !== undefined) this.#record['base_url'] = this.#draft.variable(baseVariable)
      return
    }
    if (this.#draft.isVariable(node)) {
      this.#record['base_url'] = this.#draft.text(node)
      this.#report.mapped(node, 'providers[].base_url')
    } else {
      const { address, told } = addressIn(this.#name, this.#vendor, textOf(node) ?? '')
      const url = URL.parse(address)
      if (url === null || !['http:', 'https:'].includes(url.protocol)) {
        this.#record['base_url'] = this.#draft.unset(this.#word('base_url'))
        if (type === 'native') this.#record['type'] = 'compatible'
        return this.#report.changed(
          node,
          `is no address that starts with http:// or https://: set ${bare(this.#record['base_url'])}`,
        )
      }
      if (told === undefined) this.#report.mapped(node, 'providers[].base_url')
      else this.#report.changed(node, told, 'providers[].base_url')
      this.#record['base_url'] = isSecretAddress(address)
        ? this.#draft.variable(this.#draft.keep(address, this.#word('base_url')))
        : escaped(address)
    }
    // Another address is another server of the same protocol.
    if (type === 'native' && this.#record['base_url'] !== base) this.#record['type'] = 'compatible'
  }

  #key(): void {
    const token = this.#vendor.type === 'azure' ? this.#given('azure_ad_token') : undefined
    const node = token ?? this.#given('api_key')
    const { variable } = this.#vendor
    if (node && !this.#draft.isKey(node)) {
      this.#record['api_key'] = this.#draft.unset(this.#word('api_key'))
      return this.#report.changed(node, `is no key, which has no spaces: set ${bare(this.#record['api_key'])}`)
    }
    if (node) this.#record['api_key'] = this.#draft.secret(node, this.#word('api_key'))
    else if (variable !== undefined) this.#record['api_key'] = this.#draft.variable(variable)
    if (node) this.#report.mapped(node, 'providers[].api_key')
    if (token) this.#record['auth'] = 'bearer'
    const unused = token && this.#parameters.get('api_key')
    if (unused) this.#report.default(unused, 'azure_ad_token goes first')
  }

  #azure(): void {
    const node = this.#given('api_version')
    if (node === undefined) return
    const text = textOf(node) ?? ''
    if (this.#draft.isVariable(node) || /^\d{4}-\d\d-\d\d(?:-[\w.]+)?$/.test(text)) {
      this.#record['api_version'] = this.#draft.text(node)
      return this.#report.mapped(node, 'providers[].api_version')
    }
    if (['latest', 'preview', 'v1'].includes(text))
      return this.#report.default(node, 'without api_version, /v1/ is used')
    this.#report.changed(node, 'is no version of the API, so /v1/ is used')
  }

  #bedrock(region: string | undefined): void {
    const fields = {
      region: ['aws_region_name', 'AWS_REGION_NAME'],
      access_key_id: ['aws_access_key_id', 'AWS_ACCESS_KEY_ID'],
      secret_access_key: ['aws_secret_access_key', 'AWS_SECRET_ACCESS_KEY'],
    } as const
    const isKeyed = this.#given('api_key') !== undefined
    if (isKeyed) this.#key()
    for (const [field, [parameter, variable]] of Object.entries(fields)) {
      const node = this.#given(parameter)
      const isRegion = field === 'region'
      if (isKeyed && !isRegion) continue
      if (node) {
        const mayBeRegion = this.#draft.isVariable(node) || /^[a-z0-9-]+$/.test(textOf(node) ?? '')
        if (isRegion ? !mayBeRegion : !this.#draft.isKey(node)) {
          this.#record[field] = isRegion ? this.#draft.variable(variable) : this.#draft.unset(this.#word(field))
          this.#report.changed(node, `is none: set ${bare(this.#record[field])}`, `providers[].${field}`)
          continue
        }
        this.#record[field] = isRegion ? this.#draft.text(node) : this.#draft.secret(node, this.#word(field))
        this.#report.mapped(node, `providers[].${field}`)
      } else this.#record[field] = (isRegion ? region : undefined) ?? this.#draft.variable(variable)
    }
    const session = this.#given('aws_session_token')
    if (session && !isKeyed) {
      this.#record['session_token'] = this.#draft.secret(session, this.#word('session_token'))
      this.#report.mapped(session, 'providers[].session_token')
    }
  }

  #headers(): void {
    const headers: Record<string, Json> = {}
    const organization = this.#given('organization')
    if (organization && !isHeaderText(organization, this.#draft)) this.#report.lost(organization, 'is no header')
    else if (organization) {
      headers['openai-organization'] = this.#draft.text(organization)
      this.#report.mapped(organization, 'providers[].headers.openai-organization')
    }
    for (const list of [this.#parameters.get('extra_headers'), this.#parameters.get('default_headers')]) {
      const read = readHeaders(list, {
        draft: this.#draft,
        report: this.#report,
        to: 'providers[].headers',
        value: (node, name) => this.#draft.hidden(node, name, this.#word(name)),
      })
      Object.assign(headers, read)
    }
    if (Object.keys(headers).length > 0) this.#record['headers'] = headers
  }

  #timeouts(): void {
    const timeouts: Record<string, Json> = {}
    for (const [parameter, field] of [
      ['timeout', 'total'],
      ['stream_timeout', 'first_byte'],
    ] as const) {
      const node = this.#given(parameter)
      if (node === undefined) continue
      const text = secondsAsDuration(node)
      if (numberOf(node) === 0) this.#report.default(node, noTimeout)
      else if (text === undefined) this.#report.lost(node, 'is no number of seconds')
      else {
        timeouts[field] = text
        this.#report.mapped(node, `providers[].timeouts.${field}`)
      }
    }
    if (Object.keys(timeouts).length > 0) this.#record['timeouts'] = timeouts
  }
}

/** A number of seconds as a duration; undefined: it is none. */
export function secondsAsDuration(node: Node | undefined): string | undefined {
  const seconds = numberOf(node)
  if (seconds === undefined || seconds < 0 || seconds > 31_536_000) return undefined
  return printDuration(Math.max(1, Math.round(seconds * 1000)))
}

/** The texts in a list, of which the items have the places. */
export function textsIn(node: Node | undefined): readonly (readonly [string, Node])[] {
  return itemsOf(node).flatMap((item) => {
    const text = textOf(item)
    return text === undefined ? [] : [[text, item] as const]
  })
}
