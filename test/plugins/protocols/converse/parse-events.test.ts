import { expect } from 'chai'
import * as fc from 'fast-check'
import { fold } from '../../../../engine/kit.ts'
import type { Frame, GenerateEvent, JsonObject } from '../../../../engine/index.ts'
import { ConverseParser, parseReply } from '../../../../plugins/protocols/converse/parse-events.ts'

const frame = (event: string, payload: unknown): Frame => ({ event, data: JSON.stringify(payload) })
const delta = (contentBlockIndex: number, value: unknown) =>
  frame('contentBlockDelta', { contentBlockIndex, delta: value })
const stop = (contentBlockIndex: number) => frame('contentBlockStop', { contentBlockIndex })
const start = frame('messageStart', { role: 'assistant' })
const ended = [
  frame('messageStop', { stopReason: 'end_turn' }),
  frame('metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } }),
]
const read = (frames: readonly Frame[], parser = new ConverseParser()): GenerateEvent[] => [
  ...frames.flatMap((one) => parser.parse(one)),
  ...parser.end(),
]

describe('converse: answers', () => {
  it('begin a block with its first delta, and join redacted reasoning of several pieces', () => {
    const redacted = (text: string) => ({ reasoningContent: { redactedContent: Buffer.from(text).toString('base64') } })
    const reply = fold(
      read([
        start,
        delta(0, redacted('a')),
        delta(0, redacted('bc')),
        stop(0),
        delta(1, { text: 'Hi' }),
        stop(1),
        ...ended,
      ]),
    )
    expect(reply.items).to.deep.equal([
      {
        type: 'reasoning',
        parts: [],
        seal: { kind: 'redacted', data: Buffer.from('abc').toString('base64') },
      },
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
    ])
    expect(reply).to.deep.include({
      stop: 'end',
      usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 },
    })
  })

  it('are complete with their usage, whichever of it and the stop reason comes first', () => {
    const frames = [start, delta(0, { text: 'Hi' }), stop(0)]
    const [one, other] = [ended, ended.toReversed()].map((last) => fold(read([...frames, ...last])))
    expect(one).to.deep.equal(other)
    expect(read([...frames, ...ended.slice(1)]).at(-1)).to.have.property('type', 'failure')
  })

  it('keep the text of blocks with citations, and pass over blocks without a neutral form', () => {
    const content = [
      { citationsContent: { content: [{ text: 'It is ' }, { text: 'so.' }], citations: [{ title: 'T' }] } },
      { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } },
      { text: '' },
    ]
    const reply = parseReply({ output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage: {} })
    expect(JSON.stringify(reply.items)).to.contain('It is so.').and.not.contain('iVBOR')
    const cited = [delta(0, { text: 'It is so.' }), delta(0, { citation: { title: 'T' } }), stop(0)]
    expect(JSON.stringify(fold(read([start, ...cited, ...ended])).items)).to.contain('It is so.')
  })

  it('are refused where they are none', () => {
    for (const body of [null, [], {}, { output: {} }, { output: { message: { content: 'x' } } }])
      expect(() => parseReply(body), JSON.stringify(body)).to.throw(/the answer has no list of content/)
  })

  it('end once, whatever arrives', () => {
    const names = [
      'messageStart',
      'contentBlockStart',
      'contentBlockDelta',
      'contentBlockStop',
      'messageStop',
      'metadata',
    ]
    const index = fc.option(fc.nat(2), { nil: undefined })
    const text = fc.oneof(fc.string(), fc.constant(null), fc.integer())
    const value = fc.oneof(
      fc.record({ text }),
      fc.record({ toolUse: fc.record({ input: text, toolUseId: text, name: text }) }),
      fc.record({
        reasoningContent: fc.oneof(
          fc.record({ text }),
          fc.record({ signature: text }),
          fc.record({ redactedContent: text }),
        ),
      }),
      fc.jsonValue(),
    )
    const payload = fc.record({
      contentBlockIndex: index,
      delta: value,
      start: value,
      stopReason: fc.constantFrom('end_turn', 'tool_use', 'malformed_tool_use', 'new', null),
      usage: fc.oneof(fc.jsonValue(), fc.record({ inputTokens: fc.integer(), outputTokens: fc.nat() })),
    })
    const name = fc.oneof(fc.constantFrom(...names), fc.constantFrom('throttlingException', 'new', ''))
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.oneof(payload, fc.jsonValue()))), (given) => {
        const events = read(given.map(([event, data]) => frame(event, data as JsonObject)))
        const ends = events.filter(({ type }) => type === 'finish' || type === 'failure')
        expect(ends).to.have.length(1)
        expect(events.at(-1)).to.equal(ends[0])
      }),
      { numRuns: 2000 },
    )
  })
})
