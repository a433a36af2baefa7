import { expect } from 'chai'
import { anthropic } from '../support/clients.ts'
import { startGeneration } from '../support/generation.ts'
import type { Generation } from '../support/generation.ts'
import { chatFrames, messagesAnswer, messagesFrames, responsesAnswer, responsesFrames } from './streams.ts'

const messages = [{ role: 'user', content: 'Count, please.' }] as const satisfies object[]

describe('stop sequences of a messages client', () => {
  let rig: Generation
  before(
    async () =>
      (rig = await startGeneration({
        providers: () => [{ name: 'echo', type: 'echo' }],
        models: [{ name: 'echo', provider: 'echo' }],
      })),
  )
  after(() => rig.close())

  const asking = { messages: [...messages], max_tokens: 99, stop_sequences: ['</end>', 'four'] }
  const sent = () => JSON.parse(String(rig.upstream.requests.at(-1)?.body)) as Record<string, unknown>

  it('end a stream that its provider would not have ended, and the provider is let go', async () => {
    rig.upstream.answer({ frames: responsesFrames('one two ', 'three </e', 'nd> more').slice(0, -4), ending: 'hang' })
    const { data: stream, response } = await anthropic(rig.gateway)
      .messages.create({ model: 'responses', ...asking, stream: true })
      .withResponse()
    const events = await Array.fromAsync(stream)
    const text = events.flatMap((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? [event.delta.text] : [],
    )
    expect(text.join('')).to.equal('one two three ')
    const last = events.findLast((event) => event.type === 'message_delta')
    expect(last?.delta).to.include({ stop_reason: 'stop_sequence', stop_sequence: '</end>' })
    expect(last?.usage.output_tokens).to.be.within(2, 8)
    expect(events.at(-1)?.type).to.equal('message_stop')
    await rig.upstream.closed()
    expect(response.headers.get('x-gateway-losses')).to.equal(null)
    const row = (await rig.gateway.rows()).at(-1)
    expect(row).to.include({ result: 'completed', status: 200 })
    expect(JSON.parse(row?.metadata ?? '')).to.include({ usage: 'estimated', stop: 'stop' })
  })

  it('end a whole answer', async () => {
    const said = [{ type: 'output_text', text: 'one two three four five', annotations: [] }]
    rig.upstream.answer({ body: { ...responsesAnswer, output: [{ ...responsesAnswer.output[0], content: said }] } })
    const answer = await anthropic(rig.gateway).messages.create({ model: 'responses', ...asking })
    expect(answer.content).to.have.nested.property('[0].text', 'one two three ')
    expect(answer).to.include({ stop_reason: 'stop_sequence', stop_sequence: 'four' })
    expect(answer.usage).to.include({ input_tokens: 9, output_tokens: 4 })
    expect(rig.upstream.requests.at(-1)?.path).to.equal('/v1/responses')
  })

  it('do not change an answer without them', async () => {
    rig.upstream.answer({ frames: responsesFrames('one two thr', 'ee </en') })
    const answer = await anthropic(rig.gateway)
      .messages.stream({ model: 'responses', ...asking })
      .finalMessage()
    expect(answer.content).to.have.nested.property('[0].text', 'one two three </en')
    expect(answer).to.include({ stop_reason: 'end_turn', stop_sequence: null })
  })

  it('are left to a provider that takes them', async () => {
    rig.upstream.answer({ frames: chatFrames('one two four') })
    const answer = await anthropic(rig.gateway)
      .messages.stream({ model: 'chat', ...asking })
      .finalMessage()
    expect(sent()).to.have.deep.property('stop', asking.stop_sequences)
    expect(answer.content).to.have.nested.property('[0].text', 'one two four')
  })

  it('of white space end an answer of a messages provider, which refuses them', async () => {
    rig.upstream.answer({ body: { ...messagesAnswer, content: [{ type: 'text', text: 'one\n\ntwo' }] } })
    const response = await rig.gateway.post('/v1/chat/completions', {
      model: 'messages',
      messages,
      stop: ['\n\n', 'x'],
    })
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]?.message.content).to.equal('one')
    expect(sent()).to.have.deep.property('stop_sequences', ['x'])
    rig.upstream.answer({ frames: messagesFrames('one\n', '\ntwo') })
    const streamed = await rig.gateway.post('/v1/chat/completions', {
      model: 'messages',
      messages,
      stop: '\n\n',
      stream: true,
    })
    const text = await streamed.text()
    expect(text).to.contain('"one').and.contain('[DONE]')
    expect(text).not.to.contain('two')
  })

  it('end the answers of the echo', async () => {
    const said = { ...asking, messages: [{ role: 'user' as const, content: 'one two four five' }] }
    const whole = await anthropic(rig.gateway).messages.create({ model: 'echo', ...said })
    const streamed = await anthropic(rig.gateway)
      .messages.stream({ model: 'echo', ...said })
      .finalMessage()
    for (const answer of [whole, streamed]) {
      expect(answer.content).to.have.nested.property('[0].text', 'one two ')
      expect(answer.stop_sequence).to.equal('four')
    }
  })
})
