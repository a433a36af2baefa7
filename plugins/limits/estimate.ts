import { valueAt } from '../../engine/kit.ts'
import type { Candidate, Envelope, Host, JsonObject, ModelRecord, Services, Units, Usage } from '../../engine/index.ts'
import { mediaOutput, mediaTokens, mediaUnits, textTokens } from './estimate-media.ts'
import { furtherModels } from './priced-choices.ts'
import type { LimitSettings } from './settings.ts'

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
    const units = mediaUnits(request, this.#host.codec(protocol).meter?.units?.(body, null, true) ?? noUnits)
    const { inputAudio = 0, inputImage = 0 } = mediaTokens(request, this.#tokens)
    const all = input + inputAudio + inputImage
    const read: Usage = { input: all, inputAudio, inputImage, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
    const assumed = Math.min(model.max_output_tokens ?? Infinity, settings.assumed_output_tokens)
    const made = mediaOutput(request, units, assumed)
    const usage = { ...read, output: made ? 0 : this.#output(request, model, settings, usual), ...made }
    const ofTokens = this.#prices.costOf(usage, model.pricing, units)
    // Some answers of media report no tokens, and are paid for in other units then.
    const ofUnits = made && this.#prices.costOf(undefined, model.pricing, units)
    if (ofTokens === undefined && ofUnits === undefined) return undefined
    const total = Math.max(ofTokens ?? 0, ofUnits ?? 0)
    return { total, input: this.#prices.costOf(read, model.pricing, units) ?? total }
  }

  /** The highest cost at a candidate: of its own model, and of the further models that the request names. */
  dearest(
    request: Envelope,
    candidate: Candidate,
    input: number,
    settings: LimitSettings,
  ): { readonly total: number; readonly input: number } | undefined {
    let dearest = this.cost(request, candidate, input, settings)
    for (const model of furtherModels(request, candidate, this.#host)) {
      const cost = model && this.cost(request, { model, offer: candidate.offer }, input, settings)
      if (dearest && cost && cost.total > dearest.total) dearest = cost
    }
    return dearest
  }

  /** Output tokens: the maximum that will be requested, otherwise what is assumed. */
  #output(
    { operation, protocol, body }: Envelope,
    model: ModelRecord | undefined,
    settings: LimitSettings,
    usual?: number,
  ): number {
    if (operation !== 'generate' && operation !== 'compact') return 0
    const { assumed_output_tokens: assumed } = settings
    const { outputLimits, answerCounts } = this.#host.codec(protocol)
    const each =
      maximumOf(body, outputLimits) ??
      (usual === undefined
        ? Math.min(model?.max_output_tokens ?? assumed, assumed)
        : (model?.max_output_tokens ?? usual))
    return each * (maximumOf(body, answerCounts) ?? 1)
  }
}

/** Estimated input of bodies: `limit` and `reserve` ask for the same one. */
const counted = new WeakMap<JsonObject, number>()

const noUnits: Units = {}

/** The largest of the fields in which the protocol names a number: nobody knows which one a provider heeds. */
function maximumOf(body: JsonObject, paths: readonly string[] = []): number | undefined {
  let most: number | undefined
  for (const path of paths) {
    const given = valueAt(body, path)
    if (isCount(given) && (most === undefined || given > most)) most = given
  }
  return most
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
