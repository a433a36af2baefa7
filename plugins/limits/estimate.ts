import type { Candidate, Envelope, Host, JsonObject, ModelRecord, Services, Usage } from '../../engine/index.ts'
import type { LimitSettings } from './settings.ts'

/** Fields in which the protocols name the maximum of output tokens; the first that is set counts. */
const maximums = ['max_completion_tokens', 'max_output_tokens', 'max_tokens']

/** Estimates what requests of one pipeline will use, before anybody knows. */
export class Estimates {
  readonly #host: Pick<Host, 'codec' | 'upstreamCodec' | 'catalog'>
  readonly #tokens: Services['tokens']
  readonly #prices: Services['prices']

  constructor(
    host: Pick<Host, 'codec' | 'upstreamCodec' | 'catalog'>,
    { tokens, prices }: Pick<Services, 'tokens' | 'prices'>,
  ) {
    this.#host = host
    this.#tokens = tokens
    this.#prices = prices
  }

  /** Input and output tokens, before the model is known for sure. */
  tokens(request: Envelope, settings: LimitSettings): number {
    const model = this.#host.catalog.find(request.model)
    return this.input(request) + this.#output(request, model, settings)
  }

  /** Input tokens. Only conversations have media that cost other than by their length. */
  input({ operation, protocol, body, raw }: Envelope): number {
    // The files of a form are not read as tokens.
    if (operation !== 'generate' && operation !== 'compact') return raw.bytes ? this.#tokens.ofBytes(raw.size) : 0
    const known = counted.get(body)
    if (known !== undefined) return known
    const tokens = this.#tokens.ofRequest(protocol, body)
    counted.set(body, tokens)
    return tokens
  }

  /** Cost at a candidate in micro-USD, in total and for its input alone; undefined: something has no price. */
  cost(
    request: Envelope,
    { model, offer }: Pick<Candidate, 'model' | 'offer'>,
    input: number,
    settings: LimitSettings,
  ): { readonly total: number; readonly input: number } | undefined {
    const { protocol, body } = request
    const sent = this.#host.codec(protocol).request ? offer.protocol : protocol
    const usual =
      sent === undefined || sent === protocol ? undefined : this.#host.upstreamCodec(sent).request?.usualOutput
    const output = this.#output(request, model, settings, usual)
    const known = this.#host.codec(protocol).meter?.units?.(body, null, true) ?? {}
    const units = hears.has(request.operation) ? { seconds: request.raw.size / bytesPerSecond, ...known } : known
    const total = this.#prices.costOf({ ...nothing, input, output }, model.pricing, units)
    if (total === undefined) return undefined
    return { total, input: this.#prices.costOf({ ...nothing, input }, model.pricing, units) ?? total }
  }

  /** Output tokens: the maximum that will be requested, otherwise what is assumed. */
  #output(
    { operation, body }: Envelope,
    model: ModelRecord | undefined,
    settings: LimitSettings,
    usual?: number,
  ): number {
    if (operation !== 'generate' && operation !== 'compact') return 0
    const { assumed_output_tokens: assumed } = settings
    const each =
      maximumOf(body) ??
      (usual === undefined
        ? Math.min(model?.max_output_tokens ?? assumed, assumed)
        : (model?.max_output_tokens ?? usual))
    return each * choicesOf(body)
  }
}

/** Operations on audio whose length only the provider knows, and bytes of a second of it: speech at 64 kbit/s. */
const hears: ReadonlySet<string> = new Set(['transcribe', 'translate'])
const bytesPerSecond = 8_000

/** Estimated input of bodies: `limit` and `reserve` ask for the same one. */
const counted = new WeakMap<JsonObject, number>()

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

function maximumOf(body: JsonObject): number | undefined {
  return maximums.map((field) => body[field]).find(isCount)
}

/** The number of answers that a client of chat completions requests. */
function choicesOf({ n }: JsonObject): number {
  return isCount(n) ? n : 1
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
