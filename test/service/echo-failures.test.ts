import { expect } from 'chai'
import { FrameDecoder } from '../../engine/kit.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'

/** The code and the type of each scripted status. */
const failures: readonly (readonly [status: number, code: string, type: string])[] = [
  [503, 'upstream_error', 'server_error'],
  [429, 'rate_limit_exceeded', 'rate_limit_error'],
  [400, 'upstream_rejected', 'invalid_request_error'],
]

describe('an echo that fails as it is told to', () => {
  let gateway: RunningGateway
  before(async () => {
    const providers = failures.flatMap(([status]) => [
      { name: `before-${status}`, type: 'echo', fail: { status } },
      { name: `after-${status}`, type: 'echo', fail: { status, after: 2 } },
    ])
    gateway = await startGateway({ providers, models: providers.map(({ name }) => ({ name, provider: name })) })
  })
  after(() => gateway.close())

  const ask = (model: string, stream: boolean) =>
    gateway.post('/v1/chat/completions', { model, stream, messages: [{ role: 'user', content: 'one two three' }] })

  for (const [status, code, type] of failures)
    it(`gives ${status}, whole and streamed, before it begins and after`, async () => {
      for (const [model, stream] of [
        [`before-${status}`, false],
        [`before-${status}`, true],
        [`after-${status}`, false],
      ] as const) {
        const response = await ask(model, stream)
        const { error } = (await response.json()) as { error: { message: string } }
        expect(response.status, model).to.equal(status)
        expect(error).to.include({ code, type })
        expect(error.message.match(/settings/g)).to.have.length(1)
      }
      const decoder = new FrameDecoder()
      const frames = decoder.push(await (await ask(`after-${status}`, true)).bytes())
      const { error } = JSON.parse(frames.at(-1)?.data ?? '') as { error: object }
      expect(error).to.include({ code, type })
    })
})
