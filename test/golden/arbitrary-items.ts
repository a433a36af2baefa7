import * as fc from 'fast-check'
import type { Item, MediaSource, Message, Part, Reasoning, Seal, ToolCall, ToolResult } from '../../engine/index.ts'

/** The origin that all targets and answers have here, and one that none has. */
export const origin = 'provider/family'
const foreign = 'another/family'

export const said = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', ' ', '\n', 'Error: no', 'gw1.', 'a\u2028b', '[DONE]', 'data: x', '{"input":"x"}'),
)
export const word = fc.oneof(
  fc.stringMatching(/^[a-z]\w{0,8}$/),
  fc.constantFrom('look', 'look.at', 'x'.repeat(70), '__proto__', 'Zürich'),
)
const callId = fc.constantFrom('a', 'call_1', 'id with spaces', 'y'.repeat(80))
export const cache = fc.constantFrom({}, { ttl: '5m' }, { ttl: '1h' })
export const schema = fc.constantFrom(
  { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  { type: 'object' },
  { properties: {} },
)
const source: fc.Arbitrary<MediaSource> = fc.constantFrom<MediaSource>(
  { kind: 'data', mediaType: 'image/png', data: 'AA==' },
  { kind: 'data', mediaType: 'application/pdf', data: 'AA==' },
  { kind: 'data', mediaType: 'text/csv', data: 'YSxi' },
  { kind: 'data', mediaType: 'application/zip', data: 'AA==' },
  { kind: 'text', mediaType: 'text/plain', text: 'plain' },
  { kind: 'url', url: 'https://example/a' },
  { kind: 'id', id: 'file-1', api: 'responses' },
  { kind: 'id', id: 'file-2', api: 'messages' },
)

/** An object with any of these fields. */
export function optional<T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>
}

export function joined<A extends object, B extends object>(
  one: fc.Arbitrary<A>,
  other: fc.Arbitrary<B>,
): fc.Arbitrary<A & B> {
  return fc.tuple(one, other).map(([a, b]) => ({ ...a, ...b }))
}

const textPart = joined(fc.record({ type: fc.constant('text' as const), text: said }), optional({ cache }))
export const refusalPart = fc.record({ type: fc.constant('refusal' as const), text: said })
const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 5, arbitrary: textPart },
  joined(
    fc.record({ type: fc.constant('image' as const), source }),
    optional({ cache, detail: fc.constantFrom('low', 'auto') }),
  ),
  joined(
    fc.record({ type: fc.constant('file' as const), source }),
    optional({ cache, filename: fc.constant('a.pdf'), title: word, context: word, citations: fc.boolean() }),
  ),
  fc.constant({
    type: 'audio' as const,
    source: { kind: 'data' as const, mediaType: 'audio/wav', data: 'AA==' },
    format: 'wav',
  }),
  fc
    .constantFrom('chat', 'messages', 'responses')
    .map((protocol) => ({ type: 'opaque' as const, protocol, value: { type: 'own' } })),
)
const asking: fc.Arbitrary<Message> = fc.oneof(
  joined(
    fc.record({
      type: fc.constant('message' as const),
      role: fc.constant('user' as const),
      content: fc.array(part, { maxLength: 3 }),
    }),
    optional({ name: word }),
  ),
  fc.record({
    type: fc.constant('message' as const),
    role: fc.constantFrom('system' as const, 'developer' as const),
    content: fc.array(textPart, { maxLength: 2 }),
  }),
)
const answering: fc.Arbitrary<Message> = joined(
  fc.record({
    type: fc.constant('message' as const),
    role: fc.constant('assistant' as const),
    content: fc
      .array(fc.oneof(textPart, refusalPart), { maxLength: 2 })
      .map((parts): readonly Part[] => [{ type: 'text', text: 'Well.' }, ...parts]),
  }),
  optional({ phase: fc.constantFrom('commentary', 'final_answer') }),
)
const seal = (origins: fc.Arbitrary<string>): fc.Arbitrary<Seal> =>
  joined(
    fc.record({
      kind: fc.constantFrom('signature' as const, 'redacted' as const, 'encrypted' as const),
      data: fc.constantFrom(
        'sig',
        '',
        '{"type":"reasoning.text","signature":"s"}',
        '{"id":"rs_1","summary":[],"encrypted_content":"e"}',
      ),
    }),
    optional({ origin: origins }),
  )
export const reasoning = (origins: fc.Arbitrary<string>): fc.Arbitrary<Reasoning> =>
  joined(
    fc.record({
      type: fc.constant('reasoning' as const),
      parts: fc.array(fc.record({ kind: fc.constantFrom('summary' as const, 'text' as const), text: said }), {
        maxLength: 2,
      }),
    }),
    optional({ seal: seal(origins) }),
  )
const input = fc.constantFrom(
  '{"city":"Rome"}',
  '{}',
  '',
  '[1]',
  '{"city":',
  '{ "n": 1.0, "b": 12345678901234567890 }',
  'free text',
)
const call: fc.Arbitrary<ToolCall> = joined(
  fc.record({
    type: fc.constant('call' as const),
    kind: fc.constantFrom('function' as const, 'custom' as const),
    callId,
    name: word,
    input,
  }),
  optional({ namespace: fc.constantFrom('ns', 'agents'), cache }),
)
const result: fc.Arbitrary<ToolResult> = joined(
  fc.record({
    type: fc.constant('result' as const),
    kind: fc.constantFrom('function' as const, 'custom' as const),
    callId,
    content: fc.array(part, { maxLength: 2 }),
  }),
  optional({ error: fc.boolean(), cache }),
)
export const opaque: fc.Arbitrary<Item> = fc.constantFrom('chat', 'messages', 'responses').map((protocol) => ({
  type: 'opaque' as const,
  protocol,
  value: { type: 'own_item', role: 'own' },
  role: 'assistant' as const,
}))

/** Calls, perhaps after some words, together with the results of some, in any order. */
const exchanged = fc
  .tuple(
    fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: (one) => one.callId }),
    fc.array(answering, { maxLength: 1 }),
  )
  .chain(([calls, words]) =>
    fc.shuffledSubarray(calls).map((answered): readonly Item[] => [
      ...words,
      ...calls,
      ...answered.map(({ callId, kind }): ToolResult => ({
        type: 'result',
        kind,
        callId,
        content: [{ type: 'text', text: 'done' }],
      })),
    ]),
  )
export const items: fc.Arbitrary<readonly Item[]> = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: asking.map((one): readonly Item[] => [one]) },
      { weight: 2, arbitrary: fc.tuple(answering, asking) },
      { weight: 3, arbitrary: exchanged },
      { weight: 2, arbitrary: reasoning(fc.constantFrom(origin, foreign)).map((one): readonly Item[] => [one]) },
      { weight: 1, arbitrary: fc.oneof(call, opaque).map((one): readonly Item[] => [one]) },
      { weight: 1, arbitrary: result.map((one): readonly Item[] => [one]) },
    ),
    { maxLength: 6 },
  )
  .map((groups) => groups.flatMap((group, at) => group.map((item) => apart(item, at))))

/** Ids are one's own: what servers that count anew in each turn need is for the tests of each protocol. */
function apart(item: Item, group: number): Item {
  return item.type === 'call' || item.type === 'result' ? { ...item, callId: `${item.callId}_${group}` } : item
}
