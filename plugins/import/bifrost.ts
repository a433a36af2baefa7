import type { Json, JsonObject } from '../../engine/index.ts'
import { isNarrow, servedBy, VirtualKeys } from './bifrost-keys.ts'
import { Draft, freeName, variableNamed } from './draft.ts'
import { providerFor, reserve, tellNames, vendorNamed } from './foreign.ts'
import type { Connection } from './foreign.ts'
import { readHeaders } from './headers.ts'
import type { TakenKey } from './keys.ts'
import { serverAddress } from './litellm-mcp.ts'
import { Report } from './report.ts'
import { at, flagOf, isEmpty, itemsOf, membersOf, numberOf, readTree, textOf, Unreadable } from './tree.ts'
import type { Node } from './tree.ts'
import { upstreamName } from './vendors.ts'

/** The variable that a text of Bifrost stands for; undefined: it is a text. */
function bifrostVariable(text: string): string | undefined {
  const [, name] = /^env\.([\w-]+)$/.exec(text) ?? []
  return name === undefined ? undefined : variableNamed(name)
}

/** Paths of sections, which never speak for their members unless they are lost. */
export function isBifrostSection(path: string): boolean {
  return (
    /^[^.[]*$/.test(path) ||
    /^providers\.[^.[]+(?:\.keys\[\d+\](?:\.\w+_key_config)?|\.network_config)?$/.test(path) ||
    /^governance\.virtual_keys\[\d+\]$/.test(path)
  )
}

/** What is said of sections and fields without a place. */
const lostSections: Readonly<Record<string, readonly [advice: string, isLimit?: boolean]>> = {
  plugins: ['plugins of Bifrost are not run; stages and diagnostics channels: plugins/README.md'],
  config_store: ['the gateway has a database of its own: DATABASE_URL'],
  logs_store: ['the request log is in the database of the gateway'],
  vector_store: ['answers are not cached'],
  cluster_config: ['gateways share a database and REDIS_URL'],
  guardrails_config: ['write guards: docs/guards.md has the kinds', true],
  guardrails: ['write guards: docs/guards.md has the kinds', true],
  auth_config: ['members sign in with a password: docs/admin.md'],
  client: ['settings of the gateway are in server_config'],
  framework: ['prices are shipped, or written in models[].pricing'],
  encryption_key: ['SLUICE_SECRET, or data/secret, seals what is stored'],
}

/** What was read of a configuration of Bifrost. */
export interface ReadBifrost {
  readonly draft: Draft
  readonly report: Report
  readonly keys: readonly TakenKey[]
}

/** Reads a configuration of Bifrost. Rejects with `Unreadable`. */
export async function readBifrost(path: string, name: string): Promise<ReadBifrost> {
  const root = await readTree(path, name)
  if (root.kind !== 'map') throw new Unreadable(`${name} is no configuration: it has no fields`)
  const reader = new BifrostReader(root)
  reader.read()
  return reader
}

class BifrostReader {
  readonly report = new Report()
  readonly draft = new Draft(bifrostVariable, this.report)
  readonly keys: TakenKey[] = []
  /** Servers by the names and the ids that Bifrost has for them. */
  readonly servers = new Map<string, JsonObject>()
  readonly #root: Node
  #isWeighted = false

  constructor(root: Node) {
    this.#root = root
  }

  read(): void {
    reserve(this.draft, [this.#root])
    for (const [name, provider] of membersOf(at(this.#root, 'providers'))) this.#readProvider(name, provider)
    for (const model of this.draft.models.values()) {
      if (model.places.length > 1) this.#isWeighted = true
      else for (const place of model.places) delete place.weight
    }
    if (this.#isWeighted) this.draft.set('provider_selection.strategy', 'weighted')
    for (const server of itemsOf(at(this.#root, 'mcp', 'client_configs'))) this.#readServer(server)
    this.keys.push(...new VirtualKeys(this.#root, this).read())
    for (const [section, [advice, isLimit]] of Object.entries(lostSections)) {
      const node = at(this.#root, section)
      if (node && !isEmpty(node)) this.report.lost(node, advice, isLimit === true ? 'limit' : undefined)
    }
    for (const name of ['$schema', 'version']) {
      const node = at(this.#root, name)
      if (node) this.report.default(node, 'says nothing to the gateway')
    }
    tellNames([this.#root], /^env\.([\w-]+)$/, this.report)
    this.report.complete([this.#root], isBifrostSection)
  }

  #readProvider(name: string, node: Node): void {
    const custom = at(node, 'custom_provider_config')
    const base = textOf(at(custom, 'base_provider_type'))
    const vendor = vendorNamed(base ?? name)
    if (vendor === undefined) {
      return this.report.lost(
        node,
        'no provider type speaks to this vendor; where it serves chat completions, use a compatible provider',
        'client',
      )
    }
    if (custom) this.report.mapped(custom, 'providers[].type')
    const keys = itemsOf(at(node, 'keys'))
    const connection = this.#connectionOf(name, at(node, 'network_config'))
    if (keys.length === 0) this.#addKey({ name, vendor, connection }, undefined)
    for (const key of keys) this.#addKey({ name, vendor, connection }, key)
    for (const [field, one] of membersOf(node)) {
      if (['keys', 'network_config', 'custom_provider_config'].includes(field)) continue
      if (field === 'concurrency_and_buffer_size')
        this.report.lost(one, 'max_connections of a provider bounds its connections')
      else if (field === 'proxy_config') this.report.lost(one, 'providers are asked without a proxy')
      else if (field.startsWith('send_back_raw')) this.report.lost(one, 'set logging.capture to keep bodies')
    }
  }

  #connectionOf(provider: string, node: Node | undefined): Connection {
    const headers: Record<string, Json> = {}
    let total: string | undefined
    for (const [field, one] of membersOf(node)) {
      const seconds = numberOf(one)
      if (field === 'base_url') this.report.mapped(one, 'providers[].base_url')
      else if (field === 'default_request_timeout_in_seconds' && seconds !== undefined && seconds > 0) {
        total = `${Math.round(seconds * 1000)}ms`
        this.report.mapped(one, 'providers[].timeouts.total')
      } else if (field === 'max_retries' && seconds !== undefined && seconds >= 0) {
        const tries = Math.min(10, Math.round(seconds) + 1)
        const before = this.draft.settings.get('resilience.retries.tries')
        if (before === undefined || (typeof before === 'number' && before < tries))
          this.draft.settings.set('resilience.retries.tries', tries)
        this.report.changed(
          one,
          'tries are the same for all providers: the most of them',
          'server_config.resilience.retries.tries',
        )
      } else if (field === 'extra_headers') {
        const read = readHeaders(one, {
          draft: this.draft,
          report: this.report,
          to: 'providers[].headers',
          value: (value, header) => this.draft.hidden(value, header, `${provider}_${header}`),
        })
        Object.assign(headers, read)
      } else if (field.startsWith('retry_backoff'))
        this.report.lost(one, 'waits are the same for all providers: resilience.retries.wait')
    }
    return { address: at(node, 'base_url'), headers, total }
  }

  /** Adds a provider for a key, and the models that it serves. */
  #addKey(
    { name, vendor, connection }: { name: string; vendor: string; connection: Connection },
    key: Node | undefined,
  ): void {
    if (at(key, 'vertex_key_config') && key)
      return this.report.lost(key, 'use provider type gemini with an API key', 'client')
    const value = at(key, 'value')
    const azure = at(key, 'azure_key_config')
    const bedrock = at(key, 'bedrock_key_config')
    const given = (node: Node | undefined) => {
      if (node && textOf(node) !== undefined) this.report.mapped(node, 'providers[]')
      return textOf(node) === undefined ? undefined : node
    }
    const provider = providerFor(
      vendor,
      {
        ...connection,
        address: given(at(azure, 'endpoint')) ?? connection.address,
        key: given(value),
        version: given(at(azure, 'api_version')),
        region: given(at(bedrock, 'region')),
        accessKey: given(at(bedrock, 'access_key')),
        secretKey: given(at(bedrock, 'secret_key')),
        sessionToken: given(at(bedrock, 'session_token')),
        isOff: flagOf(at(key, 'enabled')) === false,
      },
      this,
    )
    const weightNode = at(key, 'weight')
    const weight = numberOf(weightNode) ?? 1
    if (weightNode) this.report.mapped(weightNode, 'models[].deployments[].weight')
    for (const field of ['name', 'id', 'enabled']) {
      const node = at(key, field)
      if (node && field === 'enabled') this.report.mapped(node, 'providers[].enabled')
      else if (node) this.report.default(node, 'keys of providers have no names')
    }
    const models = at(key, 'models')
    const { isOpen, listed, serves } = servedBy(key, isNarrow(this.#root))
    const denied = at(key, 'blacklisted_models')
    if (denied && !isEmpty(denied) && isOpen)
      this.report.lost(denied, 'every model of a pattern is served: list those of the key in models', 'limit')
    else if (denied && !isEmpty(denied)) this.report.mapped(denied, 'models[]')
    const deployments = [...membersOf(at(azure, 'deployments')), ...membersOf(at(bedrock, 'deployments'))]
    if (models && !isEmpty(models)) this.report.mapped(models, 'models[]')
    else if (models && isNarrow(this.#root))
      this.report.changed(
        models,
        'it serves no model: an empty list is none from version 2 on; write ["*"] for all',
        'models[]',
        'client',
      )
    for (const [model, node] of deployments)
      if (serves(model)) this.report.mapped(node, 'models[].upstream_model')
      else this.report.default(node, 'the key does not serve it')
    const named = new Set([...listed, ...deployments.map(([model]) => model)])
    for (const model of [...named].filter((one) => one !== '*' && serves(one))) {
      const deployment = textOf(deployments.find(([one]) => one === model)?.[1])
      const upstream = deployment ?? upstreamName({ vendor, model }).upstream
      this.#place(`${name}/${model}`, { provider: provider.name, upstream, weight }, models ?? key)
    }
    if (isOpen) this.#place(`${name}/*`, { provider: provider.name, upstream: '*', weight }, key)
  }

  #place(name: string, place: { provider: string; upstream: string; weight: number }, from: Node | undefined): void {
    if (place.upstream === '' || /\s/.test(place.upstream))
      return from && this.report.lost(from, 'the name of a model at its vendor has no spaces', 'client')
    const model = this.draft.model(this.draft.modelName(name))
    const same = model.places.find((one) => one.provider === place.provider && one.upstream === place.upstream)
    if (same) same.weight = (same.weight ?? 0) + place.weight
    else if (model.places.length < 16) model.places.push({ ...place })
    else if (from) this.report.lost(from, 'a model has at most 16 places')
  }

  #readServer(entry: Node): void {
    const kind = textOf(at(entry, 'connection_type'))
    const address = at(entry, 'connection_string')
    const program = at(entry, 'stdio_config')
    const name = freeName(
      (textOf(at(entry, 'name')) ?? '')
        .trim()
        .replaceAll(/[\s/]+/g, '-')
        .slice(0, 250) || 'server',
      new Set(this.draft.mcpServers.map((one) => one['name'] as string)),
    )
    const record: Record<string, Json> = { name, transport: kind === 'stdio' ? 'stdio' : 'http' }
    const place = kind === 'http' && address ? serverAddress(address, name, this.draft) : undefined
    if (address && place) {
      record['url'] = place.url
      this.report.mapped(address, 'mcp_servers[].url')
      const read = readHeaders(at(entry, 'headers'), {
        draft: this.draft,
        report: this.report,
        to: 'mcp_servers[].headers',
        value: (node, header) => this.draft.hidden(node, header, `${name}_${header}`),
      })
      const headers = { ...place.headers, ...read }
      if (Object.keys(headers).length > 0) record['headers'] = headers
    } else if (kind === 'stdio' && textOf(at(program, 'command')) !== undefined) {
      const command = at(program, 'command') as Node
      record['command'] = this.draft.command(command, name)
      record['arguments'] = this.draft.words(itemsOf(at(program, 'args')), name)
      for (const node of [command, ...itemsOf(at(program, 'args'))]) this.report.mapped(node, 'mcp_servers[]')
      const variables = itemsOf(at(program, 'envs'))
      // Each is the name of a variable of the gateway.
      const named = variables.filter((one) => /^[A-Za-z_]\w*$/.test(one.text) && one.text !== '__proto__')
      for (const one of variables)
        if (named.includes(one)) this.report.mapped(one, 'mcp_servers[].environment')
        else this.report.lost(one, 'is no name of a variable')
      record['environment'] = Object.fromEntries(named.map((one) => [one.text, this.draft.variable(one.text)]))
    } else return this.report.lost(entry, 'its transport is not spoken; use the address of its MCP endpoint', 'client')
    for (const field of ['name', 'connection_type']) {
      const node = at(entry, field)
      if (node && field === 'name' && textOf(node) !== name)
        this.report.changed(node, `clients call it "${name}"`, 'mcp_servers[].name', 'client')
      else if (node) this.report.mapped(node, 'mcp_servers[]')
    }
    for (const field of ['id', 'client_id', 'name']) {
      const known = textOf(at(entry, field))
      if (known !== undefined) this.servers.set(known, record)
    }
    const tools = at(entry, 'tools_to_execute')
    const allowed = itemsOf(tools).flatMap((one) => textOf(one) ?? [])
    if (tools && !allowed.includes('*')) record['tools'] = { allow: allowed }
    if (tools) this.report.mapped(tools, 'mcp_servers[].tools')
    this.draft.mcpServers.push(record)
  }
}
