import { placesOf } from '../../engine/kit.ts'
import type { Bill, ModelRecord, ToldCall, ToldExchange, ToldReload, ToldSocket, Usage } from '../../engine/index.ts'
import { errorOfAnswer } from './error-type.ts'
import { instrumentsIn, labelled, mediaTypes, outcomes, socketKinds, tokenTypes } from './gateway-instruments.ts'
import type { GatewayInstruments } from './gateway-instruments.ts'
import type { Counter, Gauge, Histogram } from './instruments.ts'
import type { Registry } from './registry.ts'

/** What only the scraped process knows of the gateway. */
export interface ProcessFacts {
  readonly version: string
  /** The configured stores, and whether each can be used. */
  readonly stores: Readonly<Record<string, boolean>>
}

/** What is measured of a configuration that is live. */
interface Live {
  readonly version: string
  readonly models: readonly ModelRecord[]
  /** Further labels of requests, tokens and cost. */
  readonly labels: readonly string[]
}

/** An exchange under way. */
interface Running {
  /**
   * Milliseconds that its calls, and those of the exchanges that it began, took until their first bytes, and that it
   * waited before it tried again: they are not the gateway's.
   */
  waited: number
  /** The exchange that began it. */
  readonly outer: Running | undefined
  /** What was called last: of an exchange that failed, nothing else says what it was about. */
  last?: ToldCall
}

const none: readonly string[] = []

/** Names of models, by the provider and its name for them. */
export type Places = ReadonlyMap<string, string>

export function placesIn(models: readonly ModelRecord[]): Places {
  const places = models.flatMap((model) =>
    placesOf(model).map((place) => [`${place.provider}\n${place.upstream_model}`, model.name] as const),
  )
  // Of two records of one place, the first counts.
  return new Map(places.toReversed())
}

/** The record of a call; of an answer in neutral form, that of the place that was asked. */
export function recordOf({ record, provider, model = '' }: ToldCall, places: Places): string {
  return record ?? places.get(`${provider}\n${model}`) ?? ''
}

/** Counts exchanges and calls of providers by what the gateway tells of them. */
export class GatewayMetrics {
  readonly #registry: Registry
  #labels: readonly string[] = []
  #instruments: GatewayInstruments
  /** Each that begins ends once. */
  readonly #begun = new Map<ToldExchange, Running>()
  /** By id. A job has the id of the request that began it, and may begin before that is over. */
  readonly #running = new Map<string, Running>()
  /** Open sockets that were seen to open. */
  readonly #sockets = new Set<ToldSocket>()
  /** Series by what exchanges, and calls, were about; made anew with each configuration. */
  readonly #exchanges = new Map<string, ExchangeSeries>()
  readonly #calls = new Map<string, CallSeries>()
  readonly #pipelines = new Map<string, Gauge>()
  /** How many series had ended when those were made. */
  #ended = 0
  #places: Places = new Map()
  /** When the configuration went live, in milliseconds of `performance.now()`. */
  #liveSince = 0

  constructor(registry: Registry) {
    this.#registry = registry
    this.#instruments = instrumentsIn(registry, {})
    this.#instruments.workers({}).set(1)
    this.#noSockets()
  }

  /** A configuration went live. */
  follow({ version, models, labels }: Live): void {
    this.#liveSince = performance.now()
    this.#registry.clear('sluice_config_info')
    this.#instruments.configInfo({ version }).set(1)
    this.#places = placesIn(models)
    this.#exchanges.clear()
    this.#calls.clear()
    if (labels.join() === this.#labels.join()) return
    this.#labels = labels
    for (const name of labelled) this.#registry.drop(name)
    const further = Object.fromEntries(labels.map((label) => [wordOf(label), { free: label }]))
    this.#instruments = instrumentsIn(this.#registry, further)
  }

  /** Nothing is heard any more: what runs now will not be seen to end. */
  forget(): void {
    this.#begun.clear()
    this.#running.clear()
    this.#noSockets()
    this.#pipelines.clear()
    this.#registry.clear('sluice_in_flight')
  }

  /** Sets what is known only when the metrics are read. */
  read({ version, stores }: ProcessFacts): void {
    const { buildInfo, configAge, storeUp } = this.#instruments
    for (const [store, isUp] of Object.entries(stores)) storeUp({ store }).set(isUp ? 1 : 0)
    buildInfo({ version, node: process.versions.node }).set(1)
    configAge({}).set((performance.now() - this.#liveSince) / 1_000)
  }

  opened(socket: ToldSocket): void {
    this.#sockets.add(socket)
    this.#instruments.sockets({ kind: socket.carries }).add(1)
  }

  closed(socket: ToldSocket): void {
    if (this.#sockets.delete(socket)) this.#instruments.sockets({ kind: socket.carries }).add(-1)
  }

  #noSockets(): void {
    this.#sockets.clear()
    for (const kind of socketKinds) this.#instruments.sockets({ kind }).set(0)
  }

  /** Counts exchanges of pipelines with a protocol, those that they begin, and jobs. */
  begins(exchange: ToldExchange): void {
    const { id, parent, pipeline, protocol, transport } = exchange
    const outer = parent === undefined ? undefined : this.#running.get(parent)
    if (protocol === undefined && outer === undefined && transport !== undefined) return
    this.#inFlight(pipeline).add(1)
    const running: Running = { waited: 0, outer }
    this.#begun.set(exchange, running)
    this.#running.set(id, running)
  }

  called(call: ToldCall): void {
    const { firstByte, duration = 0 } = call
    const running = this.#running.get(call.exchange)
    if (running === undefined) return
    let waited = firstByte ?? duration
    const before = running.last
    if (before && before.attempt < call.attempt) {
      waited += Math.max(0, (call.began ?? 0) - (before.began ?? 0) - (before.duration ?? 0))
      this.#triedAgain(before, call)
    }
    for (let each: Running | undefined = running; each; each = each.outer) each.waited += waited
    if (call.protocol === 'mcp') return this.#calledMcp(call)
    running.last = call
    const series = this.#callSeries(call)
    series.requests.add()
    series.duration.observe(duration / 1_000)
    if (firstByte !== undefined) series.firstByte.observe(firstByte / 1_000)
  }

  ends(exchange: ToldExchange): void {
    const {
      id,
      pipeline,
      duration = 0,
      lastByte = duration,
      firstByte,
      firstContent,
      lastContent,
      stream,
      bill,
    } = exchange
    const running = this.#begun.get(exchange)
    if (running === undefined) return
    this.#begun.delete(exchange)
    if (this.#running.get(id) === running) this.#running.delete(id)
    this.#inFlight(pipeline).add(-1)
    const series = this.#exchangeSeries(exchange, running.last)
    series.requests.add()
    series.duration.observe(lastByte / 1_000)
    if (firstByte !== undefined) series.overhead.observe(Math.max(0, firstByte - running.waited) / 1_000)
    if (stream === true && firstContent !== undefined) {
      series.firstToken.observe(firstContent / 1_000)
      const { metered } = running.last ?? {}
      const tokens = metered?.estimated === true ? 0 : (metered?.usage?.output ?? 0)
      if (tokens >= 2 && lastContent !== undefined)
        series.perToken.observe((lastContent - firstContent) / 1_000 / (tokens - 1))
    }
    if (bill) series.bill(bill)
    if (exchange.tier !== undefined) this.#chosen(exchange.tier, exchange)
  }

  reloaded({ result = 'refused' }: ToldReload): void {
    this.#instruments.reloads({ result }).add()
  }

  /** A further try: at the same place, or at another one. */
  #triedAgain(failed: ToldCall, next: ToldCall): void {
    const { retries, fallbacks } = this.#instruments
    const isSame = failed.provider === next.provider && failed.record === next.record
    const { provider } = failed
    const model = recordOf(failed, this.#places)
    ;(isSame ? retries : fallbacks)({ model, provider, reason: outcomeOf(failed) }).add()
  }

  #calledMcp(call: ToldCall): void {
    const { mcpRequests, mcpDuration } = this.#instruments
    const { method } = call.asked?.() ?? {}
    const labels = { server: call.provider, method: typeof method === 'string' ? method : 'other' }
    const answered = call.rpc && errorOfAnswer(call.rpc)
    mcpRequests({ ...labels, outcome: answered ?? outcomeOf(call) }).add()
    mcpDuration(labels).observe((call.duration ?? 0) / 1_000)
  }

  /** What smart routing has cost, and what the baseline would have. */
  #chosen(tier: string, { bill, savings }: ToldExchange): void {
    const micros = bill?.cost.micros
    if (micros === undefined || savings === undefined) return
    const { routingCost, routingBaseline } = this.#instruments
    routingCost({ tier }).add(micros / 1e6)
    routingBaseline({ tier }).add(micros / 1e6 + savings)
  }

  #inFlight(pipeline: string): Gauge {
    const known = this.#pipelines.get(pipeline)
    if (known) return known
    const made = this.#instruments.inFlight({ pipeline })
    this.#pipelines.set(pipeline, made)
    return made
  }

  #exchangeSeries(exchange: ToldExchange, last: ToldCall | undefined): ExchangeSeries {
    const { pipeline, protocol = '', provider = last?.provider ?? '', stream, result, error } = exchange
    const model =
      exchange.record ?? (last && recordOf(last, this.#places)) ?? (error?.code === 'model_not_found' ? 'unknown' : '')
    const said = result === 'completed' ? 'ok' : result === 'client_closed' ? result : (error?.code ?? 'internal_error')
    const code = this.#registry.bounded('code', said)
    const further =
      this.#labels.length === 0
        ? none
        : this.#labels.map((label) => this.#registry.bounded({ free: label }, furtherOf(label, exchange)))
    const key = `${pipeline}\n${protocol}\n${model}\n${provider}\n${code}\n${stream}\n${further.join('\n')}`
    if (this.#ended !== this.#registry.ended) this.#exchanges.clear()
    this.#ended = this.#registry.ended
    const known = this.#exchanges.get(key)
    if (known) return known
    const labels = { pipeline, protocol, model, provider, code, stream: stream === undefined ? '' : String(stream) }
    const named = Object.fromEntries(this.#labels.map((label, at) => [wordOf(label), further[at] ?? '']))
    const made = new ExchangeSeries(this.#instruments, { ...labels, ...named })
    this.#exchanges.set(key, made)
    return made
  }

  #callSeries(call: ToldCall): CallSeries {
    const { provider } = call
    const model = recordOf(call, this.#places)
    const outcome = outcomeOf(call)
    const key = `${provider}\n${model}\n${outcome}`
    const known = this.#calls.get(key)
    if (known) return known
    const made = new CallSeries(this.#instruments, { provider, model, outcome })
    this.#calls.set(key, made)
    return made
  }
}

/** The word of a label: `tag:team` is `tag_team`. */
function wordOf(label: string): string {
  return label.replace(':', '_')
}

function furtherOf(label: string, { key, member, tags }: ToldExchange): string {
  if (label === 'key') return key?.name ?? ''
  return (label === 'member' ? member : tags?.[label.slice('tag:'.length)]) ?? ''
}

function statusWord(status: number): string {
  if (status >= 500) return 'http_5xx'
  return outcomes.includes(`http_${status}`) ? `http_${status}` : 'http_4xx'
}

function outcomeOf({ status = 200, error, cancelled }: ToldCall): string {
  if (status >= 400) return statusWord(status)
  if (error === undefined) return cancelled === true ? 'aborted' : 'ok'
  if (error.code === 'client_closed') return 'aborted'
  const tags = error.tags ?? []
  const answered = Number(tags.find((tag) => /^[45]\d\d$/.test(tag)))
  if (answered >= 400) return statusWord(answered)
  return ['connect', 'timeout'].find((word) => tags.includes(word)) ?? 'broken'
}

type Labels = Readonly<Record<string, string>>

/** The series that exchanges of one kind add to. */
class ExchangeSeries {
  readonly #instruments: GatewayInstruments
  readonly #labels: Labels
  readonly requests: Counter
  readonly duration: Histogram
  readonly overhead: Histogram
  /** Made on first use: most exchanges have no stream, and few have tokens of media. */
  #firstToken: Histogram | undefined
  #perToken: Histogram | undefined
  readonly #amounts = new Map<string, Counter>()

  constructor(instruments: GatewayInstruments, labels: Labels) {
    this.#instruments = instruments
    this.#labels = labels
    this.requests = instruments.requests(labels)
    this.duration = instruments.duration(labels)
    this.overhead = instruments.overhead(labels)
  }

  get firstToken(): Histogram {
    return (this.#firstToken ??= this.#instruments.firstToken(this.#labels))
  }

  get perToken(): Histogram {
    return (this.#perToken ??= this.#instruments.perToken(this.#labels))
  }

  bill({ tokens, cost: { micros, origin } }: Bill): void {
    if (origin === 'unasked') return
    if (tokens) this.#count(tokens)
    if (micros === undefined) this.#amount('unknown').add()
    else this.#amount(origin).add(micros / 1e6)
  }

  #count(tokens: Usage): void {
    if (tokens.input > 0) this.#amount('input').add(tokens.input)
    if (tokens.cacheRead > 0) this.#amount('cache_read').add(tokens.cacheRead)
    if (tokens.cacheWrite > 0) this.#amount('cache_write').add(tokens.cacheWrite)
    if (tokens.output > 0) this.#amount('output').add(tokens.output)
    if (tokens.reasoning > 0) this.#amount('reasoning').add(tokens.reasoning)
    if (tokens.inputAudio) this.#amount('input_audio').add(tokens.inputAudio)
    if (tokens.outputAudio) this.#amount('output_audio').add(tokens.outputAudio)
    if (tokens.inputImage) this.#amount('input_image').add(tokens.inputImage)
    if (tokens.outputImage) this.#amount('output_image').add(tokens.outputImage)
  }

  /** @param name a type of tokens, or how a cost is known */
  #amount(name: string): Counter {
    const known = this.#amounts.get(name)
    if (known) return known
    const labels = this.#labels
    const { tokens, mediaTokens, cost, costUnknown } = this.#instruments
    const made = isOneOf(tokenTypes, name)
      ? tokens({ ...labels, type: name })
      : isOneOf(mediaTypes, name)
        ? mediaTokens({ ...labels, type: name })
        : name === 'unknown'
          ? costUnknown(labels)
          : cost({ ...labels, origin: name })
    this.#amounts.set(name, made)
    return made
  }
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name)
}

/** The series that calls of one kind add to. */
class CallSeries {
  readonly requests: Counter
  readonly duration: Histogram
  readonly firstByte: Histogram

  constructor({ upstreamRequests, upstreamDuration, upstreamFirstByte }: GatewayInstruments, labels: Labels) {
    this.requests = upstreamRequests(labels)
    this.duration = upstreamDuration(labels)
    this.firstByte = upstreamFirstByte(labels)
  }
}
