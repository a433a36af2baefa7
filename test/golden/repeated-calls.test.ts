import { expect } from 'chai'
import * as fc from 'fast-check'
import type { Item, JsonObject } from '../../engine/index.ts'
import type { Client } from './pairs.ts'
import { origin } from './arbitrary-items.ts'
import { upstreams } from './upstreams.ts'
import type { Generating } from './upstreams.ts'
import chat from '../../plugins/protocols/chat/codec.ts'
import gemini from '../../plugins/protocols/gemini/codec.ts'
import messages from '../../plugins/protocols/messages/codec.ts'
import responses from '../../plugins/responses/codec.ts'

/** A call of a turn: its number in the conversation, its id, and whether anybody answered it. */
interface Call {
  readonly number: number
  readonly id: string
  readonly answered: boolean
}

/** Turns of calls; ids come again within a turn and in later ones. */
const conversations = fc
  .array(fc.array(fc.record({ id: fc.constantFrom('a', 'b'), answered: fc.boolean() }), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((turns) => {
    let number = 0
    return turns.map((turn) => turn.map((call) => ({ ...call, number: number++ })))
  })

/** Those with a result, as nobody could tell apart: of calls with one id in one turn the first ones are answered. */
function settled(turn: readonly Call[]): readonly Call[] {
  const count = (id: string) => turn.filter((call) => call.id === id && call.answered).length
  return turn.map((call, at) => ({
    ...call,
    answered: turn.slice(0, at).filter(({ id }) => id === call.id).length < count(call.id),
  }))
}

const input = ({ number }: Call) => JSON.stringify({ number })

/** How a client of each protocol writes a turn: a question, the calls, and the results that there are. */
const written: Record<Client, { codec: Generating; field: string; turn: (turn: readonly Call[]) => JsonObject[] }> = {
  chat: {
    codec: chat as Generating,
    field: 'messages',
    turn: (turn) => [
      { role: 'user', content: 'go on' },
      {
        role: 'assistant',
        content: null,
        tool_calls: turn.map((call) => ({ id: call.id, type: 'function', function: { name: 'f', arguments: input(call) } })),
      },
      ...turn
        .filter(({ answered }) => answered)
        .map(({ id, number }) => ({ role: 'tool', tool_call_id: id, content: `result ${number}` })),
    ],
  },
  messages: {
    codec: messages as Generating,
    field: 'messages',
    turn: (turn) => [
      { role: 'user', content: 'go on' },
      {
        role: 'assistant',
        content: turn.map(({ id, number }) => ({ type: 'tool_use', id, name: 'f', input: { number } })),
      },
      {
        role: 'user',
        content: turn
          .filter(({ answered }) => answered)
          .map(({ id, number }) => ({ type: 'tool_result', tool_use_id: id, content: `result ${number}` })),
      },
    ],
  },
  responses: {
    codec: responses as Generating,
    field: 'input',
    turn: (turn) => [
      { role: 'user', content: 'go on' },
      ...turn.map((call) => ({ type: 'function_call', call_id: call.id, name: 'f', arguments: input(call) })),
      ...turn
        .filter(({ answered }) => answered)
        .map(({ id, number }) => ({ type: 'function_call_output', call_id: id, output: `result ${number}` })),
    ],
  },
  gemini: {
    codec: gemini as Generating,
    field: 'contents',
    turn: (turn) => [
      { role: 'user', parts: [{ text: 'go on' }] },
      { role: 'model', parts: turn.map(({ id, number }) => ({ functionCall: { id, name: 'f', args: { number } } })) },
      {
        role: 'user',
        parts: turn
          .filter(({ answered }) => answered)
          .map(({ id, number }) => ({ functionResponse: { id, name: 'f', response: { output: `result ${number}` } } })),
      },
    ],
  },
}

describe('calls with repeated ids', () => {
  for (const [client, { codec, field, turn }] of Object.entries(written))
    for (const upstream of upstreams)
      it(`each get their own result, from ${client} to ${upstream.name}`, () => {
        fc.assert(
          fc.property(conversations, (turns) => {
            const calls = turns.map(settled)
            const request = codec.request.parse({ model: 'm', max_tokens: 9, [field]: calls.flatMap(turn) })
            const { body, losses } = upstream.codec.request.print(request, {
              model: 'm',
              record: { name: 'm' } as never,
              offer: { operation: 'generate', protocol: upstream.codec.protocol, traits: upstream.traits },
              origin,
            })
            expect(paired(upstream.codec.request.parse(body).items)).to.deep.equal(
              calls.flat().map(({ number, answered }) => [number, answered ? `result ${number}` : 'cancelled']),
            )
            const cancelled = calls.flat().some(({ answered }) => !answered)
            expect(losses.some(({ because }) => because.includes('cancelled'))).to.equal(cancelled)
          }),
          { numRuns: 60 },
        )
      })
})

/** The number of each call with what its result says; ids must be unique. */
function paired(items: readonly Item[]): readonly (readonly [number, string])[] {
  const calls = items.filter((item) => item.type === 'call')
  const results = items.filter((item) => item.type === 'result')
  expect(new Set(calls.map(({ callId }) => callId)).size).to.equal(calls.length)
  expect(results.length).to.equal(calls.length)
  return calls.map(({ callId, input }) => {
    const [part] = results.find((result) => result.callId === callId)?.content ?? []
    const told = part?.type === 'text' ? part.text : ''
    return [(JSON.parse(input) as { number: number }).number, told.includes('cancelled') ? 'cancelled' : told]
  })
}
