import type {
  Asked,
  Frame,
  GenerateEvent,
  GenerateRequest,
  JsonObject,
  PrintTarget,
  Traits,
} from '../../../../engine/index.ts'
import codec from '../../../../plugins/protocols/messages/codec.ts'
import { print } from '../../../../plugins/protocols/messages/print-request.ts'

export const origin = 'gateway/opus'

export function target(traits: Traits = {}, maxOutput: number | null = 8192): PrintTarget {
  return {
    model: 'opus-1',
    origin,
    offer: { operation: 'generate', protocol: 'messages', traits },
    record: {
      name: 'opus',
      provider: 'gateway',
      upstream_model: 'opus-1',
      aliases: [],
      ...(maxOutput === null ? {} : { max_output_tokens: maxOutput }),
      supports_images: true,
      supports_tools: true,
      supports_mapeval: false,
      supports_realtime: false,
      auto_eligible: false,
      fallbacks: [],
    },
  }
}

export const asked: Asked = {
  id: '0193e8b2-7f00-7abc-8def-0123456789ab',
  model: 'opus',
  stream: true,
  body: {},
  origin,
}

export function request(part: Partial<GenerateRequest>): GenerateRequest {
  return {
    items: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    tools: [],
    stream: false,
    ...part,
  }
}

/** The printed body and the fields that were lost. */
export function printed(
  part: Partial<GenerateRequest>,
  to: PrintTarget = target(),
): { body: JsonObject; lost: string[]; cuts: readonly string[] } {
  const { body, losses, cuts = [] } = print(request(part), to)
  return { body, lost: losses.map((loss) => loss.field), cuts }
}

export function frames(...events: readonly JsonObject[]): Frame[] {
  return events.map((event) => ({ event: event.type as string, data: JSON.stringify(event) }))
}

export function read(
  list: readonly Frame[],
  ...more: Parameters<NonNullable<typeof codec.events>['parser']>
): GenerateEvent[] {
  const reader = codec.events!.parser(...more)
  return [...list.flatMap((frame) => [...reader.parse(frame)]), ...reader.end()]
}

export function write(events: Iterable<GenerateEvent>): { frames: Frame[]; lost: string[] } {
  const writer = codec.events!.printer(asked)
  const written = [...events].flatMap((event) => [...writer.print(event)])
  return { frames: written, lost: writer.losses.map((loss) => loss.field) }
}

export function data(list: readonly Frame[]): JsonObject[] {
  return list.map((frame) => JSON.parse(frame.data) as JsonObject)
}

/** Frames of a streamed answer around the given blocks, each as one start, one delta and one stop. */
export function streamOf(blocks: readonly JsonObject[], stop: string): Frame[] {
  return frames(
    {
      type: 'message_start',
      message: {
        id: 'msg_u',
        type: 'message',
        role: 'assistant',
        model: 'opus-1',
        content: [],
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    },
    ...blocks.flatMap((block, index) => blockEvents(block, index)),
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  )
}

function blockEvents(block: JsonObject, index: number): JsonObject[] {
  const delta = (value: JsonObject) => ({ type: 'content_block_delta', index, delta: value })
  const around = (start: JsonObject, ...deltas: JsonObject[]) => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas,
    { type: 'content_block_stop', index },
  ]
  switch (block.type) {
    case 'text':
      return around(
        { type: 'text', text: '' },
        delta({ type: 'text_delta', text: block.text }),
        ...((block.citations ?? []) as JsonObject[]).map((citation) => delta({ type: 'citations_delta', citation })),
      )
    case 'thinking':
      return around(
        { type: 'thinking', thinking: '', signature: '' },
        delta({ type: 'thinking_delta', thinking: block.thinking }),
        delta({ type: 'signature_delta', signature: block.signature }),
      )
    case 'tool_use':
    case 'server_tool_use':
      return around(
        { ...block, input: {} },
        delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }),
      )
    default:
      return around(block)
  }
}
