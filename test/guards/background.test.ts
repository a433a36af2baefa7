import { expect } from 'chai'
import { client, ended, says, startBackground } from '../service/background.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

describe('guards: responses in the background', function () {
  let service: Service
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async function () {
    service = await redis(this)
    upstream = await scriptedUpstream()
    const guards = [{ name: 'list', kind: 'words', words: ['sugar'], side: ['output'], default: false }]
    gateway = await startBackground(upstream, service.url, { records: { guards } })
  })
  after(async () => {
    await gateway?.close()
    await upstream?.close()
    await service?.stop()
  })

  it('are judged by the guards that the request has named', async () => {
    const at = client(gateway)
    const asked = { model: 'chat', input: 'Hi', background: true } as const
    upstream.answer(says('chat', 'some sugar'), says('chat', 'some sugar'))
    const begun = await at.responses.create(asked, { headers: { 'x-gateway-guards': 'list' } })
    const done = await ended(at, begun.id)
    expect(done.output_text).to.equal('The content was blocked.')
    const unnamed = await at.responses.create(asked)
    expect((await ended(at, unnamed.id)).output_text).to.equal('some sugar')
  })
})
