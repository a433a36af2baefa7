import { expect } from 'chai'
import * as fc from 'fast-check'
import { fold, unfold } from '../../engine/kit.ts'
import type { Frame, GenerateEvent, GenerateReply, JsonObject } from '../../engine/index.ts'
import chat from '../../plugins/protocols/chat/codec.ts'
import messages from '../../plugins/protocols/messages/codec.ts'
import responses from '../../plugins/responses/codec.ts'
import { origin } from './arbitrary-items.ts'
import { replies } from './arbitrary-replies.ts'
import type { Generating } from './upstreams.ts'

const runs = { numRuns: 200 }

describe('any answer', () => {
  const asked = {
    id: '00000000-0000-7000-8000-000000000000',
    model: 'm',
    stream: true,
    origin,
    body: { stream_options: { include_usage: true }, store: false },
  }
  const both = (codec: Generating, reply: GenerateReply) => {
    const { body, losses } = codec.reply.print(reply, asked)
    const writer = codec.events.printer(asked)
    const frames = [...unfold(reply)].flatMap((event) => [...writer.print(event)])
    expect(writer.losses).to.have.deep.members(losses)
    return { body, frames }
  }

  for (const codec of [messages, responses] as readonly Generating[]) {
    it(`says the same to ${codec.protocol} clients, whole and streamed`, () => {
      fc.assert(
        fc.property(replies, (reply) => {
          const { body, frames } = both(codec, reply)
          expect(read(codec, frames)).to.deep.equal(comparable(codec.reply.parse(body)))
        }),
        runs,
      )
    })
  }

  it('says the same to chat clients, whole and streamed', () => {
    fc.assert(
      fc.property(replies, (reply) => {
        const { body, frames } = both(chat as Generating, reply)
        const [choice] = body['choices'] as { message: JsonObject; finish_reason: string }[]
        const { content, refusal, ...message } = choice?.message ?? {}
        expect(gathered(frames)).to.deep.equal({
          message: { ...message, content: content ?? '', refusal: refusal ?? '' },
          finish_reason: choice?.finish_reason,
          usage: body['usage'] ?? null,
        })
      }),
      runs,
    )
  })
})

/** What a client of chunks puts together: texts grow, calls grow by their index, anything else is told once. */
function gathered(frames: readonly Frame[]): unknown {
  const chunks = frames.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data) as Chunk)
  const message: Record<string, unknown> = {}
  const calls: Record<string, unknown>[] = []
  for (const { tool_calls: pieces = [], ...delta } of chunks.flatMap(({ choices }) =>
    choices.map((one) => one.delta),
  )) {
    for (const [field, value] of Object.entries(delta)) {
      const grows = ['content', 'refusal', 'reasoning_content'].includes(field)
      message[field] = grows
        ? `${(message[field] as string | undefined) ?? ''}${(value as string | null) ?? ''}`
        : value
    }
    for (const { index, function: made, custom, ...piece } of pieces) {
      const before = calls[index] ?? piece
      const inner = made ?? custom
      const known = before[made ? 'function' : 'custom'] as Record<string, string> | undefined
      const grown = Object.entries(inner ?? {}).map(([field, text]) => [field, (known?.[field] ?? '') + text])
      calls[index] = { ...before, [made ? 'function' : 'custom']: { ...known, ...Object.fromEntries(grown) } }
    }
  }
  const finish_reason = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])[0]
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage ?? null
  return { message: calls.length > 0 ? { ...message, tool_calls: calls } : message, finish_reason, usage }
}

interface Chunk {
  readonly choices: readonly { readonly delta: Delta; readonly finish_reason: string | null }[]
  readonly usage?: JsonObject | null
}

interface Delta {
  readonly [field: string]: unknown
  readonly tool_calls?: readonly (JsonObject & {
    readonly index: number
    readonly function?: Readonly<Record<string, string>>
    readonly custom?: Readonly<Record<string, string>>
  })[]
}

function read(codec: Generating, frames: readonly Frame[]): unknown {
  const reader = codec.events.parser()
  const events = [...frames.flatMap((frame) => [...reader.parse(frame)]), ...reader.end()] as GenerateEvent[]
  return comparable(fold(events))
}

/** An answer without its time and tier, which a stream tells only at its start. */
function comparable({ created: _created, serviceTier: _tier, ...reply }: GenerateReply): unknown {
  return reply
}
