import type { Json } from '../../engine/index.ts'
import { printDuration } from '../../engine/kit.ts'
import { Draft } from './draft.ts'
import type { DraftPlace } from './draft.ts'
import { member, providerFor, reserve, snakeCase, tryAll, vendorNamed } from './foreign.ts'
import { isHeaderText } from './headers.ts'
import { Report } from './report.ts'
import { isSecretName } from './secrets.ts'
import { isEmpty, itemsOf, leavesOf, membersOf, numberOf, readTree, textOf, Unreadable } from './tree.ts'
import type { Node } from './tree.ts'
import { upstreamName, vendors } from './vendors.ts'

/** A place with its share, and whether the client's own name of the model goes there. */
interface Target {
  readonly place: DraftPlace
  readonly weight: number
}

/** Targets of which one is chosen: by weight, or the first that works. */
interface Group {
  readonly node: Node
  readonly targets: readonly Target[]
  readonly isWeighted: boolean
}

/** How a configuration names a secret that is filled in before it is sent. */
const placeholder = /^\{\{\s*([A-Za-z_]\w*)\s*\}\}$/

const noGuards = 'write guards: docs/guards.md has the kinds, and the contract of a service of your own'

/** What is said of fields without a place. */
const lostFields: readonly (readonly [name: RegExp, advice: string, weight?: 'limit'])[] = [
  [/^cache$/, 'answers are not cached; what providers cache is marked (request_policy.prompt_caching)'],
  [/guardrails$|^(?:before|after)_request_hooks$/, noGuards, 'limit'],
  [/^vertex_/, 'use provider type gemini with an API key'],
  [/^forward_headers$/, 'headers of clients are not passed on, but for those of their protocol'],
  [/^strict_open_ai_compliance$/, 'answers are always those of the protocol of the client'],
  [/^metadata$/, 'give keys tags'],
]

/** Fields that are read together with others. */
const handled =
  /^(?:strategy|targets|provider|api_key|virtual_key|custom_host|weight|retry|request_timeout|override_params|name|azure_.*|aws_.*|openai_organization|openai_project|resource_name|deployment_id|api_version)$/

/** Paths of sections, which never speak for their members unless they are lost. */
export function isPortkeySection(path: string): boolean {
  return /^[^.[]*$/.test(path) || /targets\[\d{1,6}\](?:\.(?:strategy|targets|retry|override_?[pP]arams))?$/.test(path)
}

/** Reads a configuration of Portkey: what it does with every request becomes a model of any name. */
export async function readPortkey(path: string, name: string): Promise<{ draft: Draft; report: Report }> {
  const root = await readTree(path, name)
  if (root.kind !== 'map') throw new Unreadable(`${name} is no configuration: it has no fields`)
  const reader = new PortkeyReader(root)
  reader.read()
  return reader
}

class PortkeyReader {
  readonly report = new Report()
  readonly draft = new Draft((text) => placeholder.exec(text)?.[1], this.report)
  readonly #root: Node
  readonly #names = new Map<string, Node>()
  #isWeighted = false
  /** How many places and fallbacks a request may have to try. */
  #longest = 1

  constructor(root: Node) {
    this.#root = root
  }

  read(): void {
    reserve(this.draft, [this.#root], variablesOf(this.#root))
    this.#readRetry(member(this.#root, 'retry'))
    this.#readNode('*', this.#root)
    if (this.#isWeighted) this.draft.set('provider_selection.strategy', 'weighted')
    tryAll(this.#longest, this)
    this.report.complete([this.#root], isPortkeySection)
    this.report.note('Any name of a model is taken, as before; give models names of their own to limit keys to them.')
    this.report.note('Clients send an API key of the gateway in place of the headers x-portkey-…')
  }

  /** Makes a model of what a node does with requests. */
  #readNode(name: string, node: Node, inherited?: Node): void {
    const strategy = member(node, 'strategy')
    const mode = textOf(member(strategy, 'mode')) ?? 'single'
    if (mode === 'conditional') return this.#readConditions(name, node, strategy, inherited)
    const groups = this.#groupsOf(node, inherited)
    const [first, ...others] = groups
    if (first === undefined) return
    const model = this.draft.model(name)
    const isWeighted = first.isWeighted && first.targets.length > 1
    this.#isWeighted ||= isWeighted
    this.#place(model.places, first)
    const inRow = first.isWeighted ? 1 : first.targets.length
    this.#longest = Math.max(this.#longest, inRow + others.length)
    for (const group of others) {
      // A fallback has a name, so that it cannot take over the name that the client wrote.
      if (group.targets.some(({ place }) => place.upstream === '*')) {
        this.report.lost(group.node, 'it needs override_params.model to be a fallback of a load balance', 'client')
        continue
      }
      const fallback = this.draft.model(`fallback-${this.draft.models.size}`)
      this.#place(fallback.places, group)
      this.#isWeighted ||= group.isWeighted && group.targets.length > 1
      model.fallbacks.push(fallback.name)
    }
  }

  #place(places: DraftPlace[], { targets, isWeighted }: Group): void {
    for (const [index, { place, weight }] of targets.entries()) {
      const same = places.find((one) => one.provider === place.provider && one.upstream === place.upstream)
      if (same) {
        same.weight = (same.weight ?? 1) + weight
        continue
      }
      // Where places are chosen by weight, those of a row come only if the first fails.
      if (targets.length > 1) place.weight = isWeighted ? weight : index === 0 ? 1 : 0
      places.push(place)
    }
  }

  /** The groups that are tried one after the other. */
  #groupsOf(node: Node, inherited: Node | undefined): readonly Group[] {
    const strategy = member(node, 'strategy')
    const modeNode = member(strategy, 'mode')
    const mode = textOf(modeNode) ?? 'single'
    const timeout = member(node, 'request_timeout') ?? inherited
    const targets = itemsOf(member(node, 'targets'))
    this.#tellFields(node)
    if (targets.length === 0) {
      const target = this.#leaf(node, timeout)
      return target ? [{ node, targets: [target], isWeighted: false }] : []
    }
    const codes = member(strategy, 'on_status_codes')
    if (codes)
      this.report.changed(
        codes,
        'failures are the same for all models: resilience.retries.on',
        'server_config.resilience.retries.on',
        'client',
      )
    for (const one of targets) this.#tellWeight(one, mode)
    if (mode === 'loadbalance') {
      this.#told(modeNode, 'server_config.provider_selection.strategy')
      const all = targets.flatMap((one) => this.#shareOf(one, timeout))
      return all.length === 0 ? [] : [{ node, targets: all, isWeighted: true }]
    }
    if (mode === 'fallback' || mode === 'single') {
      this.#told(modeNode, 'models[].deployments')
      const used = mode === 'single' ? targets.slice(0, 1) : targets
      for (const leaf of targets.slice(used.length).flatMap(leavesOf))
        this.report.default(leaf, 'a single target is used')
      const groups = used.flatMap((one) => this.#groupsOf(one, timeout))
      const isPlain = groups.every((group) => group.targets.length === 1)
      return isPlain && groups.length > 1
        ? [{ node, targets: groups.flatMap((group) => group.targets), isWeighted: false }]
        : groups
    }
    this.report.lost(node.path === '' ? (modeNode ?? node) : node, `there is no strategy "${mode}"`, 'client')
    return []
  }

  /** The targets of a node within a load balance, which have its share together. */
  #shareOf(node: Node, inherited: Node | undefined): readonly Target[] {
    const share = numberOf(member(node, 'weight')) ?? 1
    const [first, ...others] = this.#groupsOf(node, inherited)
    if (others.length > 0)
      this.report.lost(
        member(node, 'strategy') ?? node,
        'within a load balance, the first target alone is kept',
        'client',
      )
    const targets = first?.targets ?? []
    const kept = first?.isWeighted === true ? targets : targets.slice(0, 1)
    if (kept.length < targets.length)
      this.report.lost(
        member(node, 'strategy') ?? node,
        'within a load balance, the first target alone is kept',
        'client',
      )
    const sum = kept.reduce((all, { weight }) => all + weight, 0) || 1
    return kept.map(({ place, weight }) => ({ place, weight: Number(((share * weight) / sum).toPrecision(6)) }))
  }

  #leaf(node: Node, timeout: Node | undefined): Target | undefined {
    const provider = member(node, 'provider')
    const virtual = member(node, 'virtual_key')
    const said = textOf(provider)
    const model = member(member(node, 'override_params'), 'model')
    const catalog = catalogName(textOf(model))
    const slug = catalog?.slug ?? (said?.startsWith('@') === true ? said.slice(1) : (said ?? textOf(virtual)))
    const vendor = slug === undefined ? undefined : (vendorNamed(slug) ?? vendorOfSlug(slug))
    const place = node.path === '' ? (provider ?? virtual ?? node) : node
    if (vendor === undefined) {
      const why = slug === undefined ? 'it names no provider' : 'no provider type speaks to this vendor'
      if (place.path !== '') this.report.lost(place, why, 'client')
      return undefined
    }
    const isNamed = said !== undefined && !said.startsWith('@') && vendorNamed(said) !== undefined
    if (provider) {
      if (isNamed) this.report.mapped(provider, 'providers[].type')
      else this.report.changed(provider, 'set the variable of its key', 'providers[].api_key', 'client')
    }
    if (model && catalog)
      this.report.changed(
        model,
        'keys of Portkey are not known here: set the variable of its key',
        'models[].upstream_model',
        'client',
      )
    if (virtual)
      this.report.changed(
        virtual,
        'keys of Portkey are not known here: set the variable of its key',
        'providers[].api_key',
        'client',
      )
    return { place: this.#placeOf(node, vendor, timeout), weight: numberOf(member(node, 'weight')) ?? 1 }
  }

  #placeOf(node: Node, vendor: string, timeout: Node | undefined): DraftPlace {
    const given = (...names: readonly string[]) => {
      const node_ = names.map((name) => member(node, name)).find((one) => textOf(one) !== undefined)
      if (node_) this.report.mapped(node_, 'providers[]')
      return node_
    }
    const resource = given('azure_resource_name', 'resource_name')
    const address = given('custom_host') ?? (resource && hostOf(resource))
    const headers: Record<string, Json> = {}
    for (const [name, header] of [
      ['openai_organization', 'openai-organization'],
      ['openai_project', 'openai-project'],
    ] as const) {
      const one = given(name)
      if (one && !isHeaderText(one, this.draft)) this.report.lost(one, 'is no header')
      else if (one) headers[header] = this.draft.text(one)
    }
    const milliseconds = numberOf(timeout)
    if (timeout && milliseconds !== undefined && milliseconds >= 1)
      this.report.mapped(timeout, 'providers[].timeouts.total')
    const provider = providerFor(
      vendor,
      {
        address,
        key: given('api_key'),
        region: given('aws_region'),
        accessKey: given('aws_access_key_id'),
        secretKey: given('aws_secret_access_key'),
        sessionToken: given('aws_session_token'),
        version: given('azure_api_version', 'api_version'),
        headers,
        ...(milliseconds !== undefined && milliseconds >= 1 ? { total: printDuration(Math.round(milliseconds)) } : {}),
      },
      this,
    )
    const override = member(member(node, 'override_params'), 'model')
    const deployment = given('azure_deployment_id', 'deployment_id')
    if (override) this.report.mapped(override, 'models[].upstream_model')
    const said = textOf(deployment) ?? catalogName(textOf(override))?.model ?? textOf(override)
    const name = said !== undefined && /\s/.test(said) ? undefined : said
    if (name !== said && (deployment ?? override))
      this.report.lost((deployment ?? override) as Node, 'the name of a model at its vendor has no spaces', 'client')
    return {
      provider: provider.name,
      upstream: name === undefined ? '*' : upstreamName({ vendor, model: name }).upstream,
    }
  }

  /** Speaks of the fields of a node that are not read together with others. */
  #tellFields(node: Node): void {
    for (const [key, one] of membersOf(node)) {
      const name = snakeCase(key)
      if (isEmpty(one)) this.report.default(one, 'says nothing')
      else if (name === 'override_params') {
        for (const [parameter, value] of membersOf(one))
          if (parameter !== 'model') this.report.lost(value, 'set defaults in a pipeline: docs/recipes/defaults.yaml')
      } else if (name === 'name') this.report.default(one, 'places have no names')
      else if (name === 'retry' && one.path.includes('.'))
        this.report.lost(one, 'tries are counted for a request as a whole: resilience.retries.tries')
      else if (!handled.test(name)) {
        const [, advice, weight] = lostFields.find(([shape]) => shape.test(name)) ?? []
        this.report.lost(one, advice ?? `there is no such setting${isSecretName(name) ? ' of a provider' : ''}`, weight)
      }
    }
  }

  #tellWeight(target: Node, mode: string): void {
    const weight = member(target, 'weight')
    if (weight === undefined) return
    if (mode === 'loadbalance') this.report.mapped(weight, 'models[].deployments[].weight')
    else this.report.default(weight, 'targets are tried in order')
  }

  #told(mode: Node | undefined, to: string): void {
    if (mode) this.report.mapped(mode, to)
  }

  #readRetry(retry: Node | undefined): void {
    const attempts = member(retry, 'attempts')
    const number = numberOf(attempts)
    if (attempts && number !== undefined && number >= 0) {
      const tries = Math.min(10, Math.round(number) + 1)
      this.draft.set('resilience.retries.tries', tries)
      if (tries === Math.round(number) + 1) this.report.mapped(attempts, 'server_config.resilience.retries.tries')
      else this.report.changed(attempts, '10 is the most', 'server_config.resilience.retries.tries')
    }
    const codes = member(retry, 'on_status_codes')
    const statuses = itemsOf(codes).flatMap((one) => textOf(one) ?? [])
    if (codes === undefined || statuses.length === 0) return
    if (statuses.some((status) => !/^[45]\d\d$/.test(status)))
      return this.report.lost(codes, 'statuses are from 400 to 599')
    this.draft.set('resilience.retries.on', ['connect', 'timeout', ...statuses])
    this.report.changed(
      codes,
      'failed connections and timeouts are tried again, too',
      'server_config.resilience.retries.on',
    )
  }

  /** Conditions on the name of the model alone become models of these names. */
  #readConditions(name: string, node: Node, strategy: Node | undefined, inherited: Node | undefined): void {
    this.#tellFields(node)
    const timeout = member(node, 'request_timeout') ?? inherited
    for (const target of itemsOf(member(node, 'targets'))) {
      const own = member(target, 'name')
      if (own) this.#names.set(textOf(own) ?? '', target)
    }
    const mode = member(strategy, 'mode')
    if (mode) this.report.mapped(mode, 'models')
    for (const condition of itemsOf(member(strategy, 'conditions'))) {
      const query = member(condition, 'query')
      const then = member(condition, 'then')
      const target = this.#names.get(textOf(then) ?? '')
      const asked = modelsAsked(query)
      if (asked === undefined || target === undefined || then === undefined) {
        this.report.lost(
          condition,
          'conditions ask the name of the model alone; write a pipeline with switch: docs/own-endpoint.md',
          'client',
        )
        continue
      }
      for (const model of asked) this.#readNode(this.draft.modelName(model), target, timeout)
      if (query) this.report.mapped(query, 'models[].name')
      this.report.mapped(then, 'models[].provider')
    }
    const usual = member(strategy, 'default')
    const target = this.#names.get(textOf(usual) ?? '')
    if (usual && target) {
      this.#readNode(name, target, timeout)
      this.report.mapped(usual, 'models[].provider')
    }
  }
}

/** The usual variables of vendors whose keys are not in the file. */
function variablesOf(node: Node): readonly string[] {
  const model = textOf(member(member(node, 'override_params'), 'model'))
  const catalog = catalogName(model)?.slug
  const said = catalog ?? textOf(member(node, 'provider')) ?? textOf(member(node, 'virtual_key'))
  const vendor = said === undefined ? undefined : vendorOfSlug(said.replace(/^@/, ''))
  const variable = vendor === undefined ? undefined : vendors.get(vendor)?.variable
  const own = variable === undefined || textOf(member(node, 'api_key')) !== undefined ? [] : [variable]
  return [...own, ...itemsOf(member(node, 'targets')).flatMap(variablesOf)]
}

/** The names of models that a query asks for; undefined: it asks for something else. */
function modelsAsked(query: Node | undefined): readonly string[] | undefined {
  const [[key, asked] = ['', undefined], ...others] = membersOf(query)
  if (others.length > 0 || asked === undefined || key !== 'params.model') return undefined
  const direct = textOf(asked)
  if (direct !== undefined) return [direct]
  const [[operator, value] = ['', undefined], ...further] = membersOf(asked)
  if (further.length > 0 || !['$eq', '$in'].includes(operator)) return undefined
  const names = itemsOf(value).flatMap((one) => textOf(one) ?? [])
  return names.length > 0 && names.every((one) => !one.includes('*')) ? names : undefined
}

/** The parts of a name such as `@openai-production-1a2b/gpt-4o`, which says whose model it is; undefined: it does not. */
function catalogName(name: string | undefined): { readonly slug: string; readonly model: string } | undefined {
  const [, slug, model] = /^@([^/]+)\/(.+)$/.exec(name ?? '') ?? []
  return slug === undefined || model === undefined ? undefined : { slug, model }
}

/** The vendor of a name such as `openai-production-1a2b`. */
function vendorOfSlug(slug: string): string | undefined {
  const words = slug.toLowerCase().split(/[-_]/)
  for (let count = words.length; count > 0; count -= 1) {
    const vendor = vendorNamed(words.slice(0, count).join('-'))
    if (vendor !== undefined) return vendor
  }
  return undefined
}

/** The address of a resource in Azure, by its name. */
function hostOf(node: Node): Node {
  const text = `https://${node.text}.openai.azure.com`
  return { ...node, value: text, text }
}
