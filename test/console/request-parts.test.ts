import { expect } from 'chai'
import fc from 'fast-check'
import { conversationOf } from '../../console/src/screens/logs/conversation.ts'
import { barsOf, stepsOf } from '../../console/src/screens/logs/timeline.ts'
import { chatFrames, messagesFrames, printed, responsesFrames } from '../service/streams.ts'

describe('console/request parts', () => {
  const user = { role: 'user', content: 'hi' }
  const json = (value: unknown) => JSON.stringify(value)

  it('reads conversations of every chat protocol', () => {
    const asked = [
      { messages: [{ role: 'system', content: 'Be brief.' }, user] },
      { system: [{ type: 'text', text: 'Be brief.' }], messages: [user] },
      { instructions: 'Be brief.', input: 'hi' },
      { instructions: 'Be brief.', input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }] },
      { systemInstruction: { parts: [{ text: 'Be brief.' }] }, contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    ]
    for (const request of asked)
      expect(conversationOf(json(request), null)).to.deep.equal([
        { role: 'system', text: 'Be brief.' },
        { role: 'user', text: 'hi' },
      ])
    const answers = [
      { choices: [{ message: { role: 'assistant', content: 'Hello' } }] },
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }] },
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] } }] },
    ]
    for (const answer of answers)
      expect(conversationOf(null, json(answer))).to.deep.equal([{ role: 'assistant', text: 'Hello' }])
  })

  it('puts streamed answers together', () => {
    for (const framesOf of [chatFrames, messagesFrames, responsesFrames])
      expect(conversationOf(null, framesOf('Hello', ' there').map(printed).join(''))).to.deep.equal([
        { role: 'assistant', text: 'Hello there' },
      ])
  })

  it('shows calls of tools with their values, their results, and the type of what is no text', () => {
    const call = { id: '1', type: 'function', function: { name: 'closures', arguments: '{"road":"B28"}' } }
    const messages = [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: '{"closed":true}' },
    ]
    expect(conversationOf(json({ messages }), null)).to.deep.equal([
      { role: 'user', text: '[image_url]' },
      { role: 'assistant', text: 'calls closures {"road":"B28"}' },
      { role: 'tool', text: '{"closed":true}' },
    ])
    const content = [{ type: 'tool_use', id: '1', name: 'closures', input: { road: 'B28' } }]
    expect(conversationOf(null, json({ content }))).to.deep.equal([
      { role: 'assistant', text: 'calls closures {"road":"B28"}' },
    ])
  })

  it('has no conversation of other bodies, whatever they are', () => {
    expect(conversationOf('{"messages":[{"role":"us', '{"data":[1]}')).to.deep.equal([])
    fc.assert(
      fc.property(fc.json(), fc.json(), (request, response) => {
        for (const { role, text } of conversationOf(request, response)) expect(role + text).to.be.a('string')
      }),
    )
  })

  const span = (path: string, from: number, length: number, more: object = {}) => ({
    path,
    name: path.split('/').at(-1) ?? '',
    at_ms: from,
    duration_ms: length,
    attempt: null,
    outcome: 'ok' as const,
    ...more,
  })
  const tried = { model: 'm', provider: 'p', status: 200, error: null, duration_ms: 10 }

  it('draws stages, tries, pauses and the stream in their order', () => {
    const bars = barsOf({
      spans: [
        span('auth', 0, 1),
        span('route/resolve', 1, 1),
        span('route/allow', 2, 2),
        span('generate/attempt/call', 4, 6, { attempt: 1, outcome: 'failed' }),
        span('generate/attempt/breaker', 210, 1, { attempt: 2 }),
        span('generate/attempt/call', 211, 50, { attempt: 2 }),
        span('finally/price', 1400, 2),
        span('finally/charge', 1402, 1),
      ],
      tries: [
        { ...tried, model: 'a', status: 429, error: 'rate_limited' },
        { ...tried, model: 'b' },
      ],
      attempts: 2,
      first_byte_ms: 300,
      duration_ms: 1300,
      stream: true,
      result: 'completed',
      usage: { input: 1, output: 170, reasoning: 8, cache_read: 0, cache_write: 0, total: 179 },
    })
    expect(bars).to.deep.equal([
      { label: 'auth', from: 0, length: 1, kind: 'stage' },
      { label: 'route', from: 1, length: 3, kind: 'stage' },
      { label: 'attempt 1 · a', from: 4, length: 6, kind: 'failed', note: '429' },
      { label: 'wait', from: 10, length: 200, kind: 'wait' },
      { label: 'attempt 2 · b', from: 210, length: 1090, kind: 'try' },
      { label: 'until the first byte', from: 211, length: 89, kind: 'works', inner: true },
      { label: 'stream', from: 300, length: 1000, kind: 'streams', inner: true, note: '178 tokens a second' },
      { label: 'finally', from: 1400, length: 3, kind: 'stage' },
    ])
  })

  it('has at most six round steps on its axis', () => {
    expect(stepsOf(4210)).to.deep.equal([0, 1000, 2000, 3000, 4000])
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 1e8, noNaN: true }), (length) => {
        const steps = stepsOf(length)
        expect(steps.length).to.be.within(2, 6)
        expect(steps.at(-1)).to.be.at.most(length * 1.000001)
      }),
    )
  })
})
