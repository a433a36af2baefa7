import type { Candidate, Envelope, Host, JsonObject, ModelRecord, Services, Units, Usage } from '../../engine/index.ts'
import { mediaOutput, mediaTokens, mediaUnits, textTokens } from './estimate-media.ts'
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
  input(request: Envelope): number {
    const { operation, protocol, body } = request
    if (operation !== 'generate' && operation !== 'compact') return textTokens(request, this.#tokens)
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
    const units = mediaUnits(request, this.#host.codec(protocol).meter?.units?.(body, null, true) ?? {})
    const { inputAudio = 0, inputImage = 0 } = mediaTokens(request, this.#tokens)
    const read = { ...nothing, input: input + inputAudio + inputImage, inputAudio, inputImage }
    const assumed = Math.min(model.max_output_tokens ?? Infinity, settings.assumed_output_tokens)
    const made = mediaOutput(request, units, assumed)
    const total = this.#most(model.pricing, units, [
      { ...read, ...(made ?? { output: this.#output(request, model, settings, usual) }) },
      // Some answers of media report no tokens, and are paid for in other units then.
      ...(made ? [undefined] : []),
    ])
    if (total === undefined) return undefined
    return { total, input: this.#prices.costOf(read, model.pricing, units) ?? total }
  }

  /** The highest of the costs that are known. */
  #most(pricing: ModelRecord['pricing'], units: Units, usages: readonly (Usage | undefined)[]): number | undefined {
    const costs = usages.map((usage) => this.#prices.costOf(usage, pricing, units)).filter((cost) => cost !== undefined)
    return costs.length === 0 ? undefined : Math.max(...costs)
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
