import { expect } from 'chai'
import { encodeFrame } from '../../engine/kit.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatFrames, messagesFrames } from './streams.ts'
import type { ScriptedFrame } from './streams.ts'

/** The events of each protocol, and the text of the one that ends a stream. */
const protocols = {
  chat: { path: '/v1/chat/completions', frames: chatFrames('Hello', ' [DONE]'), end: 'data: [DONE]\n' },
  messages: {
    path: '/v1/messages',
    frames: messagesFrames('Hello', ' event: message_stop\n'),
    end: '\nevent: message_stop\n',
  },
}

const textOf = (frame: ScriptedFrame) =>
  typeof frame === 'string'
    ? encodeFrame({ data: frame })
    : encodeFrame({ ...frame, data: typeof frame.data === 'string' ? frame.data : JSON.stringify(frame.data) })

describe('a relayed stream that its upstream ends more than once', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const base_url = upstream.url
    gateway = await startGateway({
      providers: [
        { name: 'chat', type: 'compatible', base_url },
        { name: 'messages', type: 'messages', base_url, api_key: 'some' },
      ],
      models: [
        { name: 'chat', provider: 'chat' },
        { name: 'messages', provider: 'messages' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const headers = { 'content-type': 'text/event-stream' }
  const ask = async (protocol: keyof typeof protocols, chunks: readonly string[]) => {
    upstream.answer({ headers, chunks })
    const answer = await gateway.post(protocols[protocol].path, {
      model: protocol,
      max_tokens: 99,
      stream: true,
      stream_options: protocol === 'chat' ? { include_usage: true } : undefined,
      messages: [{ role: 'user', content: 'hello' }],
    })
    return answer.text()
  }

  for (const protocol of ['chat', 'messages'] as const)
    for (const cut of ['events', 'the end', 'one piece'] as const)
      it(`ends once for its client: ${protocol}, sent as ${cut}`, async () => {
        const { frames, end } = protocols[protocol]
        const once = frames.map(textOf)
        const last = once.at(-1) ?? ''
        const chunks = {
          events: [...once, last, last],
          'the end': [once.slice(0, -1).join(''), last + last + last],
          'one piece': [once.join('') + last + last],
        }[cut]
        const whole = await ask(protocol, once)
        expect(whole.split(end)).to.have.length(2)
        expect(await ask(protocol, chunks)).to.equal(whole)
        const [first, second] = (await gateway.rows()).slice(-2)
        expect(second).to.include({ result: 'completed', output_tokens: 4 })
        expect(first).to.include({ result: 'completed', output_tokens: 4 })
      })
})
