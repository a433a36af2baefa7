import { GatewayError } from '../../engine/index.ts'
import { asGatewayError, holds, isObject, parsedObject, placesOf, spliceMember } from '../../engine/kit.ts'
import type { Candidate, Catalog, JsonObject, ModelRecord, Principal } from '../../engine/index.ts'
import { EventTypes, headOf } from './event-type.ts'

/** What becomes of a message of the client. */
export type Passing =
  | {
      readonly bytes: Uint8Array
      readonly type?: string
      /** The client's name for the event; null: it has none. */
      readonly eventId?: string | null
      /** The records of the models that it names. */
      readonly names?: Naming
    }
  | { readonly refused: GatewayError; readonly eventId: string | null }

/** The models that an event names, each for its purpose. */
export interface Naming {
  session?: ModelRecord
  response?: ModelRecord
  transcription?: ModelRecord
}

interface Place {
  readonly path: readonly string[]
  readonly purpose: keyof Naming
}

const ofSession: readonly Place[] = [
  { path: ['session', 'model'], purpose: 'session' },
  { path: ['session', 'audio', 'input', 'transcription', 'model'], purpose: 'transcription' },
  { path: ['session', 'input_audio_transcription', 'model'], purpose: 'transcription' },
]

/**
 * The events of a client that can name a model, and where
 * (platform.openai.com/docs/api-reference/realtime-client-events). The last two places are those of servers that still
 * speak the earlier version of the protocol.
 */
const naming: ReadonlyMap<string, readonly Place[]> = new Map([
  ['session.update', ofSession],
  ['transcription_session.update', ofSession],
  ['response.create', [{ path: ['response', 'model'], purpose: 'response' }]],
])

const namingTypes = new EventTypes(naming.keys())

/** Most bytes of an event that can name a model. */
const largest = 1024 * 1024

export interface ClientEventsOptions {
  readonly catalog: Pick<Catalog, 'find'>
  readonly principal: Principal
  /** What serves the session. */
  readonly candidate: Candidate
  /** The name with which the client asked for it. */
  readonly requested: string
}

/**
 * Reads the events with which a client could reach another model than the one of its session. Their models get the
 * names that the provider knows; all other bytes stay. A message that may be such an event and is no JSON object is
 * refused: the provider might read it more leniently. Every other message is relayed unread.
 */
export class ClientEvents {
  readonly #options: ClientEventsOptions

  constructor(options: ClientEventsOptions) {
    this.#options = options
  }

  read(bytes: Buffer): Passing {
    if (!namingTypes.mayHave(bytes)) return { bytes }
    let eventId: string | null = null
    try {
      const head = headOf(bytes)
      ;({ eventId } = head)
      const places = naming.get(head.type)
      if (places === undefined) return { bytes, ...head }
      if (bytes.length > largest)
        throw new GatewayError(
          'request_too_large',
          { limit: largest },
          { message: `A ${head.type} may have ${largest} bytes.` },
        )
      return { ...head, ...this.#named(bytes, places) }
    } catch (thrown) {
      return { refused: asGatewayError(thrown), eventId }
    }
  }

  #named(bytes: Buffer, places: readonly Place[]): { readonly bytes: Uint8Array; readonly names: Naming } {
    const sent = bytes.toString()
    const event = parsedObject(sent)
    if (event === undefined) throw new GatewayError('invalid_json', { reason: 'the event cannot be parsed' })
    const names: Naming = {}
    let text = sent
    for (const { path, purpose } of places) {
      const holder = path.slice(0, -1).reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), event)
      if (!isObject(holder) || holder['model'] === undefined || holder['model'] === null) continue
      const record = this.#recordOf(holder['model'], path.join('.'))
      names[purpose] = record
      ;(holder as Writable<JsonObject>)['model'] = record.upstream_model
      text = spliceMember(text, path, record.upstream_model)
    }
    const plain = JSON.stringify(event)
    // A repeated key, or one written with escapes, could mean another model to another parser.
    const isPlain = keysIn(text) === keysIn(plain) && JSON.stringify(parsedObject(text)) === plain
    return { bytes: isPlain && text === sent ? bytes : Buffer.from(isPlain ? text : plain), names }
  }

  /** The record of a named model, with the name that the provider of the session has for it. */
  #recordOf(name: unknown, param: string): ModelRecord {
    const { catalog, candidate, principal, requested } = this.#options
    const { model: own, provider } = candidate
    if (typeof name !== 'string') throw new GatewayError('invalid_value', { param, reason: 'it must be a string' })
    const found = catalog.find(name)
    if (found !== undefined && [own.name, catalog.find(requested)?.name].includes(found.name)) return own
    const place = found && placesOf(found).find((one) => one.provider === provider.name)
    if (!found || !place || (principal.models !== undefined && !holds(principal.models, found.name)))
      throw new GatewayError('model_not_allowed', { model: name.slice(0, 128) }, { param })
    return { ...found, upstream_model: place.upstream_model }
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** The number of keys in a JSON text, of all its objects. */
function keysIn(text: string): number {
  let count = 0
  let isString = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') isString = !isString
    else if (isString && character === '\\') at++
    else if (!isString && character === ':') count++
  }
  return count
}
