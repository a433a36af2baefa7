import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { wholeOf } from './rig.ts'
import { Service } from './service.ts'
import type { Asked } from './service.ts'

const question = 'Is it about fruit?'

describe('guards: models that judge', () => {
  const service = new Service()
  let gateway: AdminGateway
  before(async () => {
    await service.open()
    gateway = await startAdmin({
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'jury', type: 'compatible', base_url: `${service.url}/v1`, api_key: 'k' },
      ],
      models: [
        { name: 'echo', provider: 'echo' },
        { name: 'reader', provider: 'jury', pricing: { input: 1, output: 1 } },
      ],
      records: {
        guards: [{ name: 'fruit', kind: 'model', model: 'reader', question, side: ['input'], message: 'No fruit.' }],
      },
    })
  })
  after(async () => {
    await gateway.close()
    await service.close()
  })
  const ask = async (text: string) => {
    const messages = [{ role: 'user', content: text }]
    const answer = await gateway.post('/v1/chat/completions', { model: 'echo', messages })
    return { status: answer.status, id: answer.headers.get('x-request-id') ?? '', body: await answer.text() }
  }
  const says = (text: string) => service.answers(() => wholeOf.chat({ text: [text] }))

  it('are asked for JSON by an exchange of their own, which no key pays', async () => {
    says('{"hit":true,"score":0.9}')
    const denied = await ask('An apple')
    expect(denied.status, denied.body).to.equal(400)
    expect(denied.body).to.contain('No fruit.')
    const asked = service.asked[0] as Asked
    expect(asked.path).to.equal('/v1/chat/completions')
    expect(asked.body).to.deep.include({ model: 'reader', temperature: 0 })
    const [system, user] = asked.body['messages'] as readonly { readonly role: string; readonly content: string }[]
    expect(system?.content).to.contain(question)
    expect(user).to.deep.equal({ role: 'user', content: '[{"role":"user","text":"An apple"}]' })
    expect(asked.body['response_format'])
      .to.have.nested.property('json_schema.schema.required')
      .that.deep.equals(['hit', 'score'])
    const row = await gateway.row(({ type }) => type === 'guard')
    expect(row).to.include({ parent: denied.id, key_id: null, requested: 'reader' })
    for (const said of ['{"hit":false,"score":0.1}', ' {"score": 0.10, "hit": false}\n', '{"hit":false,"score":1.0}']) {
      says(said)
      expect((await ask('A stone')).body, said).to.contain('A stone')
    }
  })

  it('let nothing pass when they say anything else', async () => {
    const unread = ['No.', '{"score":0.1}', '{"hit":"no"}', '[]', '']
    const without = [
      '{"hit":false}',
      '{"hit":false,"score":7}',
      '{"hit":false,"score":-0.1}',
      '{"hit":false,"score":"0"}',
    ]
    const beside = [
      '{"hit":false,"score":0.1,"y":1}',
      '{"hit":true,"hit":false,"score":0.1}',
      '{"hit":false,"score":0} No.',
    ]
    for (const said of [...unread, ...without, ...beside]) {
      says(said)
      const { status, body } = await ask('A stone')
      expect(status, said).to.equal(503)
      expect(body).to.contain('guard_unavailable')
    }
  })

  it('are asked for a trial, too', async () => {
    says('{"hit":true,"score":0.9}')
    const tried = await gateway.asAdmin('POST /api/guards/test', { guard: 'fruit', text: 'An apple' })
    expect(tried.body).to.deep.include({ hit: true, action: 'deny', score: 0.9 })
  })
})
