import { hash } from 'node:crypto'
import type { Budget, Json, JsonObject, RateLimit } from '../../engine/index.ts'
import { duration, isDuration } from '../../engine/kit.ts'
import { freeName } from './draft.ts'
import type { Draft } from './draft.ts'
import type { TakenKey } from './keys.ts'
import { periodOf } from './period.ts'
import type { Report } from './report.ts'
import { at, flagOf, isEmpty, itemsOf, leavesOf, numberOf, textOf } from './tree.ts'
import type { Node } from './tree.ts'

/** What is known of a configuration before its keys are read. */
interface Known {
  readonly draft: Draft
  readonly report: Report
  /** Servers by the names and the ids that Bifrost has for them. */
  readonly servers: ReadonlyMap<string, JsonObject>
}

/** Whether an empty list of a configuration is everything, as it was before version 2; without a version, it is nothing. */
function isFirstVersion(root: Node): boolean {
  return numberOf(at(root, 'version')) === 1
}

/**
 * Whether an empty list of models of a key of a provider is none. A file without a version has such lists from before,
 * when it was everything: a key that serves nothing would have no use.
 */
export function isNarrow(root: Node): boolean {
  return (numberOf(at(root, 'version')) ?? 1) >= 2
}

/** What a key of a provider serves. */
interface Served {
  /** Whether that is every model but those that are denied. */
  readonly isOpen: boolean
  readonly listed: readonly string[]
  readonly denied: readonly string[]
  readonly serves: (model: string) => boolean
}

/** What a key of a provider serves, or a provider without keys. */
export function servedBy(key: Node | undefined, isNarrowed: boolean): Served {
  const textsOf = (field: string) => itemsOf(at(key, field)).flatMap((one) => textOf(one) ?? [])
  const [listed, denied] = [textsOf('models'), textsOf('blacklisted_models')]
  const isEvery = listed.includes('*') || (listed.length === 0 && !(isNarrowed && at(key, 'models') !== undefined))
  return {
    isOpen: isEvery && !denied.includes('*'),
    listed,
    denied,
    serves: (model) => (isEvery || hasModel(listed, model)) && !hasModel(denied, model),
  }
}

/** Whether a list of Bifrost names a model, however it is capitalized. */
function hasModel(list: readonly string[], model: string): boolean {
  return list.includes('*') || list.some((one) => one.toLowerCase() === model.toLowerCase())
}

/** The virtual keys of a configuration of Bifrost. */
export class VirtualKeys {
  readonly #root: Node
  readonly #draft: Draft
  readonly #report: Report
  readonly #servers: Known['servers']
  readonly #keys: TakenKey[] = []

  constructor(root: Node, { draft, report, servers }: Known) {
    this.#root = root
    this.#servers = servers
    this.#draft = draft
    this.#report = report
  }

  /** Reads `governance`. Returns the keys whose texts stand in the file. */
  read(): readonly TakenKey[] {
    const node = at(this.#root, 'governance')
    const isFirst = isFirstVersion(this.#root)
    const names = new Set<string>()
    for (const entry of itemsOf(at(node, 'virtual_keys'))) this.#readVirtualKey(entry, isFirst, names)
    const used = (list: string) => itemsOf(at(node, list))
    for (const one of [...used('budgets'), ...used('rate_limits')])
      if (!leavesOf(one).some((leaf) => this.#report.has(leaf)))
        this.#report.lost(one, 'no virtual key has it; teams and customers are not kept', 'limit')
    for (const list of ['teams', 'customers', 'routing_rules', 'model_configs', 'providers', 'auth_config'])
      for (const one of used(list))
        this.#report.lost(
          one,
          list === 'routing_rules'
            ? 'write a pipeline with switch: docs/own-endpoint.md'
            : 'there are no teams and customers; give keys tags and budgets',
          list === 'routing_rules' ? 'client' : 'limit',
        )
    return this.#keys
  }

  #readVirtualKey(entry: Node, isFirst: boolean, names: Set<string>): void {
    const value = at(entry, 'value')
    const text = textOf(value)
    const given = textOf(at(entry, 'name')) ?? textOf(at(entry, 'id')) ?? 'virtual-key'
    const name = freeName(given.trim().replaceAll(/\s+/g, '-').slice(0, 250), names)
    if (value === undefined || text === undefined) {
      this.#report.keys.lost.push(name)
      return this.#report.lost(entry, 'its text is not in the file: make a new key', 'client')
    }
    names.add(name)
    const { models, isWider } = this.#modelsOf(entry, isFirst)
    const end = this.#endOf(entry)
    const budget = this.#budgetOf(entry)
    const limit = this.#rateLimitOf(entry)
    const rateLimit = limit === 'none' ? undefined : limit
    const isStopped = limit === 'none' || isWider || end === 'unknown'
    if (isStopped) this.#report.keys.disabled.push(name)
    const isOff = flagOf(at(entry, 'is_active')) === false || isStopped
    const servers = this.#serversOf(entry, isFirst)
    for (const field of ['name', 'value', 'is_active']) {
      const node = at(entry, field)
      if (node) this.#report.mapped(node, 'api_keys')
    }
    for (const field of ['id', 'description']) {
      const node = at(entry, field)
      if (node) this.#report.default(node, 'keys have ids of their own')
    }
    const tags: Record<string, string> = {}
    for (const field of ['team_id', 'customer_id']) {
      const node = at(entry, field)
      const id = textOf(node)
      if (node === undefined || id === undefined) continue
      tags[field.replace('_id', '')] = id.slice(0, 256)
      this.#report.changed(node, 'its budget and its limits are not kept', 'api_keys[].tags', 'limit')
    }
    const fields = {
      ...(models === undefined ? {} : { models: [...models] }),
      ...(budget === undefined ? {} : { budget }),
      ...(Object.keys(tags).length === 0 ? {} : { tags }),
    }
    if (this.#draft.isVariable(value)) {
      this.#draft.apiKeys.push({
        name,
        key: this.#draft.text(value),
        ...(fields as Record<string, Json>),
        ...(servers === undefined ? {} : { mcp_servers: servers }),
        ...(rateLimit === undefined ? {} : { rate_limit: rateLimit as unknown as Json }),
        ...(typeof end === 'number' ? { expires_at: new Date(end).toISOString() } : {}),
        ...(isOff ? { disabled: true } : {}),
      })
      return
    }
    this.#keys.push({
      fields: {
        name,
        ...fields,
        ...(servers === undefined ? {} : { mcpServers: servers }),
        ...(rateLimit === undefined ? {} : { rateLimit }),
        ...(typeof end === 'number' ? { expiresAt: end } : {}),
        ...(isOff ? { disabled: true } : {}),
      },
      hash: hash('sha256', text),
      hint: text.slice(-4),
    })
  }

  /** When a virtual key ends: milliseconds since 1970. */
  #endOf(entry: Node): number | 'unknown' | undefined {
    const node = at(entry, 'expires_at')
    if (node === undefined || isEmpty(node)) return undefined
    const end = Date.parse(textOf(node) ?? '')
    if (Number.isNaN(end)) this.#report.changed(node, 'disabled: it is no time', 'api_keys[].disabled', 'client')
    else this.#report.mapped(node, 'api_keys[].expires_at')
    return Number.isNaN(end) ? 'unknown' : end
  }

  /** The models that a virtual key may use (undefined: all), and whether that is more than before. */
  #modelsOf(
    entry: Node,
    isFirst: boolean,
  ): { readonly models: readonly string[] | undefined; readonly isWider: boolean } {
    const configs = itemsOf(at(entry, 'provider_configs'))
    if (configs.length === 0) return { models: isFirst ? undefined : [], isWider: false }
    const all = [...this.#draft.models.keys()]
    const found = new Set<string>()
    let isWider = false
    for (const config of configs) {
      const providerNode = at(config, 'provider')
      const provider = textOf(providerNode) ?? ''
      const list = at(config, 'allowed_models')
      const allowed = itemsOf(list).flatMap((one) => textOf(one) ?? [])
      const isOpen = allowed.includes('*') || (allowed.length === 0 && isFirst)
      const { serves, hasGap } = this.#served(config, provider, isFirst)
      const isServed = (name: string) => serves(name.slice(provider.length + 1))
      const own = all.filter((name) => name.startsWith(`${provider}/`) && isServed(name))
      if (providerNode) this.#report.mapped(providerNode, 'api_keys[].models')
      const before = found.size
      if (isOpen) own.forEach((name) => found.add(name))
      const missing: string[] = []
      for (const model of isOpen ? [] : allowed) {
        const name = model.startsWith(`${provider}/`) ? model : `${provider}/${model}`
        if ((all.includes(name) || all.includes(`${provider}/*`)) && isServed(name)) found.add(name)
        else missing.push(name)
      }
      if (list && missing.length > 0)
        this.#report.changed(
          list,
          `models that are not there are left out: ${missing.join(', ')}`,
          'api_keys[].models',
          'client',
        )
      else if (list) this.#report.mapped(list, 'api_keys[].models')
      if (hasGap && found.has(`${provider}/*`)) {
        isWider = true
        this.#report.changed(
          list ?? providerNode ?? config,
          'disabled: of all models of a provider, its keys leave some out',
          'api_keys[].disabled',
          'client',
        )
      }
      const denied = at(config, 'blacklisted_models')
      if (denied && !isEmpty(denied)) {
        const left = itemsOf(denied).map((one) => one.text.replace(`${provider}/`, ''))
        for (const name of [...found].slice(before))
          if (hasModel(left, name.slice(provider.length + 1))) found.delete(name)
        if (found.has(`${provider}/*`)) {
          isWider = true
          this.#report.changed(
            denied,
            'disabled: of all models of a provider, none can be left out',
            'api_keys[].disabled',
            'client',
          )
        } else this.#report.mapped(denied, 'api_keys[].models')
      }
      const weight = at(config, 'weight')
      if (weight) this.#report.lost(weight, 'keys do not choose among providers; clients name the provider')
      for (const field of ['budget_id', 'rate_limit_id', 'budgets', 'rate_limits', 'rate_limit', 'budget'])
        for (const one of itemsOf(at(config, field)))
          this.#report.lost(one, 'keys have one budget and one limit for all providers', 'limit')
    }
    return { models: [...found], isWider }
  }

  /**
   * Whether one of the keys of a provider that a virtual key may use serves a model, and whether those that serve every
   * model leave some out that none of them serves.
   */
  #served(
    config: Node,
    provider: string,
    isFirst: boolean,
  ): { readonly serves: (model: string) => boolean; readonly hasGap: boolean } {
    const list = at(config, 'key_ids') ?? at(config, 'allowed_keys') ?? at(config, 'keys')
    const names = itemsOf(list).flatMap((one) =>
      [one, at(one, 'key_id'), at(one, 'id'), at(one, 'name')].flatMap((node) => textOf(node) ?? []),
    )
    const isBound = list !== undefined && !names.includes('*') && !(isEmpty(list) && isFirst)
    if (isBound)
      this.#report.changed(
        list,
        'the models of these keys are written out; every key that serves a model is used for it',
        'api_keys[].models',
      )
    else
      for (const leaf of list ? leavesOf(list) : []) this.#report.default(leaf, 'a model may be asked with every key')
    const keys = itemsOf(at(this.#root, 'providers', provider, 'keys'))
    if (!isBound && keys.length === 0) return { serves: () => true, hasGap: false }
    const served = keys
      .filter((key) => !isBound || ['name', 'id'].some((field) => names.includes(textOf(at(key, field)) ?? '')))
      .filter((key) => flagOf(at(key, 'enabled')) !== false)
      .map((key) => servedBy(key, isNarrow(this.#root)))
    const serves = (model: string) => served.some((one) => one.serves(model))
    return { serves, hasGap: served.some(({ isOpen, denied }) => isOpen && denied.some((model) => !serves(model))) }
  }

  /** The servers that a virtual key may use; undefined: as usual. */
  #serversOf(entry: Node, isFirst: boolean): readonly string[] | undefined {
    const configs = itemsOf(at(entry, 'mcp_configs'))
    if (configs.length === 0) return isFirst || this.#servers.size === 0 ? undefined : []
    const found = new Set<string>()
    for (const config of configs) {
      const known = ['mcp_client_name', 'mcp_client_id', 'client_name', 'name'].flatMap(
        (field) => textOf(at(config, field)) ?? [],
      )
      const server = known.map((one) => this.#servers.get(one)).find((one) => one !== undefined)
      const tools = itemsOf(at(config, 'tools_to_execute')).flatMap((one) => textOf(one) ?? [])
      const { allow } = (server?.['tools'] ?? {}) as { readonly allow?: readonly string[] }
      const isAll = tools.includes('*') || allow?.every((tool) => tools.includes(tool)) === true
      if (server === undefined) this.#report.lost(config, 'there is no such server', 'client')
      else if (isAll) {
        found.add(server['name'] as string)
        this.#report.mapped(config, 'api_keys[].mcp_servers')
      } else if (tools.length === 0) this.#report.mapped(config, 'api_keys[].mcp_servers')
      else
        this.#report.lost(
          config,
          'keys use all tools of a server: mcp_servers, and tools.allow of the server',
          'client',
        )
    }
    return [...found]
  }

  /** What a virtual key has of its own, or refers to. */
  #of(entry: Node, one: string, list: string): readonly Node[] {
    const reference = at(entry, `${one}_id`)
    const shared = itemsOf(at(this.#root, 'governance', list)).filter(
      (node) => textOf(at(node, 'id')) === textOf(reference) && reference !== undefined,
    )
    const byKey = itemsOf(at(this.#root, 'governance', list)).filter(
      (node) =>
        textOf(at(node, 'virtual_key_id')) !== undefined &&
        textOf(at(node, 'virtual_key_id')) === textOf(at(entry, 'id')),
    )
    if (reference && shared.length > 0) this.#report.mapped(reference, `api_keys[].${one}`)
    else if (reference && !isEmpty(reference)) this.#report.lost(reference, 'there is no such entry', 'limit')
    const own = at(entry, one)
    return [...itemsOf(at(entry, list)), ...(own?.kind === 'map' ? [own] : []), ...shared, ...byKey]
  }

  #budgetOf(entry: Node): Budget | undefined {
    const [budget, ...others] = this.#of(entry, 'budget', 'budgets')
    for (const other of others) this.#report.lost(other, 'keys have one budget', 'limit')
    const most = at(budget, 'max_limit')
    const usd = numberOf(most)
    if (most === undefined || usd === undefined) return undefined
    const reset = at(budget, 'reset_duration')
    const { period, told } = periodOf(textOf(reset))
    this.#report.mapped(most, 'api_keys[].budget.usd')
    // As before, a model without a price costs nothing.
    this.#draft.set('rate_limits.budget.unknown_price', 'allow')
    if (reset && told !== undefined) this.#report.changed(reset, told, 'api_keys[].budget.period', 'limit')
    else if (reset) this.#report.mapped(reset, 'api_keys[].budget.period')
    for (const field of ['id', 'last_reset', 'virtual_key_id', 'calendar_aligned']) {
      const node = at(budget, field)
      if (node) this.#report.default(node, 'budgets begin by the calendar')
    }
    const used = at(budget, 'current_usage')
    if (used && numberOf(used) === 0) this.#report.default(used, 'nothing was spent')
    else if (used) this.#report.lost(used, 'what was spent is counted anew', 'limit')
    return { usd: Math.min(1_000_000_000, Number(Math.max(0, usd).toFixed(6))), period }
  }

  /** `none`: it may send nothing at all. */
  #rateLimitOf(entry: Node): RateLimit | 'none' | undefined {
    const [limit, ...others] = this.#of(entry, 'rate_limit', 'rate_limits')
    for (const other of others) this.#report.lost(other, 'keys have one limit', 'limit')
    const read = (kind: 'request' | 'token') => {
      const most = at(limit, `${kind}_max_limit`)
      const reset = at(limit, `${kind}_reset_duration`)
      return { most, number: numberOf(most), reset, period: spanOf(textOf(reset)) }
    }
    const [requests, tokens] = [read('request'), read('token')]
    const nothing = [requests, tokens].find(({ number }) => number !== undefined && number < 1)
    if (nothing?.most) {
      this.#report.changed(nothing.most, 'disabled: it might send no request', 'api_keys[].disabled', 'client')
      for (const leaf of limit === undefined ? [] : leavesOf(limit))
        if (!this.#report.has(leaf)) this.#report.default(leaf, 'the key is disabled')
      return 'none'
    }
    const parts = [requests, tokens].filter(({ number }) => number !== undefined)
    const [first] = parts
    for (const field of [
      'id',
      'virtual_key_id',
      'token_current_usage',
      'request_current_usage',
      'token_last_reset',
      'request_last_reset',
    ]) {
      const node = at(limit, field)
      if (node) this.#report.default(node, 'limits are counted anew')
    }
    if (first === undefined) return undefined
    const made: Record<string, number> = {}
    for (const part of [requests, tokens]) {
      if (part.most === undefined || part.number === undefined) continue
      const isKept = parts.includes(part) && part.period !== undefined && part.period === first.period
      for (const node of [part.most, part.reset])
        if (node && isKept) this.#report.mapped(node, 'api_keys[].rate_limit')
        else if (node) this.#report.lost(node, 'limits have one period, from 1s to 30d: rate_limit.period', 'limit')
      if (isKept) made[part === requests ? 'requests' : 'tokens'] = Math.round(part.number)
    }
    return Object.keys(made).length === 0 || first.period === undefined ? undefined : { ...made, period: first.period }
  }
}

/** A span of time of Bifrost as the period of a limit; undefined: there is none. */
function spanOf(text: string | undefined): string | undefined {
  const [, number = '', unit = ''] = /^(\d{1,6})(s|m|h|d|w|M)$/.exec(text ?? '') ?? []
  const days = { w: 7, M: 30 }[unit]
  const span = days === undefined ? `${number}${unit}` : `${Number(number) * days}d`
  return isDuration(span) && duration(span) >= 1000 && duration(span) <= 30 * 86_400_000 ? span : undefined
}
