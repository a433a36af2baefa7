import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { Fold, unfold } from '../../../../engine/kit.ts'
import type { GenerateReply, Item, JsonObject, Part } from '../../../../engine/index.ts'
import codec, { chatTraits } from '../../../../plugins/protocols/chat/codec.ts'
import { asked, body, chunk, events, origin, read, reply, request, target, write } from './support.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((said) => !said.startsWith('\n\n'))
const message = (role: 'user' | 'assistant') =>
  text.map((said): Item => ({ type: 'message', role, content: [{ type: 'text', text: said } satisfies Part] }))
const seal = fc.record({
  kind: fc.constantFrom('signature' as const, 'redacted' as const, 'encrypted' as const),
  data: fc.string(),
})
const reasoning = fc.tuple(fc.array(text, { maxLength: 2 }), seal).map(([parts, seal]): Item => ({
  type: 'reasoning',
  parts: parts.map((said) => ({ kind: 'text', text: said })),
  seal,
}))

/** Some blocks of a turn, never two messages in a row, with calls numbered from `from`. */
function turn(kinds: readonly ('message' | 'reasoning' | 'call')[], blocks: { said: Item[]; thought: Item[] }): Item[] {
  return kinds.map((kind, at): Item => {
    if (kind === 'call')
      return { type: 'call', kind: 'function', callId: `call_${at}`, name: 'f', input: `{"at":${at}}` }
    const list = kind === 'message' ? blocks.said : blocks.thought
    return list[at] as Item
  })
}

const kinds = fc
  .array(fc.constantFrom('message' as const, 'reasoning' as const, 'call' as const), { maxLength: 8 })
  .map((list) => list.filter((kind, at) => !(kind === 'message' && list[at - 1] === 'message')))
const turns = kinds
  .chain((list) =>
    fc.record({
      list: fc.constant(list),
      said: fc.array(message('assistant'), { minLength: list.length, maxLength: list.length }),
      thought: fc.array(reasoning, { minLength: list.length, maxLength: list.length }),
    }),
  )
  .map(({ list, said, thought }) => turn(list, { said, thought }))

const withOrigin = (items: readonly Item[]): Item[] =>
  items.map((item) => (item.type === 'reasoning' && item.seal ? { ...item, seal: { origin, ...item.seal } } : item))

/** Words and calls that no reasoning keeps apart: chat knows no order among them, words come first. */
function settled(items: readonly Item[]): Item[] {
  const result: Item[] = []
  let run: Item[] = []
  const flush = () => {
    const words = run.filter((item) => item.type === 'message')
    const joined = words
      .flatMap((item) => item.content)
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('\n\n')
    if (words.length > 0) result.push({ type: 'message', role: 'assistant', content: [{ type: 'text', text: joined }] })
    result.push(...run.filter((item) => item.type === 'call'))
    run = []
  }
  for (const item of items) {
    if (item.type === 'reasoning') {
      flush()
      result.push(item)
    } else run.push(item)
  }
  flush()
  return result
}

describe('chat codec', () => {
  it('reads the head of a body', () => {
    expect(codec.head(body({ stream: true }))).to.deep.equal({ model: 'small', stream: true, background: false })
    expect(codec.head(body({ stream: null }))).to.deep.equal({ model: 'small', stream: false, background: false })
  })

  it('sees a failure in a frame', () => {
    expect(codec.failed?.({ event: 'error', data: '{"message":"gone"}' })).to.include({ status: 502, message: 'gone' })
    expect(codec.failed?.({ data: '{"error":{"message":"busy","code":503}}' })).to.include({
      status: 503,
      message: 'busy',
    })
    for (const data of [
      '[DONE]',
      '{"error":',
      JSON.stringify(chunk({ content: '"error"' })),
      JSON.stringify(chunk({}, null, { error: null })),
    ]) {
      expect(codec.failed?.({ data })).to.equal(undefined)
    }
  })

  it('describes every trait', () => {
    for (const [name, trait] of Object.entries(chatTraits)) {
      expect(trait.description, name).to.match(/^[A-Z].*\.$/)
      expect(trait, name).to.have.property('default')
    }
  })

  it('gives a client its own turn back, block by block, whole and streamed', () => {
    fc.assert(
      fc.property(turns, (items) => {
        const answer: GenerateReply = { items, stop: 'end' }
        const { body: printed } = reply.print(answer, asked())
        const [choice] = printed['choices'] as [{ message: JsonObject }]
        const parsed = request.parse(body({ messages: [choice.message] })).items
        if (items.length > 0) expect(parsed).to.deep.equal(withOrigin(settled(items)))
        const chunks = write(unfold(answer)) as { choices: { delta: JsonObject }[] }[]
        expect(accumulated(chunks.slice(0, -1).map(({ choices }) => choices[0]?.delta ?? {}))).to.deep.equal(
          normal(choice.message),
        )
      }),
    )
  })

  it('keeps a conversation on its way to an upstream', () => {
    const exchange = fc.tuple(message('user'), turns).map(([asked, said]) => {
      const items = settled(said.filter(({ type }) => type !== 'reasoning'))
      const results = items
        .filter((item) => item.type === 'call')
        .map(({ callId }): Item => ({
          type: 'result',
          kind: 'function',
          callId,
          content: [{ type: 'text', text: 'r' }],
        }))
      return [asked, ...items, ...results]
    })
    fc.assert(
      fc.property(fc.array(exchange, { minLength: 1, maxLength: 3 }), (exchanges) => {
        const items = exchanges.flatMap((one, at) =>
          one.map((item) => ('callId' in item ? { ...item, callId: `${item.callId}_of_${at}` } : item)),
        )
        const { body: printed, losses } = request.print({ items, tools: [], stream: false }, target())
        expect(losses).to.deep.equal([])
        expect(request.parse(printed).items).to.deep.equal(items)
      }),
    )
  })

  it('reads a stream as the whole answer it amounts to', () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.array(fc.tuple(text, text), { maxLength: 3 }),
        fc.nat(5),
        (thought, said, calls, size) => {
          const tools = calls.map(([name, input], at) => ({
            id: `call_${at}`,
            type: 'function',
            function: { name, arguments: input },
          }))
          const message = { role: 'assistant', reasoning_content: thought, content: said, tool_calls: tools }
          const finish = tools.length > 0 ? 'tool_calls' : 'stop'
          const whole = {
            id: 'c1',
            model: 'small-1',
            created: 5,
            choices: [{ index: 0, message, finish_reason: finish }],
          }
          const cut = (long: string) =>
            Array.from({ length: Math.ceil(long.length / (size + 1)) }, (_, at) =>
              long.slice(at * (size + 1), (at + 1) * (size + 1)),
            )
          const chunks = [
            ...cut(thought).map((piece) => chunk({ reasoning_content: piece })),
            ...cut(said).map((piece) => chunk({ content: piece })),
            ...tools.flatMap(({ function: called, ...rest }, index) => [
              chunk({ tool_calls: [{ index, ...rest, function: { name: called.name, arguments: '' } }] }),
              ...cut(called.arguments).map((piece) =>
                chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
              ),
            ]),
            chunk({}, finish),
            '[DONE]',
          ]
          const folded = new Fold()
          for (const event of read(chunks, events.parser())) folded.add(event)
          expect(folded.reply()).to.deep.equal(reply.parse(whole))
        },
      ),
    )
  })
})

/** What a client puts together from deltas, as the SDKs do: texts are joined, lists of calls by index, the rest replaced. */
function accumulated(deltas: readonly JsonObject[]): JsonObject {
  const calls: { index: number; id?: string; function: { name?: string; arguments: string } }[] = []
  let message: JsonObject = {}
  for (const { tool_calls: pieces, ...delta } of deltas) {
    for (const piece of (pieces ?? []) as typeof calls) {
      const call = calls[piece.index]
      if (call) call.function.arguments += piece.function.arguments
      else calls[piece.index] = { ...piece, function: { ...piece.function } }
    }
    for (const [name, value] of Object.entries(delta)) {
      const before = message[name]
      message = {
        ...message,
        [name]: typeof before === 'string' && typeof value === 'string' && name !== 'role' ? before + value : value,
      }
    }
  }
  const tools = calls.map(({ index: _index, ...call }) => call)
  return normal(tools.length > 0 ? { ...message, tool_calls: tools } : message)
}

/** An empty content and none are the same to a client. */
function normal(message: JsonObject): JsonObject {
  return { ...message, content: message['content'] ?? '' }
}

describe('chat schema', () => {
  const validate = new Ajv2020({ strict: false, ownProperties: true }).compile(codec.schema)
  const message = (fields: JsonObject) => body({ messages: [{ role: 'user', content: 'hi' }, fields] })

  const accepted: [string, JsonObject][] = [
    ['the least', body()],
    ['unknown fields', body({ anything: { at: 'all' }, logit_bias: null })],
    [
      'nulls where SDKs send them',
      body({
        tools: null,
        stop: null,
        stream: null,
        temperature: null,
        response_format: null,
        stream_options: null,
        metadata: null,
      }),
    ],
    [
      'a replayed answer',
      message({
        role: 'assistant',
        content: null,
        refusal: null,
        annotations: [],
        audio: null,
        function_call: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
        reasoning_content: 'hm',
        reasoning_details: [{ type: 'odd' }],
      }),
    ],
    ['unknown parts', message({ role: 'user', content: [{ type: 'video_url', video_url: { url: 'v' } }] })],
    ['an image as a text', message({ role: 'user', content: [{ type: 'image_url', image_url: 'https://a' }] })],
    ['unknown tools', body({ tools: [{ type: 'web_search' }] })],
    ['unknown roles', message({ role: 'critic', content: 'x' })],
  ]
  for (const [name, value] of accepted)
    it(`accepts ${name}`, () => expect(validate(value), JSON.stringify(validate.errors)).to.equal(true))

  const refused: [string, JsonObject, string][] = [
    ['no messages', { model: 'small', messages: [] }, '/messages'],
    ['no model', { messages: [{ role: 'user', content: 'a' }] }, ''],
    ['content of another kind', message({ role: 'user', content: 7 }), '/messages/1/content'],
    ['a text part without text', message({ role: 'user', content: [{ type: 'text' }] }), '/messages/1/content/0'],
    [
      'an image without an address',
      message({ role: 'user', content: [{ type: 'image_url', image_url: {} }] }),
      '/messages/1/content/0/image_url',
    ],
    [
      'a call without a name',
      message({ role: 'assistant', tool_calls: [{ id: 'a', function: {} }] }),
      '/messages/1/tool_calls/0/function',
    ],
    ['a result without its call', message({ role: 'tool', content: 'x' }), '/messages/1'],
    ['a tool without a definition', body({ tools: [{ type: 'function' }] }), '/tools/0'],
    ['a temperature out of range', body({ temperature: 3 }), '/temperature'],
    ['too many alternatives', body({ logprobs: true, top_logprobs: 21 }), '/top_logprobs'],
    ['a stream that is no flag', body({ stream: 'yes' }), '/stream'],
  ]
  for (const [name, value, place] of refused) {
    it(`refuses ${name}`, () => {
      expect(validate(value)).to.equal(false)
      expect(validate.errors?.[0]?.instancePath).to.equal(place)
    })
  }
})
