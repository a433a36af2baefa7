import { mock } from 'node:test'
import { expect } from 'chai'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { password, startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminAnswer, AdminGateway } from '../../support/admin.ts'

describe('admin/members/login', () => {
  let gateway: AdminGateway
  beforeEach(async () => (gateway = await startAdmin()))
  afterEach(() => gateway.close())

  const logIn = (body: unknown) => gateway.asNobody('POST /api/auth/login', body)
  const told = ({ status, code }: AdminAnswer) => (code === undefined ? String(status) : `${status} ${code as string}`)
  const trail = async () => {
    const rows = await gateway.engine.database.rows<{ body: string }>('select body from audit order by sequence')
    return rows.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
  }

  it('opens a session, and notes when', async () => {
    const before = Date.now()
    const { status, body } = await logIn({ username: 'VIEWER', password })
    expect(status).to.equal(200)
    expect(Object.keys(body)).to.deep.equal(['token', 'expires_at', 'user'])
    const user = { id: gateway.viewer.id, username: 'viewer', role: 'viewer', must_change_password: false }
    expect(body['user']).to.deep.equal(user)
    const row = await viewOf(gateway.engine, 'members').store.read('viewer')
    expect(row?.last_login_at).to.be.within(before, Date.now())
    expect(row?.version).to.equal(1)
  })

  it('takes a password however its characters are composed', async () => {
    const { passwords } = viewOf(gateway.engine, 'members')
    await gateway.addMember({ username: 'zoe', password: await passwords.hash('passé composé ﬁn') })
    const composed = { username: 'zoe', password: 'passe\u0301 compose\u0301 fin' }
    expect((await logIn(composed)).status).to.equal(200)
  })

  it('tells nobody why it is refused', async () => {
    await gateway.addMember({ username: 'gone', disabled: 1 })
    const refused = await Promise.all([
      logIn({ username: 'viewer', password: 'another long sentence' }),
      logIn({ username: 'nobody', password }),
      logIn({ username: 'gone', password }),
      logIn({ username: '', password: '' }),
      logIn({ username: 'viewer', password: 'x'.repeat(1_000) }),
      logIn({ username: "' or 1=1 --", password }),
      logIn({ username: 'viewer\u0000', password }),
      logIn({ username: '\ud800', password }),
    ])
    for (const answer of refused) {
      const { request_id: _, ...body } = answer.body
      expect([answer.status, body]).to.deep.equal([
        401,
        {
          error: {
            message: 'The username or the password is wrong.',
            type: 'invalid_request_error',
            param: null,
            code: 'invalid_credentials',
          },
        },
      ])
    }
  })

  it('hashes for names that do not exist as for those that do', async () => {
    const { passwords } = viewOf(gateway.engine, 'members')
    const asked: (string | undefined)[] = []
    const isRight = passwords.isRight.bind(passwords)
    passwords.isRight = (text, hash) => (asked.push(hash), isRight(text, hash))
    await logIn({ username: 'nobody', password })
    await logIn({ username: 'viewer', password: 'wrong' })
    expect(asked).to.have.length(2)
    expect(asked[0]).to.equal(undefined)
    expect(asked[1]).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })

  it('checks the body', async () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      ['{', '400 invalid_json'],
      ['[]', '422 invalid_field'],
      ['{"username":"a","username":"b","password":"c"}', '400 invalid_json'],
      [{ username: 'viewer' }, '422 missing_field'],
      [{ username: 'viewer', password: 7 }, '422 invalid_field'],
      [{ username: 'viewer', password, remember: true }, '422 unknown_field'],
      [{ username: 'viewer', password: 'x'.repeat(2_000) }, '422 invalid_field'],
    ]
    for (const [body, code] of wrong) expect(told(await logIn(body)), JSON.stringify(body)).to.equal(code)
    const query = await gateway.asNobody('POST /api/auth/login?username=viewer', { username: 'viewer', password })
    expect([told(query), query.param]).to.deep.equal(['422 unknown_field', 'username'])
    const text = await gateway.asNobody('POST /api/auth/login', 'x', { 'content-type': 'text/plain' })
    expect(told(text)).to.equal('415 unsupported_media_type')
    const large = await logIn({ username: 'viewer', password: 'x'.repeat(1_100_000) })
    expect(told(large)).to.equal('413 request_too_large')
  })

  describe('that fails often', () => {
    // A slow machine must not reach the end of a pause.
    beforeEach(() => mock.timers.enable({ apis: ['Date'], now: Date.now() }))
    afterEach(() => mock.timers.reset())

    it('waits longer and longer, even for the right password, until it succeeds', async () => {
      const wrong = { username: 'viewer', password: 'wrong' }
      for (let tries = 0; tries < 5; tries++) expect(told(await logIn(wrong))).to.equal('401 invalid_credentials')
      for (const pause of [1, 2, 4]) {
        for (const text of ['wrong', password]) {
          const answer = await logIn({ username: 'Viewer', password: text })
          expect(told(answer)).to.equal('429 too_many_attempts')
          expect(answer.headers.get('retry-after')).to.equal(String(pause))
        }
        mock.timers.tick(pause * 1_000)
        expect(told(await logIn(wrong))).to.equal('401 invalid_credentials')
      }
      // Of another name.
      expect(told(await logIn({ username: 'admin', password }))).to.equal('200')
      mock.timers.tick(8_000)
      expect(told(await logIn({ username: 'viewer', password }))).to.equal('200')
      for (let tries = 0; tries < 5; tries++) expect(told(await logIn(wrong))).to.equal('401 invalid_credentials')
      expect(told(await logIn(wrong))).to.equal('429 too_many_attempts')
    })

    it('is not kept out by others at its address, and has a limit of its own', async () => {
      expect(told(await logIn({ username: 'admin', password }))).to.equal('200')
      // Behind a proxy that is not trusted, all clients have its address.
      for (let tries = 0; tries < 30; tries++)
        expect(told(await logIn({ username: `stranger-${tries}`, password }))).to.equal('401 invalid_credentials')
      expect(told(await logIn({ username: 'stranger', password }))).to.equal('429 too_many_attempts')
      expect(told(await logIn({ username: 'admin', password }))).to.equal('200')
      for (let tries = 0; tries < 10; tries++) {
        expect(told(await logIn({ username: 'admin', password: 'wrong' })), `${tries}`).to.equal(
          '401 invalid_credentials',
        )
        mock.timers.tick(40_000)
      }
      const answer = await logIn({ username: 'admin', password })
      expect([told(answer), answer.headers.get('retry-after')]).to.deep.equal(['429 too_many_attempts', '500'])
      mock.timers.tick(500_000)
      expect(told(await logIn({ username: 'admin', password }))).to.equal('200')
      mock.timers.tick(15 * 60_000)
    })

    it('lets no more pass when all come at once, of whom the right ones all pass', async () => {
      const wrong = await Promise.all(Array.from({ length: 12 }, () => logIn({ username: 'nobody', password })))
      expect(wrong.filter(({ status }) => status === 401)).to.have.length(5)
      expect(wrong.filter(({ status }) => status === 429)).to.have.length(7)
      const right = await Promise.all(Array.from({ length: 12 }, () => logIn({ username: 'viewer', password })))
      expect(right.map(({ status }) => status)).to.deep.equal(Array.from({ length: 12 }, () => 200))
    })
  })

  it('is in the audit trail, as are the setup and the logout', async () => {
    await logIn({ username: 'viewer', password })
    await gateway.asViewer('POST /api/auth/logout', { everywhere: true })
    const rows = await trail()
    const { admin, viewer } = gateway
    const seen = rows.map(({ action, actor, target, outcome, details }) => ({
      action,
      actor,
      target,
      outcome,
      details,
    }))
    const of = ({ id, username: name }: typeof admin) => ({ type: 'member', id, name })
    expect(seen).to.deep.equal([
      { action: 'auth.setup', actor: of(admin), target: of(admin), outcome: 'ok', details: {} },
      { action: 'auth.login', actor: of(viewer), target: of(viewer), outcome: 'ok', details: {} },
      {
        action: 'auth.logout',
        actor: of(viewer),
        target: of(viewer),
        outcome: 'ok',
        details: { everywhere: true },
      },
    ])
    for (const { address, request_id: id } of rows) {
      expect(address).to.match(/127\.0\.0\.1$/)
      expect(id).to.match(/^[\da-f-]{36}$/)
    }
    expect(JSON.stringify(rows)).not.to.include(password)
  })

  it('that fails is in the audit trail at once, and twice per name, address and minute at most', async () => {
    await logIn({ username: 'nobody', password: 'wrong' })
    await until(async () => (await trail()).some(({ action }) => action === 'auth.refused'))
    for (const username of ['viewer', 'VIEWER', 'viewer', 'nobody', password])
      await logIn({ username, password: 'wrong' })
    await viewOf(gateway.engine, 'members').refused.write()
    const rows = (await trail()).filter(({ action }) => action === 'auth.refused')
    // A minute may have ended meanwhile.
    const count = (name: string | null) =>
      rows
        .filter(({ target }) => (target as { name: string | null }).name === name)
        .reduce((sum, { details }) => sum + (details as { count: number }).count, 0)
    expect([count('viewer'), count('nobody'), count(null)]).to.deep.equal([3, 2, 1])
    expect(JSON.stringify(rows)).not.to.include(password)
    expect(rows.length).to.be.at.most(6)
    expect(rows[0]).to.deep.include({ actor: { type: 'anonymous', id: null, name: null }, outcome: 'refused' })
    expect(rows.map(({ target }) => target)).to.deep.include({ type: 'member', id: gateway.viewer.id, name: 'viewer' })
  })

  it('does not happen when it cannot be written into the audit trail', async () => {
    const { query } = gateway.engine.database
    await query.schema.alterTable('audit').renameTo('audit_away').execute()
    expect(told(await logIn({ username: 'viewer', password }))).to.equal('503 store_unavailable')
    const row = await tablesOf(gateway.engine.database).selectFrom('members').selectAll().execute()
    expect(row.find(({ username }) => username === 'viewer')?.last_login_at).to.equal(null)
    expect(told(await gateway.asViewer('POST /api/auth/logout'))).to.equal('503 store_unavailable')
    expect(told(await gateway.asViewer('POST /api/auth/renew'))).to.equal('200')
    await query.schema.alterTable('audit_away').renameTo('audit').execute()
    // What could not be checked is no failure.
    for (let tries = 0; tries < 6; tries++) expect(told(await logIn({ username: 'viewer', password }))).to.equal('200')
  })
})
