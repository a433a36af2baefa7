import { isObject, parsedObject, tokenUsage } from '../../engine/kit.ts'
import type { Json, JsonObject, Measurement, ModelRecord, Pricing, Services, Usage } from '../../engine/index.ts'
import type { Naming } from './client-events.ts'

const micro = 1_000_000

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** Ends of a response that cost what the provider reports, or else nothing. */
const unbilled: ReadonlySet<Json | undefined> = new Set(['failed', 'cancelled'])

/** Adds up what a session uses, by the events of its provider; each use has the price of its own model. */
export class SessionMeter implements Measurement {
  readonly #prices: Pick<Services['prices'], 'usdOf'>
  #session: ModelRecord
  #transcription: ModelRecord | undefined
  /** The model that the client wants for its next response, and that of the response under way. */
  #next: ModelRecord | undefined
  #current: ModelRecord | undefined
  #responding = false
  /** The client has asked for a response, and nobody has answered. */
  #asked = false
  #tokens: Usage | undefined = nothing
  #seconds = 0
  /** Undefined: something was used of which nobody knows the cost. */
  #usd: number | undefined
  turns = 0

  constructor(model: ModelRecord, prices: Pick<Services['prices'], 'usdOf'>) {
    this.#prices = prices
    this.#session = model
    this.#usd = model.pricing?.requests ?? 0
  }

  /** Whether a response is under way, or the client waits for one. */
  get isBusy(): boolean {
    return this.#responding || this.#asked
  }

  /** Cost so far in micro-USD, not rounded; undefined: unknown. */
  get micros(): number | undefined {
    return this.#usd === undefined ? undefined : this.#usd * micro
  }

  /** The client asks for a response. */
  asked(): void {
    this.#asked = true
  }

  /** The client has named models. */
  names({ session, response, transcription }: Naming): void {
    this.#session = session ?? this.#session
    this.#next = response ?? this.#next
    this.#transcription = transcription ?? this.#transcription
  }

  /**
   * Reads an event of the provider.
   * @returns the tokens of an event that reports use
   */
  event(type: string | undefined, bytes: Buffer): Usage | undefined {
    switch (type) {
      case 'error':
        this.#asked = false
        return undefined
      case 'response.created':
        this.#asked = false
        this.#responding = true
        this.#current = this.#next
        this.#next = undefined
        return undefined
      case 'response.done':
        return this.#responded(parsedObject(bytes.toString()))
      case 'conversation.item.input_audio_transcription.completed':
        return this.#used(parsedObject(bytes.toString())?.['usage'], this.#transcription ?? this.#session)
      default:
        return undefined
    }
  }

  read(): ReturnType<Measurement['read']> {
    return {
      ...(this.#tokens ? { usage: this.#tokens } : {}),
      ...(this.#seconds > 0 ? { units: { seconds: this.#seconds } } : {}),
      ...(this.#responding ? { estimated: true } : {}),
      complete: true,
      losses: [],
    }
  }

  #responded(event: JsonObject | undefined): Usage | undefined {
    const model = this.#current ?? this.#session
    this.#responding = false
    this.#asked = false
    this.#current = undefined
    this.turns++
    const response = event?.['response']
    const { usage, status } = isObject(response) ? response : {}
    if (!isObject(usage) && unbilled.has(status)) return undefined
    return this.#used(usage, model)
  }

  /** Adds a use that an event reports: in tokens, or `{ type: 'duration', seconds }`. */
  #used(usage: Json | undefined, { pricing }: ModelRecord): Usage | undefined {
    const seconds = isObject(usage) && usage['type'] === 'duration' ? usage['seconds'] : undefined
    const tokens = typeof seconds === 'number' ? nothing : tokenUsage(usage)
    this.#tokens = this.#tokens && tokens && added(this.#tokens, tokens)
    if (typeof seconds === 'number') this.#seconds += seconds
    const known = typeof seconds === 'number' ? undefined : tokens
    const usd = this.#prices.usdOf(known, perUse(pricing), typeof seconds === 'number' ? { seconds } : {})
    this.#usd = this.#usd === undefined || usd === undefined ? undefined : this.#usd + usd
    return tokens
  }
}

/** Prices without that of a request: a session is one request. */
function perUse({ requests: _once, ...prices }: Pricing = {}): Pricing {
  return prices
}

function added(one: Usage, other: Usage): Usage {
  const sum = { ...one } as Record<string, number>
  for (const [name, count] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + Number(count)
  return sum as unknown as Usage
}
