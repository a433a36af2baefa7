import { expect } from 'chai'
import { anthropic, openai } from '../support/clients.ts'
import { genai } from '../support/genai.ts'
import { Rig, streamOf, wholeOf } from './rig.ts'

const guards = [{ name: 'list', kind: 'words', words: ['forbidden'], message: 'Not here.', side: ['output'] }]

describe('guards: official clients', () => {
  const rig = new Rig(() => ({ records: { guards } }))
  const whole = (model: 'chat' | 'messages') =>
    rig.upstream.answer({ body: wholeOf[model]({ text: ['It is forbidden.'] }) })
  const streamed = (model: 'chat' | 'messages') =>
    rig.upstream.answer({
      frames: streamOf[model]({ text: ['It is quite likely so, for what I know of it: ', 'forb', 'idden.'] }),
    })
  const messages = [{ role: 'user', content: 'Hi' }] as const

  it('of chat completions end cleanly after a denial', async () => {
    const { chat } = openai(rig.gateway)
    whole('chat')
    const answer = await chat.completions.create({ model: 'chat', messages: [...messages] })
    expect(answer.choices[0]).to.deep.include({ finish_reason: 'content_filter' })
    expect(answer.choices[0]?.message.content).to.equal('Not here.')
    streamed('chat')
    const stream = chat.completions.stream({ model: 'chat', messages: [...messages] })
    const ends: unknown[] = []
    for await (const chunk of stream) ends.push(chunk.choices[0]?.finish_reason)
    expect(ends.filter((one) => one !== null && one !== undefined)).to.deep.equal(['content_filter'])
  })

  it('of responses end cleanly after a denial', async () => {
    const { responses } = openai(rig.gateway)
    whole('chat')
    const answer = await responses.create({ model: 'chat', input: 'Hi', store: false })
    expect(answer).to.deep.include({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
    expect(answer.output_text).to.equal('Not here.')
    streamed('chat')
    const final = await responses.stream({ model: 'chat', input: 'Hi', store: false }).finalResponse()
    expect(final).to.deep.include({ status: 'incomplete' })
  })

  it('of messages end cleanly after a denial', async () => {
    const { messages: api } = anthropic(rig.gateway)
    whole('messages')
    const answer = await api.create({ model: 'messages', max_tokens: 99, messages: [...messages] })
    expect(answer.stop_reason).to.equal('refusal')
    expect(answer.content).to.deep.include({ type: 'text', text: 'Not here.' })
    streamed('messages')
    const final = await api.stream({ model: 'messages', max_tokens: 99, messages: [...messages] }).finalMessage()
    expect(final.stop_reason).to.equal('refusal')
  })

  it('of Gemini end cleanly after a denial', async () => {
    const { models } = genai(rig.gateway)
    whole('chat')
    const answer = await models.generateContent({ model: 'chat', contents: 'Hi' })
    expect(answer.candidates?.[0]?.finishReason).to.equal('SAFETY')
    expect(answer.text).to.equal('Not here.')
    streamed('chat')
    let last: string | undefined
    for await (const chunk of await models.generateContentStream({ model: 'chat', contents: 'Hi' }))
      last = chunk.candidates?.[0]?.finishReason ?? last
    expect(last).to.equal('SAFETY')
  })
})
