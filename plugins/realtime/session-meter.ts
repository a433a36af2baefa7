import { isObject, parsedObject, tokenUsage } from '../../engine/kit.ts'
import type { Json, JsonObject, Measurement, ModelRecord, Pricing, Services, Usage } from '../../engine/index.ts'
import type { Naming } from './client-events.ts'
import { EventTypes } from './event-type.ts'

const micro = 1_000_000

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** Ends of a response that cost what the provider reports, or else nothing. */
const unbilled: ReadonlySet<Json | undefined> = new Set(['failed', 'cancelled'])

/** The events of a provider that are read. */
export const meteredTypes = new EventTypes([
  'error',
  'session.updated',
  'transcription_session.updated',
  'response.created',
  'response.done',
  'conversation.item.input_audio_transcription.completed',
])

/** Most responses that are remembered at a time, of those asked for and of those under way. */
const most = 1_000

/** A response that the client has asked for, until its provider begins or refuses it. */
interface Wanted {
  /** Id of the client's event; null: it has none. */
  readonly eventId: string | null
  readonly model: ModelRecord | undefined
}

/** The models of a session, as far as they are known. */
interface Models {
  readonly session: ModelRecord
  readonly transcription?: ModelRecord | undefined
}

/** Adds up what a session uses, by the events of its provider; each use has the price of its own model. */
export class SessionMeter implements Measurement {
  readonly #prices: Pick<Services['prices'], 'usdOf'>
  #models: Models
  /** What a change of the session replaced, until its provider has taken the change. */
  #before: { readonly eventId: string | null; readonly models: Models } | undefined
  readonly #wanted: Wanted[] = []
  /** Responses under way by their ids, with the models that the client named for them. */
  readonly #underWay = new Map<unknown, ModelRecord | undefined>()
  #tokens: Usage | undefined = nothing
  #seconds = 0
  /** Undefined: something was used of which nobody knows the cost. */
  #usd: number | undefined
  turns = 0

  constructor(model: ModelRecord, prices: Pick<Services['prices'], 'usdOf'>) {
    this.#prices = prices
    this.#models = { session: model }
    this.#usd = model.pricing?.requests ?? 0
  }

  /** Whether a response is under way, or the client waits for one. */
  get isBusy(): boolean {
    return this.#underWay.size > 0 || this.#wanted.length > 0
  }

  /** Cost so far in micro-USD, not rounded; undefined: unknown. */
  get micros(): number | undefined {
    return this.#usd === undefined ? undefined : this.#usd * micro
  }

  /** The client asks for a response, and may name a model for it. */
  asked(wanted: Wanted): void {
    this.#wanted.push(wanted)
    if (this.#wanted.length > most) this.#wanted.shift()
  }

  /** The client changes the session, and may name models for it. */
  changed({ session, transcription }: Naming, eventId: string | null): void {
    if (session === undefined && transcription === undefined) return
    const models = this.#models
    this.#before = { eventId, models }
    this.#models = { session: session ?? models.session, transcription: transcription ?? models.transcription }
  }

  /**
   * Reads an event of the provider.
   * @returns the tokens of an event that reports use
   */
  event(type: string | undefined, bytes: Buffer): Usage | undefined {
    switch (type) {
      case 'error':
        this.#refused(parsedObject(bytes.toString()))
        return undefined
      case 'session.updated':
      case 'transcription_session.updated':
        this.#before = undefined
        return undefined
      case 'response.created':
        this.#began(idIn(parsedObject(bytes.toString())))
        return undefined
      case 'response.done':
        return this.#responded(parsedObject(bytes.toString()))
      case 'conversation.item.input_audio_transcription.completed':
        return this.#used(parsedObject(bytes.toString())?.['usage'], this.#models.transcription ?? this.#models.session)
      default:
        return undefined
    }
  }

  read(): ReturnType<Measurement['read']> {
    return {
      ...(this.#tokens ? { usage: this.#tokens } : {}),
      ...(this.#seconds > 0 ? { units: { seconds: this.#seconds } } : {}),
      ...(this.#underWay.size > 0 ? { estimated: true } : {}),
      complete: true,
      losses: [],
    }
  }

  /** The provider refuses an event of the client, which does nothing then. */
  #refused(event: JsonObject | undefined): void {
    const error = event?.['error']
    const eventId = (isObject(error) && error['event_id']) || null
    const place = this.#wanted.findIndex((one) => one.eventId === eventId)
    if (place >= 0) this.#wanted.splice(place, 1)
    if (this.#before?.eventId !== eventId) return
    this.#models = this.#before.models
    this.#before = undefined
  }

  /** Responses begin in the order in which they were asked for. */
  #began(id: unknown): void {
    this.#underWay.set(id, this.#wanted.shift()?.model)
    if (this.#underWay.size > most) this.#underWay.delete(this.#underWay.keys().next().value)
  }

  #responded(event: JsonObject | undefined): Usage | undefined {
    const told = idIn(event)
    // Some servers do not tell that a response begins, or name it only then.
    if (this.#underWay.size === 0) this.#began(told)
    const id = this.#underWay.has(told) ? told : this.#underWay.keys().next().value
    const model = this.#underWay.get(id) ?? this.#models.session
    this.#underWay.delete(id)
    this.turns++
    const response = event?.['response']
    const { usage, status } = isObject(response) ? response : {}
    if (!isObject(usage) && unbilled.has(status)) return undefined
    return this.#used(usage, model)
  }

  /** Adds a use that an event reports: in tokens, or `{ type: 'duration', seconds }`. */
  #used(usage: Json | undefined, { pricing }: ModelRecord): Usage | undefined {
    const given = isObject(usage) && usage['type'] === 'duration' ? usage['seconds'] : undefined
    const seconds = typeof given === 'number' && given >= 0 ? given : undefined
    const tokens = seconds === undefined ? tokenUsage(usage) : nothing
    this.#tokens = this.#tokens && tokens && added(this.#tokens, tokens)
    this.#seconds += seconds ?? 0
    const known = seconds === undefined ? tokens : undefined
    const usd = this.#prices.usdOf(known, perUse(pricing), seconds === undefined ? {} : { seconds })
    this.#usd = this.#usd === undefined || usd === undefined ? undefined : this.#usd + usd
    return tokens
  }
}

/** The id of the response that an event is about. */
function idIn(event: JsonObject | undefined): unknown {
  const response = event?.['response']
  return isObject(response) ? response['id'] : undefined
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
