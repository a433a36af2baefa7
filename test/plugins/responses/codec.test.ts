import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { fold, packSeal, unfold, unpackSeal } from '../../../engine/kit.ts'
import type { GenerateReply, Item, JsonObject, Reasoning } from '../../../engine/index.ts'
import codec from '../../../plugins/responses/codec.ts'
import { parse } from '../../../plugins/responses/parse-request.ts'
import { print } from '../../../plugins/responses/print-request.ts'
import { ResponsesParser } from '../../../plugins/responses/parse-events.ts'
import { parseReply, printReply } from '../../../plugins/responses/reply.ts'
import { ResponsesPrinter } from '../../../plugins/responses/print-events.ts'
import { asked, lastResponse, origin, readAll, request, target } from './exchange.ts'

const words = fc.string({ unit: 'grapheme', maxLength: 20 })
const filled = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const name = fc.stringMatching(/^[a-z_]{1,12}$/)
const text = fc.record({ type: fc.constant('text' as const), text: words })
const message = fc.record({
  type: fc.constant('message' as const),
  role: fc.constantFrom('user' as const, 'developer' as const, 'assistant' as const),
  content: fc.array(text, { minLength: 1, maxLength: 3 }),
})
const kind = fc.constantFrom('function' as const, 'custom' as const)
const call = fc.record(
  { type: fc.constant('call' as const), kind, callId: name, name, input: filled, namespace: name },
  { requiredKeys: ['type', 'kind', 'callId', 'name', 'input'] },
)
const result = fc.record({
  type: fc.constant('result' as const),
  kind,
  callId: name,
  content: fc.array(text, { minLength: 2, maxLength: 3 }),
})
const opaque = fc.record({
  type: fc.constant('opaque' as const),
  protocol: fc.constant('responses'),
  value: fc.record({ type: fc.constantFrom('image_generation_call', 'mcp_call'), id: name, data: words }),
})
const items: fc.Arbitrary<Item[]> = fc.array(fc.oneof(message, call, result, opaque), { maxLength: 8 })
const said: fc.Arbitrary<Item[]> = fc.array(
  fc.oneof(
    message.map((item) => ({ ...item, role: 'assistant' as const })),
    call,
    opaque,
  ),
  { minLength: 1, maxLength: 6 },
)

/** The items with ids that no two calls share, and with a result for each call. */
function answered(list: readonly Item[]): Item[] {
  return list.flatMap((item, at): readonly Item[] => {
    if (item.type === 'result') return []
    if (item.type !== 'call') return [item]
    const { kind } = item
    const content = ['told', 'twice'].map((text) => ({ type: 'text' as const, text }))
    return [
      { ...item, callId: `id_${at}` },
      { type: 'result', kind, callId: `id_${at}`, content },
    ]
  })
}

function nameless(items: readonly Item[]): Item[] {
  return items.map((item) => {
    const { id: _, ...rest } = item as Item & { id?: string }
    return rest
  })
}

describe('responses: codec', () => {
  it('says its name and reads the head of a body', () => {
    expect([codec.protocol, codec.operation]).to.deep.equal(['responses', 'generate'])
    expect(codec.head({ model: 'a', stream: true })).to.deep.equal({ model: 'a', stream: true, background: false })
    expect(codec.head({ model: 'a', stream: true, background: true })).to.deep.equal({
      model: 'a',
      stream: false,
      background: true,
    })
  })

  it('has a schema that takes what clients send and refuses what the limits forbid', () => {
    const valid = new Ajv2020({ strict: false, ownProperties: true }).compile(codec.schema)
    const takes = (body: JsonObject) => valid({ model: 'a', input: 'Hi', ...body })
    expect(valid({ model: 'a' })).to.equal(false)
    expect(
      takes({
        input: [
          { type: 'brand_new', id: null },
          { role: 'user', content: 'x' },
        ],
        anything: 1,
      }),
    ).to.equal(true)
    expect(
      takes({ tools: null, metadata: null, reasoning: { effort: null }, text: { format: null }, top_p: null }),
    ).to.equal(true)
    expect(takes({ stream_options: { include_obfuscation: false } })).to.equal(true)
    expect(takes({ metadata: Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, 'v'])) })).to.equal(
      true,
    )
    for (const wrong of [
      { model: '' },
      { input: 3 },
      { input: ['text'] },
      { metadata: { a: 1 } },
      { metadata: { ['k'.repeat(65)]: 'v' } },
      { metadata: { a: 'v'.repeat(513) } },
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) },
      { max_output_tokens: 0 },
      { top_logprobs: 21 },
      { truncation: 'some' },
      { tools: [{}] },
    ])
      expect(takes(wrong), JSON.stringify(wrong).slice(0, 80)).to.equal(false)
  })

  it('refuses to be asked for usage, which it always reports', () => {
    const flaw = (stream_options: JsonObject | null) => codec.check?.({ model: 'a', input: 'Hi', stream_options })
    expect(flaw({ include_usage: false })).to.deep.equal({
      param: 'stream_options.include_usage',
      reason: 'usage is always reported and cannot be asked for',
    })
    expect([flaw(null), flaw({ include_usage: null }), flaw({ include_obfuscation: false })]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('parses what it prints', () => {
    fc.assert(
      fc.property(items, words, (list, start) => {
        const system: Item = { type: 'message', role: 'system', content: [{ type: 'text', text: start }] }
        const first: Item = { type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }
        const asking = request({
          items: [system, first, ...answered(list)],
          temperature: 0.5,
          parallelTools: true,
          stream: true,
        })
        const { body, losses } = print(asking, target())
        expect(losses).to.deep.equal([])
        const read = parse(body)
        expect(read.items).to.deep.equal(asking.items)
        expect(read).to.deep.include({ temperature: 0.5, stream: true, store: false })
      }),
    )
  })

  it('streams what it answers whole, and reads both back alike', () => {
    const stop = fc.constantFrom('end' as const, 'length' as const, 'filter' as const)
    fc.assert(
      fc.property(said, stop, (list, stop) => {
        const reply: GenerateReply = { items: list, stop }
        const ask = asked({ store: false })
        const { body } = printReply(reply, ask)
        const writer = new ResponsesPrinter(ask, 'stream')
        const frames = [...unfold(reply)].flatMap((event) => [...writer.print(event)])
        const { completed_at: _, ...last } = lastResponse(frames)
        const { completed_at: __, ...whole } = body
        expect(last).to.deep.equal(JSON.parse(JSON.stringify(whole)))
        const read = fold(readAll(new ResponsesParser(undefined), frames))
        expect(read).to.deep.equal(parseReply(body))
        expect(nameless(read.items)).to.deep.equal(list)
        const called = list.some(({ type }) => type === 'call')
        expect(read.stop).to.equal(stop === 'end' && called ? 'tool' : stop)
      }),
    )
  })
})

/** How a client of another protocol gets the reasoning of an answer, and hands it back. */
const clients: Readonly<Record<string, (item: Reasoning) => Reasoning>> = {
  // A text and a proof: what a messages client keeps.
  text(item) {
    const proof = item.seal ? packSeal(origin, { kind: item.seal.kind, data: item.seal.data }) : ''
    const { origin: sealed, value } = unpackSeal(proof) ?? { origin: '', value: {} }
    const { kind, data } = value as { kind: 'encrypted'; data: string }
    const joined = item.parts.map((part) => part.text).join('')
    return {
      type: 'reasoning',
      parts: [{ kind: 'summary', text: joined }],
      seal: { origin: sealed, kind, data },
    }
  },
  // This protocol's own client, which sends neither id nor content.
  item(item) {
    const { body } = printReply({ items: [item], stop: 'end' }, asked({ store: false }))
    const [printed] = body['output'] as JsonObject[]
    const { id: _, status: __, ...sent } = printed ?? {}
    const [read] = parse({ model: 'think', input: [{ ...sent, content: null }] }).items
    return read as Reasoning
  },
}

describe('responses: reasoning round trip', () => {
  const native = {
    id: 'rs_68af',
    type: 'reasoning',
    summary: [
      { type: 'summary_text', text: '**One**\n\nä' },
      { type: 'summary_text', text: '' },
    ],
    content: [{ type: 'reasoning_text', text: 'raw' }],
    encrypted_content: 'gAAAAABo+/==',
    status: 'completed',
  }

  for (const [client, replay] of Object.entries(clients)) {
    it(`returns to its origin byte for byte through a client that keeps ${client}`, () => {
      const [item] = parseReply({ status: 'completed', output: [native] }).items
      const { id, status: _, ...content } = native
      const turn = request({ items: [replay(item as Reasoning)] })
      const [stateless] = print(turn, target()).body['input'] as JsonObject[]
      expect(JSON.stringify(stateless)).to.equal(
        JSON.stringify({
          type: 'reasoning',
          summary: content.summary,
          content: content.content,
          encrypted_content: content.encrypted_content,
        }),
      )
      const [stored] = print({ ...turn, store: true }, target()).body['input'] as JsonObject[]
      expect(stored).to.deep.equal({ ...content, id })
      expect(print(turn, { ...target(), origin: 'other/think' })).to.deep.include({
        losses: [{ field: 'reasoning', because: 'it comes from another model or in the form of another protocol' }],
      })
    })
  }

  it('hands proofs of another protocol through its own clients unchanged, in order among calls', () => {
    const thinking = (text: string, data: string): Reasoning => ({
      type: 'reasoning',
      parts: [{ kind: 'text', text }],
      seal: { kind: 'signature', data },
    })
    const redacted: Reasoning = { type: 'reasoning', parts: [], seal: { kind: 'redacted', data: 'cmVk' } }
    const turn: Item[] = [
      thinking('A', 'c2lnQQ=='),
      { type: 'call', kind: 'function', callId: 'call_1', name: 'look', input: '{}' },
      redacted,
      thinking('B', 'c2lnQg=='),
      { type: 'call', kind: 'function', callId: 'call_2', name: 'look', input: '{}' },
    ]
    const { body } = printReply({ items: turn, stop: 'tool' }, asked())
    const back = nameless(parse({ model: 'think', input: body['output'] }).items)
    expect(back).to.deep.equal(
      turn.map((item) => (item.type === 'reasoning' && item.seal ? { ...item, seal: { origin, ...item.seal } } : item)),
    )
  })

  it('has no seal where there is nothing to return', () => {
    expect(
      parseReply({ status: 'completed', output: [{ id: 'rs_1', type: 'reasoning', summary: [] }] }).items,
    ).to.deep.equal([{ type: 'reasoning', id: 'rs_1', parts: [] }])
  })
})
