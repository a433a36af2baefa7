import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'

describe('the size of bodies', function () {
  this.timeout(300_000)
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      providers: [{ name: 'echo', type: 'echo' }],
      models: [{ name: 'echo', provider: 'echo' }],
      server_config: { request_policy: { max_body_bytes: 2_048 } },
    })
  })
  after(() => gateway.close())

  it('is limited by request_policy.max_body_bytes', async () => {
    const ask = async (bytes: number) => {
      const body = { model: 'echo', messages: [{ role: 'user', content: '' }] }
      const content = 'x'.repeat(bytes - JSON.stringify(body).length)
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, messages: [{ role: 'user', content }] }),
      })
      return { status: response.status, body: (await response.json()) as { error?: { message: string } } }
    }
    expect((await ask(2_048)).status).to.equal(200)
    const large = await ask(2_049)
    expect([large.status, large.body.error?.message]).to.deep.equal([413, 'The body is larger than 2048 bytes.'])
  })
})
