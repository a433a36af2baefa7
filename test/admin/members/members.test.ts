import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { askAt, password, startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'

/** Every field of a member. */
const fields = [
  'id',
  'username',
  'role',
  'disabled',
  'must_change_password',
  'models',
  'budget',
  'rate_limit',
  'tracing',
  'keys',
  'created_at',
  'last_login_at',
  'version',
]

const ascending = (left: number, right: number) => left - right

/** A member that was made. */
type Made = JsonObject & { readonly id: string; readonly temporary_password?: string }

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

for (const dialect of ['sqlite', 'postgres'] as const)
  describe(`admin/members on ${dialect}`, function () {
    this.timeout(600_000)
    let gateway: AdminGateway
    before(async function () {
      gateway = await startAdmin({
        models: [{ name: 'echo', provider: 'echo', aliases: ['parrot'] }],
        ...(dialect === 'postgres' ? { database: (await postgres(this)).url } : {}),
      })
    })
    after(() => gateway?.close())

    const team = '/api/team/members'
    const create = async (fields: object) => {
      const { status, headers, body } = await gateway.asAdmin(`POST ${team}`, fields)
      expect(status, JSON.stringify(body)).to.equal(201)
      return { headers, body: body as Made }
    }
    const login = (username: string, word: unknown) =>
      gateway.asNobody('POST /api/auth/login', { username, password: word })
    const rows = async (id: string) => {
      const { body } = await gateway.asAdmin(`GET /api/logs/audit?sort=sequence&target=${id}`)
      return body['data'] as readonly JsonObject[]
    }
    const refused = async (route: string, body: unknown, expected: readonly unknown[], headers = {}) => {
      const { status, code, param } = await gateway.asAdmin(route, body, headers)
      expect([status, code, param], `${route} ${JSON.stringify(body)}`).to.deep.equal(expected)
    }

    it('are created with a password that is made, shown once and must be changed', async () => {
      const { body, headers } = await create({
        username: 'Zoe@Example',
        budget: { usd: 5 },
        models: ['parrot', 'Fast'],
      })
      expect(Object.keys(body)).to.have.members([...fields, 'temporary_password'])
      expect(body).to.deep.include({
        username: 'zoe@example',
        role: 'viewer',
        disabled: false,
        must_change_password: true,
        models: ['echo', 'fast'],
        rate_limit: null,
        tracing: false,
        keys: 0,
        last_login_at: null,
        version: 1,
      })
      expect(body['created_at']).to.match(time)
      const budget = body['budget'] as JsonObject
      expect(Object.keys(budget)).to.have.members(['usd', 'period', 'spent', 'held', 'remaining', 'resets_at', 'since'])
      expect(budget).to.deep.include({ usd: 5, period: 'month', spent: 0, held: 0, remaining: 5 })
      expect([headers.get('location'), headers.get('etag')]).to.deep.equal([`${team}/${body.id}`, '"1"'])
      const got = await gateway.asAdmin(`GET ${team}/${body.id}`)
      expect([got.status, Object.keys(got.body), got.headers.get('etag')]).to.deep.equal([200, fields, '"1"'])

      const session = await login('ZOE@example', body['temporary_password'])
      expect(session.status).to.equal(200)
      const zoe = askAt(gateway.url, session.body['token'] as string)
      expect((await zoe('GET /api/me')).status).to.equal(200)
      expect((await zoe('GET /api/me/budget')).code).to.equal('password_change_required')

      const [row] = await rows(body.id)
      expect(row).to.deep.include({
        action: 'member.create',
        actor: { type: 'member', id: gateway.admin.id, name: 'admin' },
        target: { type: 'member', id: body['id'], name: 'zoe@example' },
      })
      expect(row?.['changes']).to.deep.include({
        username: { from: null, to: 'zoe@example' },
        'budget.usd': { from: null, to: 5 },
      })
      expect(JSON.stringify(row)).to.not.include(body.temporary_password ?? '')
    })

    it('may get a password at once, which keeps the rules', async () => {
      const { body } = await create({
        username: 'chosen',
        password: 'a sentence of theirs',
        role: 'admin',
        current_password: password,
      })
      expect(Object.keys(body)).to.have.members(fields)
      expect(body['must_change_password']).to.equal(false)
      expect((await login('chosen', 'a sentence of theirs')).status).to.equal(200)
      for (const word of ['short', 'aaaaaaaaaaaaaaaa', 'this is refusal-1 indeed'])
        await refused(`POST ${team}`, { username: 'refusal-1', password: word }, [422, 'invalid_field', 'password'])
    })

    it('are refused with what is wrong with them', async () => {
      for (const [body, code, param] of [
        [{}, 'missing_field', 'username'],
        [{ username: '-x' }, 'invalid_field', 'username'],
        [{ username: 'x'.repeat(65) }, 'invalid_field', 'username'],
        [{ username: 'x', role: 'owner' }, 'invalid_field', 'role'],
        [{ username: 'x', budget: { usd: -1 } }, 'invalid_field', 'budget.usd'],
        [{ username: 'x', budget: { usdd: 1, usd: 1 } }, 'unknown_field', 'budget.usdd'],
        [{ username: 'x', rate_limit: { requests: 0 } }, 'invalid_field', 'rate_limit.requests'],
        [{ username: 'x', models: ['echo', 'nothing'] }, 'invalid_reference', 'models[1]'],
        [{ username: 'x', version: 3 }, 'unknown_field', 'version'],
        [{ username: 'x', tracing: true }, 'unknown_field', 'tracing'],
        [{ username: 'x', keys: 3 }, 'unknown_field', 'keys'],
      ] as const)
        await refused(`POST ${team}`, body, [422, code, param])
      await create({ username: 'taken' })
      await refused(`POST ${team}`, { username: 'TAKEN' }, [409, 'name_taken', null])
      await refused(`POST ${team}?force=1`, { username: 'x' }, [422, 'unknown_field', 'force'])
      const made = await Promise.all(
        Array.from({ length: 4 }, () => gateway.asAdmin(`POST ${team}`, { username: 'race' })),
      )
      expect(made.map(({ status }) => status).toSorted(ascending)).to.deep.equal([201, 409, 409, 409])
    })

    it('are listed with filters and pages', async () => {
      const list = async (query: string) => {
        const { status, body } = await gateway.asAdmin(`GET ${team}${query}`)
        expect(status, JSON.stringify(body)).to.equal(200)
        return body as { readonly data: readonly JsonObject[]; readonly next_cursor: string | null }
      }
      const { data } = await list('')
      const names = data.map(({ username }) => username as string)
      expect(names).to.deep.equal(names.toSorted())
      for (const member of data) expect(Object.keys(member)).to.deep.equal(fields)
      expect((await list('?role=admin')).data.map(({ username }) => username)).to.deep.equal(['admin', 'chosen'])
      expect((await list('?search=ZOE')).data.map(({ username }) => username)).to.deep.equal(['zoe@example'])
      expect((await list('?disabled=true')).data).to.deep.equal([])
      expect((await list('?sort=-last_login_at')).data.at(-1)?.['last_login_at']).to.equal(null)
      const paged: unknown[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const page = await list(`?sort=-created_at&limit=2${cursor && `&cursor=${cursor}`}`)
        paged.push(...page.data.map(({ id }) => id))
        cursor = page.next_cursor
      }
      expect(paged).to.deep.equal((await list('?sort=-created_at')).data.map(({ id }) => id))
      for (const [query, code] of [
        ['colour=red', 'unknown_field'],
        ['role=owner', 'invalid_field'],
        ['sort=budget', 'invalid_field'],
        ['cursor=x', 'invalid_cursor'],
      ] as const)
        expect((await gateway.asAdmin(`GET ${team}?${query}`)).code).to.equal(code)
    })

    it('are changed by merge patches, in the version that was read', async () => {
      const { body: made } = await create({ username: 'patched', budget: { usd: 5, period: 'week' }, models: ['echo'] })
      const path = `${team}/${made.id}`
      const changed = await gateway.asAdmin(
        `PATCH ${path}`,
        { username: 'Patched.Two', budget: { usd: 7.5 }, models: null, rate_limit: { requests: 10 } },
        { 'if-match': '"1"' },
      )
      expect([changed.status, changed.headers.get('etag')], JSON.stringify(changed.body)).to.deep.equal([200, '"2"'])
      expect(changed.body).to.deep.include({
        username: 'patched.two',
        models: null,
        rate_limit: { requests: 10, tokens: null, concurrency: null, period: '60s' },
        version: 2,
      })
      expect(changed.body['budget']).to.deep.include({ usd: 7.5, period: 'week' })
      const audited = (await rows(made.id)).at(-1)
      expect([audited?.['action'], audited?.['changes']]).to.deep.equal([
        'member.update',
        {
          username: { from: 'patched', to: 'patched.two' },
          'budget.usd': { from: 5, to: 7.5 },
          models: { from: ['echo'], to: null },
          'rate_limit.requests': { from: null, to: 10 },
          'rate_limit.period': { from: null, to: '60s' },
        },
      ])

      const count = (await rows(made.id)).length
      const same = await gateway.asAdmin(`PATCH ${path}`, { budget: { usd: 7.5 }, disabled: false, role: null })
      expect([same.status, same.body['version'], (await rows(made.id)).length]).to.deep.equal([200, 2, count])
      await refused(`PATCH ${path}`, { username: 'x' }, [412, 'stale_version', null], { 'if-match': '"1"' })
      await refused(`PATCH ${path}`, { username: null }, [422, 'invalid_field', 'username'])
      await refused(`PATCH ${path}`, { password: 'a sentence of theirs' }, [422, 'unknown_field', 'password'])
      await refused(`PATCH ${path}`, { username: 'admin' }, [409, 'name_taken', null])
      await refused(`PATCH ${path}`, { models: ['nothing'] }, [422, 'invalid_reference', 'models[0]'])
      const none = await gateway.asAdmin(`PATCH ${path}`, { budget: null })
      expect(none.body['budget']).to.equal(null)
      await refused(`PATCH ${path}`, { budget: { period: 'day' } }, [422, 'missing_field', 'budget.usd'])
      for (const method of ['GET', 'DELETE'])
        await refused(`${method} ${team}/nobody`, undefined, [404, 'not_found', null])
      await refused(`PATCH ${team}/nobody`, {}, [404, 'not_found', null])
    })

    it('lose their sessions with their role, when they are disabled, and with a new password', async () => {
      const member = await gateway.addMember({ username: 'sessions' })
      const path = `${team}/${member.id}`
      let { token } = member
      const isIn = async () => (await askAt(gateway.url, token)('GET /api/me')).status === 200
      const again = async (word: string) => {
        const { body } = await login('sessions', word)
        token = body['token'] as string
      }
      expect(await isIn()).to.equal(true)
      await gateway.asAdmin(`PATCH ${path}`, { username: 'sessions', budget: { usd: 1 } })
      expect(await isIn()).to.equal(true)
      await gateway.asAdmin(`PATCH ${path}`, { role: 'admin', current_password: password })
      expect(await isIn()).to.equal(false)
      await again(password)
      await gateway.asAdmin(`PATCH ${path}`, { disabled: true })
      expect(await isIn()).to.equal(false)
      expect((await login('sessions', password)).code).to.equal('invalid_credentials')
      await gateway.asAdmin(`PATCH ${path}`, { disabled: false })
      expect(await isIn()).to.equal(false)
      await again(password)
      expect(await isIn()).to.equal(true)

      const reset = await gateway.asAdmin(`POST ${path}/reset-password`, { current_password: password })
      expect([reset.status, Object.keys(reset.body)]).to.deep.equal([200, [...fields, 'temporary_password']])
      expect(reset.body['must_change_password']).to.equal(true)
      expect(await isIn()).to.equal(false)
      await again(reset.body['temporary_password'] as string)
      const chosen = await gateway.asAdmin(`POST ${path}/reset-password`, {
        password: 'another sentence of theirs',
        current_password: password,
      })
      expect([chosen.status, Object.keys(chosen.body), chosen.body['must_change_password']]).to.deep.equal([
        200,
        fields,
        false,
      ])
      expect(await isIn()).to.equal(false)
      await again('another sentence of theirs')
      expect(await isIn()).to.equal(true)
      await refused(`POST ${path}/reset-password`, { password: 'short' }, [422, 'invalid_field', 'password'])
      await refused(`POST ${path}/reset-password`, {}, [412, 'stale_version', null], { 'if-match': '"1"' })
      await refused(`POST ${team}/nobody/reset-password`, {}, [404, 'not_found', null])
      const actions = (await rows(member.id)).map(({ action }) => action)
      expect(actions.filter((action) => action === 'member.reset_password')).to.have.length(2)
    })

    it('become admins, and are reset as admins, with the password of whoever does it', async () => {
      const { id } = await gateway.addMember({ username: 'rising' })
      const path = `${team}/${id}`
      const wrong = [401, 'wrong_password', null] as const
      const before = (await gateway.asAdmin(`GET ${path}`)).body
      for (const more of [{}, { current_password: 'not the password' }]) {
        await refused(`POST ${team}`, { username: 'ghost', role: 'admin', ...more }, wrong)
        await refused(`PATCH ${path}`, { role: 'admin', ...more }, wrong)
      }
      expect((await gateway.asAdmin(`GET ${path}`)).body).to.deep.equal(before)
      const right = { current_password: password }
      const made = await create({ username: 'third', role: 'admin', ...right })
      expect(Object.keys(made.body)).to.have.members([...fields, 'temporary_password'])
      await gateway.asAdmin(`DELETE ${team}/${made.body.id}`)
      const risen = await gateway.asAdmin(`PATCH ${path}`, { role: 'admin', ...right })
      expect([risen.status, risen.body['role']]).to.deep.equal([200, 'admin'])
      for (const body of [{}, { password: 'a sentence of a thief' }, { current_password: 'not the password' }])
        await refused(`POST ${path}/reset-password`, body, wrong)
      expect((await login('rising', password)).status).to.equal(200)
      expect((await gateway.asAdmin(`POST ${path}/reset-password`, right)).status).to.equal(200)
      // What takes away rights asks for nothing.
      expect((await gateway.asAdmin(`PATCH ${path}`, { role: 'viewer' })).status).to.equal(200)
      expect((await gateway.asAdmin(`POST ${path}/reset-password`)).status).to.equal(200)
      expect(JSON.stringify(await rows(id))).to.not.include(password)
    })

    it('may have spent nothing again', async () => {
      const { body: made } = await create({ username: 'spender', budget: { usd: 1 } })
      const path = `${team}/${made.id}`
      const { status, body } = await gateway.asAdmin(`POST ${path}/reset-budget`)
      expect([status, Object.keys(body)]).to.deep.equal([200, fields])
      expect((body['budget'] as JsonObject)['spent']).to.equal(0)
      expect((await rows(made.id)).at(-1)?.['action']).to.equal('member.reset_budget')
      await refused(`POST ${path}/reset-budget`, { more: 1 }, [422, 'unknown_field', 'more'])
      await refused(`POST ${team}/nobody/reset-budget`, undefined, [404, 'not_found', null])
    })

    it('do not change their own rights, and leave one admin', async () => {
      const own = `${team}/${gateway.admin.id}`
      for (const [field, value] of [
        ['username', 'other'],
        ['role', 'viewer'],
        ['disabled', true],
        ['models', ['echo']],
        ['budget', { usd: 1 }],
        ['rate_limit', { requests: 1 }],
      ] as const)
        await refused(`PATCH ${own}`, { [field]: value }, [403, 'own_account', field])
      const noted = (await gateway.asAdmin('GET /api/logs/audit?action=access.refused&outcome=refused')).body
      const [row] = noted['data'] as readonly JsonObject[]
      expect(row).to.deep.include({
        actor: { type: 'member', id: gateway.admin.id, name: 'admin' },
        details: { action: 'change-member', code: 'own_account' },
      })
      expect((await gateway.asAdmin(`PATCH ${own}`, { role: 'admin', models: null })).status).to.equal(200)

      await refused(`POST ${own}/reset-password`, {}, [403, 'own_account', 'password'])

      const two = await Promise.all(['left', 'right'].map((username) => gateway.addMember({ username, role: 'admin' })))
      const [left, right] = two
      if (left === undefined || right === undefined) throw new Error('two admins')
      const { data } = (await gateway.asAdmin(`GET ${team}?role=admin`)).body as {
        readonly data: readonly JsonObject[]
      }
      for (const { id } of data)
        if (![gateway.admin.id, left.id, right.id].includes(id as string))
          expect((await gateway.asAdmin(`DELETE ${team}/${id as string}`)).status).to.equal(204)
      // Whoever is first stays: the other one is the last.
      expect((await left.ask(`DELETE ${own}`)).status).to.equal(204)
      const both = await Promise.all([
        left.ask(`PATCH ${team}/${right.id}`, { role: 'viewer' }),
        right.ask(`PATCH ${team}/${left.id}`, { role: 'viewer' }),
      ])
      const done = both.findIndex(({ status }) => status === 200)
      expect(both.map(({ status }) => status).toSorted(ascending)[0]).to.equal(200)
      expect([401, 409]).to.include(both[1 - done]?.status)
      const last = two[done]
      for (const [method, body] of [['DELETE', undefined]] as const) {
        const answer = await last?.ask(`${method} ${team}/${last.id}`, body)
        expect([answer?.status, answer?.code]).to.deep.equal([409, 'last_admin'])
      }
    })

    it('are kept from viewers, keys and strangers', async () => {
      const { id } = gateway.viewer
      for (const route of [
        `GET ${team}`,
        `POST ${team}`,
        `GET ${team}/${id}`,
        `PATCH ${team}/${id}`,
        `DELETE ${team}/${id}`,
        `POST ${team}/${id}/reset-password`,
        `POST ${team}/${id}/reset-budget`,
      ]) {
        const body = route.startsWith('P') ? {} : undefined
        expect((await gateway.asViewer(route, body)).code, route).to.equal('forbidden')
        expect((await gateway.asKey(route, body)).code, route).to.equal('invalid_token')
        expect((await gateway.asNobody(route, body)).code, route).to.equal('invalid_token')
      }
    })

    it('are neither changed nor made without a row of the audit trail', async () => {
      const admin = await gateway.addMember({ username: 'auditor', role: 'admin' })
      const { schema } = tablesOf(gateway.engine.database)
      const before = await gateway.engine.database.rows('select * from members order by id')
      await schema.alterTable('audit').renameTo('audit_away').execute()
      try {
        for (const [route, body] of [
          [`POST ${team}`, { username: 'lost' }],
          [`PATCH ${team}/${gateway.viewer.id}`, { disabled: true }],
          [`DELETE ${team}/${gateway.viewer.id}`, undefined],
          [`POST ${team}/${gateway.viewer.id}/reset-password`, {}],
          [`POST ${team}/${gateway.viewer.id}/reset-budget`, {}],
        ] as const) {
          const { status, code } = await admin.ask(route, body)
          expect([status, code], route).to.deep.equal([503, 'store_unavailable'])
        }
        expect(await gateway.engine.database.rows('select * from members order by id')).to.deep.equal(before)
      } finally {
        await schema.alterTable('audit_away').renameTo('audit').execute()
      }
      expect((await gateway.asViewer('GET /api/me')).status).to.equal(200)
    })
  })
