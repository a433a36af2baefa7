import type { Json } from '../../engine/index.ts'
import { isPattern } from '../../engine/kit.ts'
import { escaped, freeName } from './draft.ts'
import type { Draft, DraftModel, DraftPlace } from './draft.ts'
import { addPrice, noLimits, readDeployment, readPrice, textsIn } from './litellm-deployment.ts'
import type { Deployment, ValueOf } from './litellm-deployment.ts'
import { PriceList, isPrice } from './pricing.ts'
import type { Report } from './report.ts'
import { at, flagOf, isEmpty, itemsOf, membersOf, numberOf, textOf } from './tree.ts'
import type { Node } from './tree.ts'

/** Most places of a model, most aliases and most fallbacks (the record type `model`). */
const most = { places: 16, aliases: 32, fallbacks: 16 } as const

/** Whether a value was sealed, and could not be opened. */
export type IsUnopened = (node: Node) => boolean

/** A deployment of a model, with what its weight may be made of. */
interface Entry {
  readonly place: DraftPlace
  readonly deployment: Deployment
  readonly parameters: ReadonlyMap<string, Node>
}

/** What of `model_info` the name of a protocol of a compatible provider follows from. */
const protocols: Readonly<Record<string, string>> = {
  chat: 'chat',
  completion: 'chat',
  responses: 'responses',
  embedding: 'embeddings',
  image_generation: 'images',
  image_edit: 'image-edits',
  audio_speech: 'speech',
  audio_transcription: 'transcriptions',
}

/** The protocols that a compatible provider offers unless it says so (its presets: `plugins/providers/presets.ts`). */
const usualOffers: Readonly<Record<string, readonly string[]>> = {
  deepinfra: ['embeddings'],
  fireworks: ['embeddings'],
  groq: ['speech', 'transcriptions', 'translations'],
  mistral: ['embeddings', 'transcriptions'],
  nvidia: ['embeddings'],
  openrouter: ['responses', 'embeddings'],
  sambanova: ['embeddings'],
  together: ['embeddings', 'images', 'speech', 'transcriptions'],
  xai: ['responses', 'images'],
}

/** Reads `model_list` and `credential_list`, and finds models by the names that LiteLLM has for them. */
export class LitellmModels {
  readonly #draft: Draft
  readonly #report: Report
  /** The names of models by those that they had. */
  readonly #names = new Map<string, string>()
  readonly #groups = new Map<string, Set<string>>()
  readonly #credentials = new Map<string, Node>()
  readonly #entries = new Map<string, Entry[]>()
  readonly #prices = new Map<string, PriceList>()
  /** Where the facts of models stand, by their names and fields. */
  readonly #facts = new Map<string, Node>()
  readonly #valueOf: ValueOf
  #isUnopened: IsUnopened = () => false

  constructor(draft: Draft, report: Report, valueOf: ValueOf) {
    this.#draft = draft
    this.#report = report
    this.#valueOf = valueOf
  }

  /** Reads named credentials, which deployments refer to. */
  readCredentials(list: Node | undefined, isUnopened?: IsUnopened): void {
    this.#isUnopened = isUnopened ?? this.#isUnopened
    for (const entry of itemsOf(list)) {
      const name = at(entry, 'credential_name')
      const values = at(entry, 'credential_values')
      const text = textOf(name)
      if (name === undefined || text === undefined) {
        this.#report.lost(entry, 'it has no name: credential_name')
        continue
      }
      this.#report.mapped(name, 'providers')
      if (values) this.#credentials.set(text, values)
      for (const [, node] of membersOf(at(entry, 'credential_info')))
        this.#report.default(node, 'says nothing to the gateway')
    }
  }

  /** Reads the deployments of models. */
  readList(list: Node | undefined, isUnopened?: IsUnopened): void {
    this.#isUnopened = isUnopened ?? this.#isUnopened
    for (const entry of itemsOf(list)) this.#readEntry(entry)
    for (const [, values] of this.#credentials)
      for (const [, node] of membersOf(values))
        if (!this.#report.has(node)) this.#report.default(node, 'no model uses it')
  }

  /** Weighs the places of models, when all are known. */
  finish(): void {
    for (const [name, entries] of this.#entries) {
      const model = this.#draft.models.get(name)
      if (model) this.#weigh(model, entries)
    }
    for (const provider of this.#draft.providers.values()) {
      if (provider.record['type'] !== 'compatible') continue
      const preset = provider.record['preset']
      const usual = ['chat', ...(typeof preset === 'string' ? (usualOffers[preset] ?? []) : [])]
      const further = [...provider.needs].filter((one) => !usual.includes(one))
      if (further.length > 0) provider.record['offers'] = [...usual, ...further]
    }
  }

  /** The written name of a model that LiteLLM knows by this name; undefined: there is none. */
  named(name: string): string | undefined {
    const written = this.#names.get(name)
    if (written !== undefined) return written
    // Those of a pattern have no record of their own, which fallbacks and aliases need.
    const pattern = [...this.#draft.models.values()]
      .filter((model) => isPattern(model.name) && name.startsWith(model.name.slice(0, -1)) && !name.includes('*'))
      .toSorted((one, other) => other.name.length - one.name.length)[0]
    if (pattern === undefined || name.length < pattern.name.length || /\s/.test(name)) return undefined
    const rest = name.slice(pattern.name.length - 1)
    const free = this.#draft.modelName(name)
    // Another model was given this name, because its own has spaces.
    if (this.#draft.models.has(free)) return undefined
    const model = this.#draft.model(free)
    for (const { provider, upstream, weight } of pattern.places)
      model.places.push({
        provider,
        upstream: upstream.replace('*', () => rest),
        ...(weight === undefined ? {} : { weight }),
      })
    Object.assign(model.fields, pattern.fields)
    this.#names.set(name, model.name)
    return model.name
  }

  /** Whether a name is that of a group of models (`access_groups`), and which they are. */
  group(name: string): readonly string[] | undefined {
    const found = this.#groups.get(name)
    return found && [...found]
  }

  /** Names a model by an alias. Returns why not. */
  alias(alias: string, target: string): string | undefined {
    const name = this.named(target)
    const model = name === undefined ? undefined : this.#draft.models.get(name)
    if (model === undefined) return 'there is no such model'
    if (alias === '' || /[\s*]/.test(alias) || this.#draft.modelName(alias) !== alias)
      return 'no alias can have this name'
    if (this.#draft.models.has(alias) || this.#names.has(alias))
      return 'a model has this name; give one of them another'
    if (model.aliases.length >= most.aliases) return `a model has at most ${most.aliases} aliases`
    model.aliases.push(alias)
    this.#names.set(alias, model.name)
    return undefined
  }

  /**
   * Adds a fallback. Returns why not; empty: it need not be added.
   * @param of a model, or the name that LiteLLM has for it
   */
  fallback(of: string | DraftModel, to: string): string | undefined {
    const model = typeof of === 'string' ? this.#draft.models.get(this.named(of) ?? '') : of
    const other = this.named(to)
    if (model === undefined) return 'there is no such model'
    if (other === undefined || isPattern(other)) return 'there is no such model to fall back to'
    if (other === model.name || model.fallbacks.includes(other)) return ''
    if (model.fallbacks.length >= most.fallbacks) return `a model has at most ${most.fallbacks} fallbacks`
    model.fallbacks.push(other)
    return undefined
  }

  /** Every model that is served. */
  get all(): readonly DraftModel[] {
    return [...this.#draft.models.values()]
  }

  #readEntry(entry: Node): void {
    const nameNode = at(entry, 'model_name')
    const given = textOf(nameNode)
    if (nameNode === undefined || given === undefined) return this.#report.lost(entry, 'it has no name: model_name')
    if (this.#draft.isVariable(nameNode))
      return this.#report.lost(entry, 'its name stands in a variable; write the name')
    if (given.slice(0, -1).includes('*'))
      return this.#report.lost(entry, '"*" may stand at the end of a name only', 'client')
    const parameters = this.#parametersOf(entry)
    if (parameters === undefined) return
    for (const name of ['rpm', 'tpm']) {
      const limit = at(entry, name)
      if (limit && !isEmpty(limit)) this.#report.lost(limit, noLimits, 'limit')
    }
    const deployment = readDeployment(entry, parameters, {
      draft: this.#draft,
      report: this.#report,
      isUnopened: this.#isUnopened,
      valueOf: this.#valueOf,
    })
    if (deployment === undefined) return
    const name = this.#nameOf(given)
    if (name === given) this.#report.mapped(nameNode, 'models[].name')
    else this.#report.changed(nameNode, `clients call it "${name}"`, 'models[].name', 'client')
    const model = this.#draft.model(name)
    this.#readInfo(at(entry, 'model_info'), model, deployment)
    const prices = this.#prices.get(name) ?? new PriceList()
    this.#prices.set(name, prices)
    for (const price of deployment.prices.all) addPrice(price, prices, this.#report)
    const { value: pricing } = prices
    if (pricing !== undefined) model.fields['pricing'] = pricing
    this.#needs(deployment, at(entry, 'model_info', 'mode'), model)
    this.#addPlace(entry, model, { deployment, parameters })
  }

  /** The parameters of a deployment: its own, then those of its credential. */
  #parametersOf(entry: Node): ReadonlyMap<string, Node> | undefined {
    const own = at(entry, 'litellm_params')
    if (own?.kind !== 'map') {
      this.#report.lost(entry, 'it has no litellm_params')
      return undefined
    }
    const reference = at(own, 'litellm_credential_name')
    const credential = this.#credentials.get(textOf(reference) ?? '')
    if (reference && credential) this.#report.mapped(reference, 'providers')
    else if (reference) this.#report.lost(reference, 'there is no such credential in credential_list')
    // A parameter without a value does not hide that of the credential.
    const said = [...own.members].filter(([name, node]) => !isEmpty(node) || at(credential, name) === undefined)
    return new Map([...(credential?.members ?? []), ...said])
  }

  #nameOf(given: string): string {
    const known = this.#names.get(given)
    if (known !== undefined) return known
    // Two names that differ in spaces alone stay two models.
    const name = freeName(this.#draft.modelName(given), new Set(this.#draft.models.keys()))
    this.#names.set(given, name)
    return name
  }

  #addPlace(entry: Node, model: DraftModel, { deployment, parameters }: Omit<Entry, 'place'>): void {
    const { provider, upstream } = deployment
    const entries = this.#entries.get(model.name) ?? []
    this.#entries.set(model.name, entries)
    const same = model.places.find((place) => place.provider === provider.name && place.upstream === upstream)
    if (same === undefined && model.places.length >= most.places)
      return this.#report.lost(entry, `a model has at most ${most.places} places`)
    const place = same ?? { provider: provider.name, upstream }
    if (same === undefined) model.places.push(place)
    entries.push({ place, deployment, parameters })
  }

  #readInfo(info: Node | undefined, model: DraftModel, { prices }: Deployment): void {
    for (const [key, node] of membersOf(info)) {
      if (isEmpty(node)) this.#report.default(node, 'says nothing')
      else if (isPrice(key)) readPrice(key, node, prices, this.#report)
      else this.#readFact(key, node, model)
    }
  }

  #readFact(key: string, node: Node, model: DraftModel): void {
    const keep = (field: string, value: Json) => {
      const before = model.fields[field]
      this.#report.mapped(node, `models[].${field}`)
      const fact = `${model.name}\n${field}`
      const wider = before !== undefined && isNarrower(value, before) ? this.#facts.get(fact) : node
      if (before === undefined || wider !== node) {
        model.fields[field] = value
        this.#facts.set(fact, node)
      }
      if (before !== undefined && before !== value && wider)
        this.#report.changed(
          wider,
          `a model has one value: ${field === 'description' ? 'the first' : 'the narrower'} one counts`,
          `models[].${field}`,
        )
    }
    const tokens = numberOf(node)
    const isTokens = tokens !== undefined && Number.isInteger(tokens) && tokens > 0 && tokens <= 1_000_000_000
    switch (key) {
      case 'max_input_tokens':
      case 'max_output_tokens':
      case 'max_tokens':
        if (!isTokens) return this.#report.lost(node, 'is no number of tokens')
        return keep(key === 'max_input_tokens' ? 'context_length' : 'max_output_tokens', tokens)
      case 'description':
        return keep('description', escaped(textOf(node) ?? '').slice(0, 4096))
      case 'supports_vision':
      case 'supports_function_calling': {
        const flag = flagOf(node)
        if (flag === undefined) return this.#report.lost(node, 'is neither true nor false')
        return keep(key === 'supports_vision' ? 'supports_images' : 'supports_tools', flag)
      }
      case 'access_groups':
        for (const [group] of textsIn(node)) {
          const members = this.#groups.get(group) ?? new Set()
          this.#groups.set(group, members.add(model.name))
        }
        return this.#report.changed(node, 'groups are written out in the lists of keys', 'api_keys[].models')
      case 'id':
        return this.#report.changed(node, 'places have no ids; the request log names provider and model')
      case 'base_model':
        return this.#report.changed(node, 'prices are found by the name at the vendor, or written in models[].pricing')
      case 'mode':
        return this.#readMode(node)
      case 'rpm':
      case 'tpm':
        return this.#report.lost(node, noLimits, 'limit')
      case 'team_id':
      case 'team_public_model_name':
        return this.#report.lost(node, 'models belong to no team; give keys lists of models')
      default:
        if (key.startsWith('supports_') || ['litellm_provider', 'db_model'].includes(key))
          return this.#report.default(node, 'the gateway need not know it')
        return this.#report.lost(node, 'there is no such fact of a model')
    }
  }

  #readMode(node: Node): void {
    const mode = textOf(node) ?? ''
    if (Object.hasOwn(protocols, mode)) return this.#report.mapped(node, 'providers[].offers')
    if (mode === 'realtime') return this.#report.mapped(node, 'models[].supports_realtime')
    this.#report.lost(node, 'the gateway has no endpoint for it', 'client')
  }

  /** Notes which protocols a compatible provider must offer for a model. */
  #needs({ provider, upstream }: Deployment, node: Node | undefined, model: DraftModel): void {
    const mode = textOf(node)
    const guessed = mode === undefined && /embed/i.test(upstream) ? 'embedding' : mode
    if (mode === 'realtime') {
      model.fields['supports_realtime'] = true
      provider.needs.add('realtime')
    }
    const protocol = guessed !== undefined && Object.hasOwn(protocols, guessed) ? protocols[guessed] : undefined
    if (protocol !== undefined) provider.needs.add(protocol)
  }

  /** Gives the places of a model their weights: `weight`, else `rpm`, else `tpm`, as LiteLLM's simple shuffle does. */
  #weigh(model: DraftModel, entries: readonly Entry[]): void {
    const isAlone = model.places.length < 2
    const metric = ['weight', 'rpm', 'tpm'].find((name) => numberOf(entries[0]?.parameters.get(name)) !== undefined)
    const given = entries.map(({ parameters }) => (metric === undefined ? 1 : (numberOf(parameters.get(metric)) ?? 0)))
    const scale = Math.max(1, Math.max(...given) / 1_000_000)
    for (const { place } of entries) delete place.weight
    for (const [index, { place, parameters }] of entries.entries()) {
      if (!isAlone) place.weight = round((place.weight ?? 0) + (given[index] ?? 0) / scale)
      for (const name of ['weight', 'rpm', 'tpm'] as const) {
        const node = parameters.get(name)
        if (node === undefined || isEmpty(node)) continue
        if (name === 'weight' && isAlone) this.#report.default(node, 'the model has one place')
        else if (name === 'weight' && metric === name) this.#report.mapped(node, 'models[].deployments[].weight')
        else if (name === 'weight')
          this.#report.lost(node, 'the first place of the model has no weight, so none counted')
        else if (name === metric && !isAlone)
          this.#report.changed(
            node,
            'is the share of the place; as a limit it does not count',
            'models[].deployments[].weight',
            'limit',
          )
        else this.#report.lost(node, noLimits, 'limit')
      }
    }
  }
}

/** Whether a fact of a model promises less than another. */
function isNarrower(one: Json, other: Json): boolean {
  if (typeof one === 'number' && typeof other === 'number') return one < other
  return one === false && other === true
}

function round(value: number): number {
  return Math.min(1_000_000, Math.max(0, Number(value.toPrecision(6))))
}
