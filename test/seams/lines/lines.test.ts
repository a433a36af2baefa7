import { join } from 'node:path'
import { expect } from 'chai'
import { openai } from '../../support/clients.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

describe('seams/lines: a vendor that streams lines of JSON', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      plugins: [join(import.meta.dirname, 'plugin.ts')],
      providers: [{ name: 'lines', type: 'lines', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'lines' }],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const ask = () =>
    openai(gateway)
      .chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
      .finalChatCompletion()

  for (const type of ['application/x-ndjson', 'application/jsonl; charset=utf-8'])
    it(`is read line by line: ${type}`, async () => {
      upstream.answer({
        headers: { 'content-type': type },
        chunks: ['{"say":"Hel', 'lo"}\n{"say":"!"}\n', '{"done":true}'],
      })
      expect((await ask()).choices[0]?.message.content).to.equal('Hello!')
    })

  it('fails before its first word, where the first line is a failure', async () => {
    upstream.answer({ headers: { 'content-type': 'application/x-ndjson' }, chunks: ['{"oops":"No room."}\n'] })
    const error = await ask().then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    expect(error?.message).to.contain('502').and.to.contain('No room.')
  })
})
