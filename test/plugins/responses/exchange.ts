import type { Asked, Frame, GenerateEvent, GenerateRequest, JsonObject, PrintTarget } from '../../../engine/index.ts'

/** An exchange that began at 1,760,000,000 seconds. */
export const exchangeId = '0199c82c-c000-7abc-8def-0123456789ab'
export const bareId = '0199c82cc0007abc8def0123456789ab'
export const began = Math.floor(0x0199c82cc000 / 1000)

export const origin = 'acme/think'

export function target(traits: JsonObject = {}): PrintTarget {
  return {
    model: 'think-2',
    record: {
      name: 'think',
      provider: 'acme',
      upstream_model: 'think-2',
      aliases: [],
      supports_images: true,
      supports_tools: true,
      supports_mapeval: false,
      supports_realtime: false,
      auto_eligible: false,
      fallbacks: [],
    },
    offer: { operation: 'generate', protocol: 'responses', traits: traits as Record<string, boolean> },
    origin,
  }
}

export function asked(body: JsonObject = {}): Asked {
  return { id: exchangeId, model: 'think', stream: true, body: { model: 'think', input: 'Hi', ...body }, origin }
}

export function request(fields: Partial<GenerateRequest>): GenerateRequest {
  return { items: [], tools: [], stream: false, ...fields }
}

/** Frames of the given events, as an upstream sends them. */
export function frames(events: readonly (JsonObject & { readonly type: string })[]): Frame[] {
  return events.map((event, sequence_number) => ({
    event: event.type,
    data: JSON.stringify({ ...event, sequence_number }),
  }))
}

export function parsedFrames(frames: readonly Frame[]): JsonObject[] {
  return frames.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data) as JsonObject)
}

/** The response in the last event of a stream that ends with `[DONE]`. */
export function lastResponse(frames: readonly Frame[]): JsonObject {
  const { response } = JSON.parse(frames.at(-2)?.data ?? '{}') as { response: JsonObject }
  return response
}

/** All events that a reader gives for `frames`, its end included. */
export function readAll(
  reader: { parse(frame: Frame): Iterable<GenerateEvent>; end(): Iterable<GenerateEvent> },
  frames: readonly Frame[],
): GenerateEvent[] {
  return [...frames.flatMap((frame) => [...reader.parse(frame)]), ...reader.end()]
}
