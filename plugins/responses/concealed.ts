import { encodeFrame, FrameDecoder, packSeal, parsedObject } from '../../engine/kit.ts'
import type { Asked, Json, JsonObject, Unshown } from '../../engine/index.ts'
import { nativeSeal, wantsCiphertext } from './reasoning.ts'
import { object, objects, text } from './values.ts'

const field = '"encrypted_content"'

/** A whole response without the ciphertext of its reasoning, for a client that has not requested it. */
export function concealed(bytes: Buffer, asked: Asked): { readonly bytes: Buffer; readonly unshown: Unshown } {
  const concealer = new Concealer(asked)
  return { bytes: concealer.whole(bytes), unshown: concealer.unshown }
}

/** Takes ciphertext of reasoning out of the bytes of an answer, and keeps it for later turns. All other bytes stay. */
export class Concealer {
  readonly #asked: Asked
  readonly #shows: boolean
  /** Sealed reasoning, by the id of its item. */
  readonly unshown = new Map<string, string>()

  constructor(asked: Asked) {
    this.#asked = asked
    this.#shows = wantsCiphertext(asked.body)
  }

  /** Complete events whose lines end in LF. */
  events(events: Uint8Array): Uint8Array {
    const bytes = Buffer.from(events.buffer, events.byteOffset, events.length)
    if (this.#shows || !bytes.includes(field)) return events
    const pieces: Buffer[] = []
    for (let at = 0, after = 0; at < bytes.length; at = after) {
      const end = bytes.indexOf('\n\n', at)
      after = end < 0 ? bytes.length : end + 2
      const event = bytes.subarray(at, after)
      pieces.push(event.includes(field) ? this.#event(event) : event)
    }
    return Buffer.concat(pieces)
  }

  whole(bytes: Buffer): Buffer {
    if (this.#shows || !bytes.includes(field)) return bytes
    const given = bytes.toString()
    const shown = this.#without(given)
    return shown === given ? bytes : Buffer.from(shown)
  }

  #event(bytes: Buffer): Buffer {
    const [frame] = new FrameDecoder().push(bytes)
    if (!frame) return bytes
    const data = this.#without(frame.data)
    return data === frame.data ? bytes : Buffer.from(encodeFrame({ ...frame, data }))
  }

  #without(json: string): string {
    const body = parsedObject(json)
    const sealed = reasoningIn(body).filter(({ encrypted_content: data }) => typeof data === 'string' && data !== '')
    if (!body || sealed.length === 0) return json
    const texts = new Set<Json | undefined>()
    for (const item of sealed) {
      this.#keep(item)
      texts.add(item['encrypted_content'])
    }
    const cut = json.split(field).reduce((before, after) => joined(before, after, texts))
    if (!reasoningIn(parsedObject(cut)).some(({ encrypted_content: data }) => texts.has(data))) return cut
    return JSON.stringify(body, (_, value: Json) => withoutCiphertext(value, texts))
  }

  #keep(item: JsonObject): void {
    const id = text(item['id'])
    const seal = nativeSeal(item)
    if (id && seal) this.unshown.set(id, packSeal(this.#asked.origin, { kind: seal.kind, data: seal.data }))
  }
}

/** The items of reasoning in a response, or in an event. */
function reasoningIn(body: JsonObject | undefined): readonly JsonObject[] {
  const response = object(body?.['response']) ?? body
  const items = [...objects(response?.['output']), ...objects([body?.['item'] ?? null])]
  return items.filter(({ type }) => type === 'reasoning')
}

const colon = /^\s{0,8}:\s{0,8}"/
const comma = /,\s{0,8}$/

/** The text around a field, without the field if it has one of these values. Ciphertext has no escapes. */
function joined(before: string, after: string, texts: ReadonlySet<Json | undefined>): string {
  const start = colon.exec(after)?.[0].length ?? 0
  const end = after.indexOf('"', start)
  if (start === 0 || !comma.test(before) || !texts.has(after.slice(start, end))) return before + field + after
  return before.replace(comma, '') + after.slice(end + 1)
}

function withoutCiphertext(value: Json, texts: ReadonlySet<Json | undefined>): Json {
  const item = object(value)
  if (item?.['type'] !== 'reasoning' || !texts.has(item['encrypted_content'])) return value
  const { encrypted_content: _, ...rest } = item
  return rest
}
