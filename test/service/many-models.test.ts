import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const keys = {
  wide: 'sk-wide-0123456789abcdef0123456789abcdef',
  narrow: 'sk-narrow-0123456789abcdef0123456789abcdef',
  other: 'sk-other-0123456789abcdef0123456789abcdef',
}
const answer = {
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

describe('a record for many models', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: answer })
    gateway = await startGateway({
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'far', type: 'compatible', base_url: upstream.url, api_key: 'upstream-key' },
      ],
      models: [
        { name: 'echo', provider: 'echo', fallbacks: ['far/spare'] },
        { name: 'far/*', provider: 'far' },
        { name: 'far/deep/*', provider: 'far', upstream_model: 'accounts/deep/*' },
        { name: 'far/own', provider: 'far', upstream_model: 'own-2026' },
      ],
      api_keys: [
        { name: 'wide', key: keys.wide, models: ['far/*'] },
        { name: 'narrow', key: keys.narrow, models: ['far/a'] },
        { name: 'other', key: keys.other, models: ['echo'] },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const ask = (model: string, key = gateway.key) =>
    openai({ url: gateway.url, key }).chat.completions.create({ model, messages: [{ role: 'user', content: 'hi' }] })
  const asked = () => (JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '{}') as JsonObject)['model']
  const status = (asking: Promise<unknown>) =>
    asking.then(
      () => 200,
      (error: unknown) => (error as { status?: number }).status,
    )

  it('asks the provider for what its * stands for, by the longest name that fits', async () => {
    for (const [model, wanted] of [
      ['far/gpt-9', 'gpt-9'],
      ['far/meta/llama:free', 'meta/llama:free'],
      ['far/deep/r9', 'accounts/deep/r9'],
      ['far/own', 'own-2026'],
    ] as const) {
      expect((await ask(model)).choices[0]?.message.content).to.equal('yes')
      expect(asked(), model).to.equal(wanted)
    }
    const rows = await gateway.rows()
    expect(rows.map(({ model }) => model)).to.include('far/gpt-9')
  })

  it('stands for nothing that is no name', async () => {
    const before = upstream.requests.length
    for (const model of ['far/', 'far/*', 'far/a b', 'far/a\n', `far/${'x'.repeat(300)}`, 'farther', ''])
      expect(await status(ask(model)), JSON.stringify(model)).to.be.oneOf([400, 404])
    expect(upstream.requests).to.have.length(before)
  })

  it('is open to the keys that name it, or the one model', async () => {
    expect(await status(ask('far/a', keys.wide))).to.equal(200)
    expect(await status(ask('far/own', keys.wide))).to.equal(200)
    expect(await status(ask('far/a', keys.narrow))).to.equal(200)
    expect(await status(ask('far/b', keys.narrow))).to.equal(403)
    expect(await status(ask('far/a', keys.other))).to.equal(403)
  })

  it('is not listed, but what fits it can be asked for', async () => {
    const listed = await Array.fromAsync(await openai(gateway).models.list())
    expect(listed.map(({ id }) => id)).to.deep.equal(['echo', 'far/own'])
    expect(await openai(gateway).models.retrieve('far/gpt-9')).to.include({ id: 'far/gpt-9', owned_by: 'far' })
    expect(await status(openai({ url: gateway.url, key: keys.narrow }).models.retrieve('far/b'))).to.equal(404)
  })
})
