import { expect } from 'chai'
import { anthropic } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, chatFrames } from './streams.ts'

const asking = { model: 'tagged', max_tokens: 99, messages: [{ role: 'user' as const, content: 'Six by seven?' }] }

describe('a provider that writes its reasoning between tags', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { type: 'compatible', base_url: upstream.url }
    gateway = await startGateway({
      providers: [
        { name: 'tagged', ...at, traits: { think_tags: true } },
        { name: 'plain', ...at },
      ],
      models: ['tagged', 'plain'].map((name) => ({ name, provider: name })),
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const texts = ['<thi', 'nk>Easy.</th', 'ink>\n\n4', '2']
  const whole = () =>
    upstream.answer({
      body: {
        ...chatAnswer,
        choices: [{ index: 0, message: { role: 'assistant', content: texts.join('') }, finish_reason: 'stop' }],
      },
    })

  it('is read as one that thinks, whole and streamed', async () => {
    whole()
    const answer = await anthropic(gateway).messages.create(asking)
    upstream.answer({ frames: chatFrames(...texts) })
    const streamed = await anthropic(gateway).messages.stream(asking).finalMessage()
    for (const { content } of [answer, streamed]) {
      expect(content.map(({ type }) => type)).to.deep.equal(['thinking', 'text'])
      expect(content[0]).to.include({ thinking: 'Easy.' })
      expect(content[1]).to.include({ text: '42' })
    }
  })

  it('says it in its text where nobody has told so', async () => {
    whole()
    const { content } = await anthropic(gateway).messages.create({ ...asking, model: 'plain' })
    expect(content[0]).to.include({ type: 'text', text: texts.join('') })
  })
})
