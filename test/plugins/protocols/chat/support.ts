import type {
  Asked,
  Frame,
  GenerateEvent,
  Json,
  JsonObject,
  ModelRecord,
  PrintTarget,
  Traits,
} from '../../../../engine/index.ts'
import codec from '../../../../plugins/protocols/chat/codec.ts'

const record: ModelRecord = {
  name: 'small',
  provider: 'fake',
  upstream_model: 'small-1',
  aliases: [],
  supports_images: true,
  supports_tools: true,
  supports_mapeval: false,
  supports_realtime: false,
  auto_eligible: false,
  fallbacks: [],
}

export const origin = 'fake/small'

export function target(traits: Traits = {}): PrintTarget {
  return { model: 'small-1', record, offer: { operation: 'generate', protocol: 'chat', traits }, origin }
}

export function asked(body: JsonObject = {}): Asked {
  return { id: '7', model: 'small', stream: true, body, origin }
}

export const { request, reply, events } = codec as Required<typeof codec>

/** A request body with the given fields, one user message unless others are given. */
export function body(fields: JsonObject = {}): JsonObject {
  return { model: 'small', messages: [{ role: 'user', content: 'hi' }], ...fields }
}

/** The events of an upstream's chunks, `[DONE]` and the end of the stream included. */
export function read(chunks: readonly (JsonObject | string)[], reader = events.parser()): GenerateEvent[] {
  const frames: Frame[] = chunks.map((chunk) => ({ data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) }))
  return [...frames.flatMap((frame) => [...reader.parse(frame)]), ...reader.end()]
}

/** A chunk of one choice. */
export function chunk(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject {
  return { id: 'c1', model: 'small-1', created: 5, choices: [{ index: 0, delta, finish_reason: finish }], ...more }
}

/** What a client gets for events: its chunks as parsed, `[DONE]` as it is. */
export function write(list: Iterable<GenerateEvent>, of = asked()): Json[] {
  const writer = events.printer(of)
  return Array.from(list).flatMap((event) =>
    Array.from(writer.print(event), ({ data }) => (data === '[DONE]' ? data : (JSON.parse(data) as Json))),
  )
}
