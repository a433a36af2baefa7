import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { askAt, password, startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { onEachDatabase } from '../logs/rig.ts'

const next = 'another long sentence'

describe('admin/me', function () {
  this.timeout(600_000)
  onEachDatabase((settings) => {
    let gateway: AdminGateway
    before(async () => {
      gateway = await startAdmin(await settings())
    })
    after(() => gateway.close())

    const rows = async (action: string) => {
      const { body } = await gateway.asAdmin(`GET /api/logs/audit?action=${action}`)
      return body['data'] as readonly JsonObject[]
    }

    it('is shown to its holder, with the session', async () => {
      const member = await gateway.addMember({
        models: '["echo"]',
        rate_limit: '{"requests":5,"period":"60s"}',
        last_login_at: 0,
      })
      const { status, body } = await member.ask('GET /api/me')
      expect(status).to.equal(200)
      const { session, ...account } = body
      expect(account).to.deep.equal({
        id: member.id,
        username: member.username,
        role: 'viewer',
        must_change_password: false,
        models: ['echo'],
        rate_limit: { requests: 5, tokens: null, concurrency: null, period: '60s' },
        tracing: false,
        last_login_at: '1970-01-01T00:00:00.000Z',
        may: { make_keys: false },
      })
      const { expires_at: expires, ends_at: ends } = session as {
        readonly expires_at: string
        readonly ends_at: string
      }
      const hour = 3_600_000
      expect(Date.parse(expires) - Date.now()).to.be.within(hour / 2, hour)
      expect(Date.parse(ends) - Date.parse(expires)).to.equal(11 * hour)
      expect((await member.ask('GET /api/me?more=1')).code).to.equal('unknown_field')
      for (const ask of [gateway.asNobody, gateway.asKey])
        expect((await ask('GET /api/me')).code).to.equal('invalid_token')
      const admin = await gateway.asAdmin('GET /api/me')
      expect(admin.body).to.include({ username: 'admin', role: 'admin', models: null, rate_limit: null })
    })

    it('tells whether members may make keys', async () => {
      const open = await startAdmin({ server_config: { security: { self_service_keys: true } } })
      expect((await open.asViewer('GET /api/me')).body['may']).to.deep.equal({ make_keys: true })
      await open.close()
    })

    it('gets a new password, which ends all sessions but a new one', async () => {
      const member = await gateway.addMember({ username: 'changer', must_change_password: 1 })
      const other = await gateway.asNobody('POST /api/auth/login', { username: 'changer', password })
      const change = (body: object) => member.ask('POST /api/me/password', body)
      for (const [body, status, code, param] of [
        [{}, 422, 'missing_field', 'current_password'],
        [{ current_password: password }, 422, 'missing_field', 'new_password'],
        [{ current_password: password, new_password: 'short' }, 422, 'invalid_field', 'new_password'],
        [{ current_password: password, new_password: 'i am changer, the first' }, 422, 'invalid_field', 'new_password'],
        [{ current_password: password, new_password: password }, 422, 'invalid_field', 'new_password'],
        [{ current_password: 'a wrong sentence', new_password: next }, 401, 'wrong_password', null],
      ] as const) {
        const answer = await change(body)
        expect([answer.status, answer.code, answer.param], JSON.stringify(body)).to.deep.equal([status, code, param])
      }
      const { status, body } = await change({ current_password: password, new_password: next })
      expect([status, Object.keys(body)]).to.deep.equal([200, ['token', 'expires_at', 'user']])
      expect(body['user']).to.deep.equal({
        id: member.id,
        username: 'changer',
        role: 'viewer',
        must_change_password: false,
      })
      expect((await member.ask('GET /api/me')).code).to.equal('invalid_token')
      expect((await askAt(gateway.url, other.body['token'] as string)('GET /api/me')).code).to.equal('invalid_token')
      expect((await askAt(gateway.url, body['token'] as string)('GET /api/me/budget')).status).to.equal(200)
      expect((await gateway.asNobody('POST /api/auth/login', { username: 'changer', password })).status).to.equal(401)
      expect((await gateway.asNobody('POST /api/auth/login', { username: 'changer', password: next })).status).to.equal(
        200,
      )
      const [row] = await rows('me.password')
      expect(row).to.deep.include({ outcome: 'ok', target: { type: 'member', id: member.id, name: 'changer' } })
      expect(JSON.stringify(row)).to.not.include(next)
    })

    it('limits how often a password can be guessed', async () => {
      const member = await gateway.addMember()
      const wrong = () => member.ask('POST /api/me/username', { username: 'x', current_password: 'a wrong sentence' })
      for (let time = 0; time < 5; time++) expect((await wrong()).code).to.equal('wrong_password')
      const sixth = await wrong()
      expect([sixth.status, sixth.code, Number(sixth.headers.get('retry-after')) >= 1]).to.deep.equal([
        429,
        'too_many_attempts',
        true,
      ])
    })

    it('gets a new username', async () => {
      const member = await gateway.addMember({ username: 'before' })
      const rename = (username: string) => member.ask('POST /api/me/username', { username, current_password: password })
      const { status, body } = await rename('After')
      expect([status, body['username'], Object.keys(body).length]).to.deep.equal([200, 'after', 10])
      expect((await member.ask('GET /api/me')).body['username']).to.equal('after')
      expect((await rename('admin')).code).to.equal('name_taken')
      expect((await rename('-')).param).to.equal('username')
      const [row] = await rows('me.username')
      expect(row?.['changes']).to.deep.equal({ username: { from: 'before', to: 'after' } })
      const pending = await gateway.addMember({ must_change_password: 1 })
      const refused = await pending.ask('POST /api/me/username', { username: 'x', current_password: password })
      expect([refused.status, refused.code]).to.deep.equal([403, 'password_change_required'])
    })

    it('shows what is left of the own budget and those of the own keys, and whether the gateway has spent its own', async () => {
      const member = await gateway.addMember({ budget: '{"usd":3,"period":"day"}' })
      const { status, body } = await member.ask('GET /api/me/budget')
      expect([status, Object.keys(body)]).to.deep.equal([200, ['budget', 'keys', 'server']])
      const state = ['usd', 'period', 'spent', 'held', 'remaining', 'resets_at', 'since']
      expect(Object.keys(body['budget'] as JsonObject)).to.have.members(state)
      expect(body['budget']).to.include({ usd: 3, period: 'day', spent: 0, remaining: 3 })
      expect([body['keys'], body['server']]).to.deep.equal([[], null])

      const keys = viewOf(gateway.engine, 'api_keys')
      const plain = await keys.create({ name: 'plain', owner: member.id })
      const bound = await keys.create({ name: 'bound', owner: member.id, budget: { usd: 1, period: 'total' } })
      await keys.create({ name: 'of-nobody' })
      const owned = (await member.ask('GET /api/me/budget')).body['keys'] as readonly JsonObject[]
      expect(owned.map(({ name }) => name)).to.have.members(['bound', 'plain'])
      for (const key of owned) expect(Object.keys(key)).to.deep.equal(['id', 'name', 'budget', 'spent'])
      const [first] = owned.filter(({ id }) => id === bound.id)
      expect(first?.['budget']).to.include({ usd: 1, period: 'total', remaining: 1, resets_at: null })
      expect(owned.find(({ id }) => id === plain.id)).to.deep.include({ budget: null, spent: 0 })

      expect((await gateway.asAdmin(`GET /api/team/members/${member.id}`)).body['keys']).to.equal(2)
      expect(keys.find(plain.text)?.owner).to.equal(member.id)
      expect((await gateway.asAdmin(`DELETE /api/team/members/${member.id}`)).status).to.equal(204)
      expect((await member.ask('GET /api/me')).code).to.equal('invalid_token')
      const chat = await askAt(gateway.url, plain.text)('POST /v1/chat/completions', { model: 'echo', messages: [] })
      expect([chat.status, chat.code]).to.deep.equal([401, 'invalid_api_key'])
    })

    it('of a gateway with a budget shows only whether it is exhausted', async () => {
      const spent = await startAdmin({
        server_config: { rate_limits: { budget: { server: { usd: 0, period: 'day' } } } },
      })
      expect((await spent.asViewer('GET /api/me/budget')).body['server']).to.deep.equal({ exhausted: true })
      await spent.close()
    })

    it('switches tracing', async () => {
      const member = await gateway.addMember()
      const tracing = async (body?: object) =>
        (await member.ask(`${body ? 'PATCH' : 'GET'} /api/me/tracing`, body)).body['enabled']
      expect(await tracing()).to.equal(false)
      expect(await tracing({ enabled: true })).to.equal(true)
      expect(await tracing({})).to.equal(true)
      const told = (await rows('me.tracing')).map(({ changes }) => changes)
      expect(told).to.deep.equal([{ tracing: { from: false, to: true } }])
      expect(await tracing()).to.equal(true)
      expect(viewOf(gateway.engine, 'members').find(member.id)?.tracing).to.equal(true)
      expect((await member.ask('GET /api/me')).body['tracing']).to.equal(true)
      expect(await tracing({ enabled: null })).to.equal(false)
      for (const [body, code] of [
        [{ enabled: 'yes' }, 'invalid_field'],
        [{ on: true }, 'unknown_field'],
      ] as const)
        expect((await member.ask('PATCH /api/me/tracing', body)).code).to.equal(code)
    })
  })
})
