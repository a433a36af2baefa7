import { expect } from 'chai'
import * as fc from 'fast-check'
import { fold, unfold } from '../../../../engine/kit.ts'
import type { GenerateReply, Item, JsonObject } from '../../../../engine/index.ts'
import { parse } from '../../../../plugins/protocols/messages/parse-request.ts'
import { print } from '../../../../plugins/protocols/messages/print-request.ts'
import { parseReply, printReply } from '../../../../plugins/protocols/messages/reply.ts'
import { asked, read, request, streamOf, target, write } from './fixtures.ts'

const words = fc.string({ minLength: 1 }).filter((text) => /\S/.test(text) && !text.startsWith('gw1.'))
const mark = fc.option(fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }), { nil: undefined })
const input = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)
const block = <T extends JsonObject>(arbitrary: fc.Arbitrary<T>) =>
  fc
    .tuple(arbitrary, mark)
    .map(([value, cache_control]) => (cache_control ? { ...value, cache_control } : value) as JsonObject)

const text = block(fc.record({ type: fc.constant('text'), text: words }))
const image = block(
  fc.constantFrom(
    { type: 'image', source: { type: 'url', url: 'https://i' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
    {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'd' },
      title: 'T',
      citations: { enabled: true },
    },
  ),
)
const round = fc.record({
  asked: fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 3 }),
  said: fc.array(text, { maxLength: 2 }),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom('look', 'move'),
      input,
      results: fc.array(fc.oneof(text, image), { minLength: 2, maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
  last: fc.array(text, { minLength: 1, maxLength: 2 }),
})

/** A conversation in the form the wire wants: what any client may send and get back unchanged. */
const conversation = fc.array(round, { minLength: 1, maxLength: 4 }).map((rounds) =>
  rounds.flatMap(({ asked, said, calls, last }, turn) => {
    const uses = calls.map((call, index) => ({
      type: 'tool_use',
      id: `t${turn}_${index}`,
      name: call.name,
      input: call.input,
    }))
    const results = calls.map((call, index) => ({
      type: 'tool_result',
      tool_use_id: `t${turn}_${index}`,
      content: call.results,
    }))
    const first = [...said, ...uses]
    return [
      { role: 'user', content: asked },
      ...(calls.length > 0
        ? [
            { role: 'assistant', content: first },
            { role: 'user', content: results },
          ]
        : []),
      { role: 'assistant', content: last },
    ]
  }),
)

describe('messages: properties', () => {
  it('a body that is parsed and printed is the same body', () => {
    const body = fc.record(
      {
        max_tokens: fc.integer({ min: 1, max: 9999 }),
        messages: conversation,
        system: fc.array(text, { minLength: 2, maxLength: 3 }),
        temperature: fc.constantFrom(0, 0.5, 1),
        top_k: fc.nat(),
        stop_sequences: fc.array(words, { minLength: 1 }),
        tools: fc.constant([
          { name: 'look', input_schema: { type: 'object' }, defer_loading: true },
          { type: 'bash_20250124', name: 'bash' },
        ]),
        metadata: fc.constant({ user_id: 'u' }),
        context_management: fc.constant({ edits: [] }),
        output_config: fc.constant({
          format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } },
        }),
        stream: fc.constant(true),
      },
      { requiredKeys: ['max_tokens', 'messages'] },
    )
    fc.assert(
      fc.property(body, (given) => {
        const { body: back, losses } = print(parse({ model: 'opus', ...given }), target())
        expect(back).to.deep.equal({ model: 'opus-1', ...given })
        expect(losses).to.deep.equal([])
      }),
      { numRuns: 60 },
    )
  })

  const part = fc.record({ type: fc.constant('text' as const), text: words })
  const item: fc.Arbitrary<Item> = fc.oneof(
    fc.record({
      type: fc.constant('message' as const),
      role: fc.constantFrom('system', 'developer', 'user', 'assistant'),
      content: fc.array(part, { maxLength: 2 }),
    }),
    fc.record({
      type: fc.constant('call' as const),
      kind: fc.constantFrom('function', 'custom'),
      callId: fc.constantFrom('a', 'b', 'c.d'),
      name: words,
      input: fc.string(),
    }),
    fc.record({
      type: fc.constant('result' as const),
      kind: fc.constant('function' as const),
      callId: fc.constantFrom('a', 'b', 'c.d'),
      content: fc.array(part, { maxLength: 2 }),
    }),
  )

  it('any items at all become turns the wire accepts', () => {
    fc.assert(
      fc.property(fc.array(item), fc.boolean(), (items, system_messages) => {
        const { body } = print(request({ items }), target({ system_messages }))
        const turns = body.messages as { role: string; content: JsonObject[] }[]
        expect(turns[0]?.role).to.equal('user')
        const seen = new Set<unknown>()
        for (const [index, { role, content }] of turns.entries()) {
          expect(content).to.not.have.length(0)
          expect(role).to.not.equal(turns[index + 1]?.role)
          const uses = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
          const next = turns[index + 1]?.content ?? []
          const answered = next.slice(0, uses.length).map((result) => result.tool_use_id)
          expect(answered).to.have.members(uses)
          expect(
            content.filter(({ type }) => type === 'tool_result').every(({ tool_use_id }) => seen.has(tool_use_id)),
          ).to.equal(true)
          for (const id of uses) {
            expect(seen.has(id)).to.equal(false)
            expect(id).to.match(/^[\w-]{1,64}$/)
            seen.add(id)
          }
        }
      }),
    )
  })

  const answer = fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text: words }),
      fc.record({
        type: fc.constant('text'),
        text: words,
        citations: fc.constant([{ type: 'char_location', cited_text: 'c' }]),
      }),
      fc.record({ type: fc.constant('thinking'), thinking: words, signature: words }),
      fc.record({ type: fc.constant('redacted_thinking'), data: words }),
      fc.record({ type: fc.constant('tool_use'), id: words, name: words, input }),
      fc.record({ type: fc.constant('server_tool_use'), id: words, name: words, input }),
    ),
    { minLength: 1 },
  ) as fc.Arbitrary<JsonObject[]>

  it('a folded stream is the whole answer', () => {
    fc.assert(
      fc.property(answer, (content) => {
        const whole = {
          id: 'msg_u',
          model: 'opus-1',
          content,
          stop_reason: 'end_turn',
          usage: { input_tokens: 3, output_tokens: 9 },
        }
        expect(fold(read(streamOf(content, 'end_turn')))).to.deep.equal(parseReply(whole))
      }),
    )
  })

  it('an answer comes back from a client of this protocol as it was, seals with their origin', () => {
    fc.assert(
      fc.property(answer, (content) => {
        const reply = parseReply({
          id: 'u',
          model: 'm',
          content,
          stop_reason: 'end_turn',
          usage: { input_tokens: 1, output_tokens: 1 },
        })
        const { body } = printReply(reply, asked)
        const streamed = fold(read(write(unfold(reply)).frames))
        expect(streamed.items).to.deep.equal(parseReply(body).items)
        const replayed = parse({ model: 'm', max_tokens: 1, messages: [{ role: 'assistant', content: body.content! }] })
        expect(native(replayed.items)).to.deep.equal(native(reply.items))
      }),
    )
  })
})

/** Items without what only an answer has: the origin of seals is the one the answer was asked from. */
function native(items: GenerateReply['items']): unknown {
  return items.map((item) =>
    item.type === 'reasoning' && item.seal ? { ...item, seal: { ...item.seal, origin: asked.origin } } : item,
  )
}
