import { expect } from 'chai'
import { keysOf } from '../../support/keys.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { pool } from './rig.ts'

describe('the tracing of a member', () => {
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin({
      providers: [{ name: 'far', type: 'echo' }],
      models: pool,
      server_config: { smart_routing: { enabled: true } },
    })
  })
  after(() => gateway.close())

  it('adds diagnostics to the rows of own keys, and to no others', async () => {
    const member = await gateway.addMember()
    const key = await keysOf(gateway.engine).create({ name: 'traced', owner: member.id })
    const diagnosed = async (text: string) => {
      const headers = { authorization: `Bearer ${text}` }
      const body = { model: 'auto', messages: [{ role: 'user', content: 'Hello' }] }
      const answer = await gateway.post('/v1/chat/completions', body, headers)
      const id = answer.headers.get('x-request-id')
      await answer.text()
      const { metadata } = await gateway.row((row) => row.id === id)
      const { routing } = JSON.parse(metadata) as { readonly routing: object }
      if (!('diagnostics' in routing)) return undefined
      // A signal with nothing to say has no reasons.
      expect(routing).to.have.deep.nested.property('diagnostics.signal_votes.metadata', { abstained: true })
      return Object.keys(routing.diagnostics as object)
    }
    expect(await diagnosed(key.text)).to.equal(undefined)
    expect((await member.ask('PATCH /api/me/tracing', { enabled: true })).status).to.equal(200)
    const all = ['signal_votes', 'weights', 'guardrails', 'gates', 'scorecards']
    expect(await diagnosed(key.text)).to.deep.equal(all)
    expect(await diagnosed(gateway.key)).to.equal(undefined)
    await member.ask('PATCH /api/me/tracing', { enabled: false })
    expect(await diagnosed(key.text)).to.equal(undefined)
  })
})
