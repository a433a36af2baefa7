import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { sandbox } from '../../engine/cli/sandbox.ts'

const head = 'name: chat-completions\nsummary: Closed.\nprotocol: chat\nroutes: [POST /v1/chat/completions]\n'
const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }

describe('refuse', () => {
  let folder: string
  let gateway: RunningGateway | undefined
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-refuse-'))
  })
  afterEach(async () => {
    await gateway?.close()
    gateway = undefined
    await rm(folder, { recursive: true, force: true })
  })

  const serve = async (stages: string) => {
    await writeFile(
      join(folder, 'chat-completions.yaml'),
      `${head}stages: ${stages}\nwithout: [limit, reserve, breaker, price, charge, log]\n`,
    )
    const providers = [{ name: 'echo', type: 'echo' }]
    gateway = await startGateway({ providers, models: [{ name: 'echo', provider: 'echo' }], pipelines: folder })
    return gateway
  }

  it('closes an endpoint for a while, for clients with a key and for all', async () => {
    for (const stages of [
      '[auth: { with: key }, refuse: { status: 503, retry_after: 10m }]',
      '[refuse: { status: 503, retry_after: 10m }]',
    ]) {
      const gateway = await serve(stages)
      const answer = await gateway.post('/v1/chat/completions', body)
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '600'])
      expect(await answer.json()).to.deep.equal({
        error: {
          message: 'This is not served now; try again later.',
          type: 'server_error',
          param: null,
          code: 'refused',
        },
      })
      await gateway?.close()
    }
  })

  it('lets the other arms of a switch serve, before the client is known and after', async () => {
    const arm = 'switch: [{ when: { ingress.headers.x-closed: "yes" }, do: [refuse] }]'
    const gateway = await serve(
      `[${arm}, auth: { with: key }, parse, validate, resolve, requested, allow, attempt: { do: [translate, call, translate-back] }]`,
    )
    expect((await gateway.post('/v1/chat/completions', body)).status).to.equal(200)
    const closed = await gateway.post('/v1/chat/completions', body, { 'x-closed': 'yes' })
    expect([closed.status, ((await closed.json()) as { error: { code: string } }).error.code]).to.deep.equal([
      403,
      'refused',
    ])
  })

  it('is found where steps follow it, and where its wait reaches nobody', async () => {
    const here = await sandbox({
      'pipelines/chat-completions.yaml': `${head}stages:\n  - refuse: { retry_after: 10m }\n  - parse\n`,
    })
    try {
      const { status, out } = await here.run('check')
      expect(status).to.equal(1)
      expect(out).to.deep.equal([
        'pipelines/chat-completions.yaml:6:28: belongs to status 429 and 503; clients that get 403 do not ask again [stage]',
        'pipelines/chat-completions.yaml:7:5: "refuse" ends the path, so this step is never reached [unreachable]',
      ])
    } finally {
      await here.remove()
    }
  })
})
