import { createHmac, hkdfSync, randomUUID, randomUUIDv7 } from 'node:crypto'
import { expect } from 'chai'
import type { Context } from 'mocha'
import { configuration, sandbox } from '../../engine/cli/sandbox.ts'
import { askAt, password, startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway, SignedIn } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { postgres, redis } from '../../support/services.ts'
import { until } from '../../support/until.ts'

const secret = 'the master secret of these tests'
const environment = { SLUICE_SECRET: secret }
const key = Buffer.from(hkdfSync('sha256', secret, '', 'sluice jwt 1', 32))
const header = { alg: 'HS256', typ: 'JWT' }
const hour = 3_600

const base64 = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
/** A token as an outsider makes it who has the key. */
const forge = (claims: object, head: object | string = header, signing = key, hash = 'sha256') => {
  const signed = `${base64(head)}.${base64(claims)}`
  return `${signed}.${createHmac(hash, signing).update(signed).digest('base64url')}`
}
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>

describe('admin/members/sessions', () => {
  describe('tokens', () => {
    let gateway: AdminGateway
    let member: SignedIn
    before(async () => {
      gateway = await startAdmin({ environment })
      member = await gateway.addMember({ username: 'forged' })
    })
    after(() => gateway.close())

    const now = () => Math.floor(Date.now() / 1_000)
    const claims = (more: object = {}) => ({
      iss: 'sluice',
      aud: 'sluice-console',
      sub: member.id,
      jti: randomUUIDv7(),
      ver: 1,
      iat: now(),
      exp: now() + hour,
      auth_time: now(),
      ...more,
    })
    const without = (name: string) => Object.fromEntries(Object.entries(claims()).filter(([each]) => each !== name))
    const told = async (token: string) => {
      const { status, code } = await askAt(gateway.url, token)('POST /api/auth/renew')
      return code === undefined ? String(status) : `${status} ${code as string}`
    }
    const refused = '401 invalid_token'

    it('say who signed in and when, and nothing of a role or a name', async () => {
      const login = await gateway.asNobody('POST /api/auth/login', { username: 'Forged', password })
      const { token, user, expires_at: expires } = login.body as { token: string; user: object; expires_at: string }
      expect(user).to.deep.equal({ id: member.id, username: 'forged', role: 'viewer', must_change_password: false })
      expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).to.deep.equal(header)
      const { iat, exp, jti, ...others } = claimsOf(token)
      expect(others).to.deep.equal({
        iss: 'sluice',
        aud: 'sluice-console',
        sub: member.id,
        ver: 1,
        auth_time: iat,
      })
      expect(jti).to.match(/^[\da-f]{8}-[\da-f]{4}-7/)
      expect([exp, Date.parse(expires)]).to.deep.equal([Number(iat) + hour, (Number(iat) + hour) * 1_000])
    })

    it('count when they are signed as described, in any order of their members', async () => {
      expect(await told(forge(claims()))).to.equal('200')
      expect(await told(forge(Object.fromEntries(Object.entries(claims()).reverse())))).to.equal('200')
      expect(await told(forge(claims(), { typ: 'JWT', alg: 'HS256' }))).to.equal('200')
      expect(await told(forge(claims({ iat: now() + 50, auth_time: now() })))).to.equal('200')
    })

    it('are refused with a wrong signature or header', async () => {
      const [head = '', body = '', signature = ''] = forge(claims()).split('.')
      const other = Buffer.from(hkdfSync('sha256', secret, '', 'sluice jwt 2', 32))
      const tokens = [
        forge(claims(), header, other),
        forge(claims(), header, Buffer.from(secret)),
        forge(claims(), { alg: 'HS512', typ: 'JWT' }, key, 'sha512'),
        forge(claims(), { alg: 'HS512', typ: 'JWT' }),
        forge(claims(), { alg: 'none', typ: 'JWT' }),
        `${base64({ alg: 'none', typ: 'JWT' })}.${body}.`,
        `${head}.${base64(claims({ sub: gateway.admin.id }))}.${signature}`,
        forge(claims(), { alg: 'HS256' }),
        forge(claims(), { ...header, kid: '1' }),
        forge(claims(), { ...header, typ: 'at+jwt' }),
        forge(claims(), '[]'),
        forge(claims(), '"HS256"'),
      ]
      for (const token of tokens) expect(await told(token), token).to.equal(refused)
    })

    it('are refused when a claim is missing, strange or of another type', async () => {
      const names = Object.keys(claims())
      expect(names).to.have.length(8)
      for (const name of names) expect(await told(forge(without(name))), name).to.equal(refused)
      const strange: readonly object[] = [
        { nbf: now() },
        { role: 'admin' },
        { iss: 'other' },
        { aud: 'other' },
        { aud: ['sluice-console'] },
        { sub: randomUUIDv7() },
        { sub: 7 },
        { jti: randomUUID() },
        { jti: '' },
        { ver: '1' },
        { ver: 1.5 },
        { ver: 0 },
        { ver: 2 },
        { iat: String(now()) },
        { iat: now() + 0.5 },
        { exp: null },
        { auth_time: true },
      ]
      for (const more of strange) expect(await told(forge(claims(more))), JSON.stringify(more)).to.equal(refused)
      expect(await told(`${base64(header)}.${base64('[]')}.AAAA`)).to.equal(refused)
    })

    it('are refused when they are too old, too new or too long', async () => {
      const old = now() - 2 * hour
      const times: readonly object[] = [
        { exp: now() - 1 },
        { exp: now() },
        { iat: now() + 90, exp: now() + hour },
        { exp: now() + 24 * hour + 2 },
        { iat: old, auth_time: old, exp: now() + hour },
        { auth_time: now() + 30 },
      ]
      for (const more of times) expect(await told(forge(claims(more))), JSON.stringify(more)).to.equal(refused)
      // Renewal alone tells that a session is over.
      const over = forge(claims({ auth_time: now() - 12 * hour }))
      expect(await told(over)).to.equal('401 session_over')
      const session = await viewOf(gateway.engine, 'sessions').find(over)
      expect(session).to.equal(undefined)
      expect(await told(forge(claims({ auth_time: now() - 12 * hour + 60 })))).to.equal('200')
    })

    it('have one spelling', async () => {
      const good = forge(claims())
      const [head = '', body = '', signature = ''] = good.split('.')
      const spellings = [
        `${good}=`,
        `${good}.`,
        `.${good}`,
        `${head}.${body}`,
        `${head}..${signature}`,
        `${head}.${body}.${signature}.${signature}`,
        `${head}.${body}.${signature.slice(0, -1)}`,
        // 32 bytes end in a character of which two bits are unused: four characters stand for the same bytes.
        ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
          .split('')
          .map((last) => `${good.slice(0, -1)}${last}`)
          .filter((each) => each !== good),
        `${head}.${body}.${signature.replaceAll('-', '+').replaceAll('_', '/')}=`,
        `${head} .${body}.${signature}`,
        `${head}.${body}.${'A'.repeat(4_096)}`,
        forge(claims({ sub: member.id.padEnd(4_000) })),
      ]
      for (const token of spellings) expect(await told(token), token).to.equal(refused)
      expect(await told(good)).to.equal('200')
    })

    it('are no cookies and no query parameters', async () => {
      const { token } = member
      const shown = [
        askAt(gateway.url)(`POST /api/auth/renew?token=${token}`),
        askAt(gateway.url)('POST /api/auth/renew', undefined, { cookie: `token=${token}` }),
        askAt(gateway.url)('POST /api/auth/renew', undefined, { 'x-api-key': token }),
        askAt(gateway.url)('POST /api/auth/renew', undefined, { authorization: `Basic ${token}` }),
      ]
      const answers = await Promise.all(shown)
      for (const answer of answers) expect(answer.code).to.equal('invalid_token')
      const message = 'No session token was sent. Send it as "authorization: Bearer <jwt>".'
      expect(answers[1]?.body['error']).to.include({ message })
    })
  })

  describe('renewal', () => {
    let gateway: AdminGateway
    beforeEach(async () => (gateway = await startAdmin({ environment })))
    afterEach(() => gateway.close())

    it('gives another token of the same login, and soon ends the old one', async () => {
      const before = claimsOf(gateway.viewer.token)
      const { status, body } = await gateway.asViewer('POST /api/auth/renew')
      expect(status).to.equal(200)
      expect(Object.keys(body)).to.deep.equal(['token', 'expires_at', 'user'])
      const after = claimsOf(body['token'] as string)
      expect(after['jti']).not.to.equal(before['jti'])
      expect(after['auth_time']).to.equal(before['auth_time'])
      expect(gateway.viewer.token).not.to.equal(body['token'])
      const { store } = viewOf(gateway.engine, 'members')
      const ended = await gateway.engine.database.rows<{ session: string; ended_at: number; expires_at: number }>(
        'select * from members_ended',
      )
      expect(ended.map(({ session }) => session)).to.deep.equal([before['jti']])
      expect(ended[0]?.expires_at).to.equal(Number(before['exp']) * 1_000)
      expect((ended[0]?.ended_at ?? 0) - Date.now()).to.be.within(1, 30_000)
      // Within the 30 seconds it is still good, and a second renewal does not prolong it.
      expect((await gateway.asViewer('POST /api/auth/renew')).status).to.equal(200)
      const again = await gateway.engine.database.rows<{ ended_at: number }>('select ended_at from members_ended')
      expect(again).to.deep.equal([{ ended_at: ended[0]?.ended_at }])
      await store.change(async (transaction) => {
        await transaction.updateTable('members_ended').set({ ended_at: Date.now() }).execute()
      })
      expect(await gateway.asViewer('POST /api/auth/renew')).to.include({ status: 401, code: 'invalid_token' })
      expect((await askAt(gateway.url, body['token'] as string)('POST /api/auth/renew')).status).to.equal(200)
    })

    it('makes tokens that end together at a logout, with whichever of them it is asked', async () => {
      for (const at of [0, 1, 2]) {
        const { token } = await gateway.addMember({ username: `chain-${at}` })
        const stranger = (await gateway.asNobody('POST /api/auth/login', { username: `chain-${at}`, password })).body
        const renewed = async (from: string) =>
          (await askAt(gateway.url, from)('POST /api/auth/renew')).body['token'] as string
        const second = await renewed(token)
        const tokens = [token, second, await renewed(second), await renewed(token)]
        expect(new Set(tokens.map((one) => claimsOf(one)['jti'])).size).to.equal(4)
        const status = async (one: string) => (await askAt(gateway.url, one)('GET /api/me')).status
        expect(await Promise.all(tokens.map(status))).to.deep.equal([200, 200, 200, 200])
        expect((await askAt(gateway.url, tokens[at])('POST /api/auth/logout')).status).to.equal(204)
        expect(await Promise.all(tokens.map(status))).to.deep.equal([401, 401, 401, 401])
        // Another login of the member is another session.
        expect(await status(stranger['token'] as string)).to.equal(200)
      }
    })

    it('takes no body but an empty one', async () => {
      expect((await gateway.asViewer('POST /api/auth/renew', {})).status).to.equal(200)
      const wrong = await gateway.asViewer('POST /api/auth/renew', { session_max: '30d' })
      expect(wrong).to.include({ status: 422, code: 'unknown_field', param: 'session_max' })
    })

    it('is open to members who must change their password, and little else is', async () => {
      const { ask, token } = await gateway.addMember({ must_change_password: 1 })
      const { status, body } = await ask('POST /api/auth/renew')
      expect([status, (body['user'] as { must_change_password: boolean }).must_change_password]).to.deep.equal([
        200,
        true,
      ])
      const thrown = await viewOf(gateway.engine, 'sessions')
        .find(token)
        .catch((error: { code: string }) => error.code)
      expect(thrown).to.equal('password_change_required')
      expect((await ask('POST /api/auth/logout')).status).to.equal(204)
    })
  })

  describe('settings', () => {
    it('that are lowered end older sessions at once', async () => {
      const gateway = await startAdmin({
        environment,
        server_config: { security: { session_idle: '5m', session_max: '1h', password_min_length: 20 } },
      })
      try {
        const now = Math.floor(Date.now() / 1_000)
        const token = (iat: number, since: number) => {
          const { sub, ver } = claimsOf(gateway.viewer.token)
          const times = { iat: now - iat, exp: now - iat + hour, auth_time: now - since }
          return forge({ iss: 'sluice', aud: 'sluice-console', sub, jti: randomUUIDv7(), ver, ...times })
        }
        const told = async (text: string) => (await askAt(gateway.url, text)('POST /api/auth/renew')).code
        expect(await told(token(240, 240))).to.equal(undefined)
        expect(await told(token(300, 300))).to.equal('invalid_token')
        expect(await told(token(10, hour - 60))).to.equal(undefined)
        expect(await told(token(10, hour))).to.equal('session_over')
        const { body } = await askAt(gateway.url, token(10, hour - 60))('POST /api/auth/renew')
        // The end of the session comes before the end of the token.
        expect(Date.parse(body['expires_at'] as string)).to.equal((now + 60) * 1_000)
      } finally {
        await gateway.close()
      }
    })
  })

  it('have settings with bounds', async () => {
    const refused: readonly (readonly [string, string])[] = [
      ['session_idle: 4m', 'must be at least 5m'],
      ['session_idle: 25h', 'must be at most 24h'],
      ['session_max: 59m', 'must be at least 1h'],
      ['session_max: 31d', 'must be at most 30d'],
      ['password_min_length: 7', 'must be at least 8'],
      ['password_min_length: 65', 'must be at most 64'],
    ]
    const here = await sandbox()
    for (const [setting, problem] of refused) {
      await here.write('config/sluice.yaml', `${configuration}server_config: { security: { ${setting} } }\n`)
      const { status, out } = await here.run('check')
      expect(status, setting).to.equal(1)
      expect(out.join('\n')).to.include(problem)
    }
    await here.remove()
  })

  describe('their end', () => {
    describe('on SQLite', () => ending(() => Promise.resolve({})))
    describe('on PostgreSQL', () => ending(async (context) => ({ database: (await postgres(context)).url })))
    describe('on PostgreSQL, with a key-value store', () =>
      ending(async (context) => ({
        database: (await postgres(context)).url,
        key_value: { url: (await redis(context)).url },
      })))
  })
})

/** What ends in one process ends in another one, too, with the stores that both have. */
function ending(stores: (context: Context) => Promise<Pick<GatewaySettings, 'database' | 'key_value'>>): void {
  let first: AdminGateway
  let second: RunningGateway
  before(async function () {
    const { database, key_value } = await stores(this)
    first = await startAdmin({ environment, ...(database && { database }), ...(key_value && { key_value }) })
    const { url } = first.engine.database
    second = await startGateway({ environment, database: url, ...(key_value && { key_value }) })
  })
  after(async () => {
    await second.close()
    await first.close()
  })

  // Only reads: what writes learns of all changes, too.
  const here = async (token: string) => (await askAt(first.url, token)('GET /api/api-keys')).code ?? 'good'
  const there = async (token: string) => (await askAt(second.url, token)('GET /api/api-keys')).code ?? 'good'

  it('is known at once, and soon in other processes', async () => {
    const { token, ask } = await first.addMember()
    const other = viewOf(first.engine, 'member_sessions').issue({
      id: claimsOf(token)['sub'] as string,
      sessionVersion: 1,
    })
    expect(await there(token)).to.equal('good')
    expect((await ask('POST /api/auth/logout')).status).to.equal(204)
    expect(await here(token)).to.equal('invalid_token')
    await until(async () => (await there(token)) === 'invalid_token')
    expect([await here(other.token), await there(other.token)]).to.deep.equal(['good', 'good'])
  })

  it('comes to all sessions of the member who asks for that', async () => {
    const { id, token, ask } = await first.addMember()
    const other = viewOf(first.engine, 'member_sessions').issue({ id, sessionVersion: 1 })
    expect(await there(other.token)).to.equal('good')
    expect((await ask('POST /api/auth/logout', { everywhere: true })).status).to.equal(204)
    expect([await here(token), await here(other.token)]).to.deep.equal(['invalid_token', 'invalid_token'])
    await until(async () => (await there(other.token)) === 'invalid_token')
    const login = await first.asNobody('POST /api/auth/login', { username: 'viewer', password })
    expect(await there(login.body['token'] as string)).to.equal('good')
  })

  it('comes with the end of the member', async () => {
    const { store } = viewOf(first.engine, 'members')
    const disabled = await first.addMember()
    const deleted = await first.addMember()
    expect([await there(disabled.token), await there(deleted.token)]).to.deep.equal(['good', 'good'])
    await store.change(async (transaction) => {
      await transaction.updateTable('members').set({ disabled: 1 }).where('id', '=', disabled.id).execute()
      await transaction.deleteFrom('members').where('id', '=', deleted.id).execute()
    })
    for (const { token } of [disabled, deleted]) {
      expect(await here(token)).to.equal('invalid_token')
      await until(async () => (await there(token)) === 'invalid_token')
    }
  })

  it('does not come to those who have just begun elsewhere', async () => {
    const { token } = await first.addMember()
    expect(await there(token)).to.equal('good')
  })

  it('succeeds with any token, and without one', async () => {
    const { asNobody, admin } = first
    expect((await asNobody('POST /api/auth/logout')).status).to.equal(204)
    expect((await asNobody('POST /api/auth/logout', {})).status).to.equal(204)
    for (const token of ['nonsense', `${admin.token}x`, first.key])
      expect((await askAt(first.url, token)('POST /api/auth/logout', { everywhere: true })).status).to.equal(204)
    expect(await here(admin.token)).to.equal('good')
    expect(await asNobody('POST /api/auth/logout', { all: true })).to.include({ status: 422, code: 'unknown_field' })
    expect(await asNobody('POST /api/auth/logout', '{')).to.include({ status: 400, code: 'invalid_json' })
    const form = await asNobody('POST /api/auth/logout', 'everywhere=true', {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(form).to.include({ status: 415, code: 'unsupported_media_type' })
  })
}
