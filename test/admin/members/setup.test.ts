import { mock } from 'node:test'
import { expect } from 'chai'
import { startFolder } from '../../support/folder.ts'
import { askAt, password, startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminAnswer, AdminGateway, Ask } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { usualDatabase } from '../../support/services.ts'

const uuid = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('admin/members/setup', () => {
  let gateway: RunningGateway
  let ask: Ask
  let token: string
  beforeEach(async () => {
    gateway = await startGateway()
    ask = askAt(gateway.url)
    token = viewOf(gateway.engine, 'members').setupToken()
  })
  afterEach(() => gateway.close())

  const setUp = (more: object = {}) => ask('POST /api/auth/setup', { token, username: 'Ann', password, ...more })

  it('makes the first admin, who is signed in', async () => {
    expect(token).to.match(/^[\w-]{43}$/)
    expect((await ask('GET /api/auth/setup-status')).body).to.deep.equal({ needed: true })
    expect(await ask('GET /api/auth/setup-status?x=1')).to.include({ status: 422, code: 'unknown_field', param: 'x' })
    const before = Date.now()
    const { status, body, headers } = await setUp()
    expect(status).to.equal(201)
    expect(Object.keys(body)).to.deep.equal(['token', 'expires_at', 'user'])
    const { id, ...user } = body['user'] as { id: string }
    expect(id).to.match(uuid)
    expect(user).to.deep.equal({ username: 'ann', role: 'admin', must_change_password: false })
    const life = Date.parse(body['expires_at'] as string) - before
    expect(body['expires_at']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(life).to.be.within(3_598_000, 3_660_000)
    expect(headers.get('cache-control')).to.equal('no-store')
    expect(headers.get('x-content-type-options')).to.equal('nosniff')
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8')
    expect((await ask('GET /api/auth/setup-status')).body).to.deep.equal({ needed: false })
    expect((await askAt(gateway.url, body['token'] as string)('POST /api/auth/renew')).status).to.equal(200)
  })

  it('is what every start invites to, until there is a member', async () => {
    const { current } = gateway.engine.live
    const invitations = async () => {
      const greetings = await current.views.greet()
      const said = await Promise.all(
        greetings.map((one) => one.served({ url: 'https://acme', catalog: current.catalog })),
      )
      return said.flatMap((line) => (line?.text.includes('/setup#token=') ? [line] : []))
    }
    const [line, ...others] = await invitations()
    expect([line?.text, others]).to.deep.equal([`Set up the first admin: https://acme/setup#token=${token}`, []])
    expect(JSON.parse(line?.json ?? '')).to.deep.equal({ setup_url: `https://acme/setup#token=${token}` })
    await setUp()
    expect(await invitations()).to.deep.equal([])
  })

  it('is done once there is a member, whatever is sent', async () => {
    await setUp()
    for (const body of [{ token, username: 'bob', password }, { token: 'wrong' }, {}, '{'])
      expect(await ask('POST /api/auth/setup', body)).to.include({ status: 409, code: 'setup_done' })
  })

  it('checks the body before the token', async () => {
    const wrong = 'A'.repeat(43)
    const refused: readonly (readonly [object, string, string | null])[] = [
      [{ token: wrong, username: '.ann', password }, 'invalid_field', 'username'],
      [{ token: wrong, username: '', password }, 'invalid_field', 'username'],
      [{ token: wrong, username: 'a'.repeat(65), password }, 'invalid_field', 'username'],
      [{ token: wrong, username: 'ann' }, 'missing_field', 'password'],
      [{ token: wrong, username: 'ann', password, role: 'admin' }, 'unknown_field', 'role'],
      [{ token: wrong, username: 'ann', password: 'too short' }, 'invalid_field', 'password'],
      [{ token: wrong, username: 'ann', password: 'aaaaaaaaaaaaaa' }, 'invalid_field', 'password'],
      [{ token: wrong, username: 'ann', password: 'this is of Ann' }, 'invalid_field', 'password'],
      [{ token: wrong, username: 'ann', password: 'PASSWORD1234' }, 'invalid_field', 'password'],
      [{ token: wrong, username: 'ann', password: 'é'.repeat(257) }, 'invalid_field', 'password'],
    ]
    for (const [body, code, param] of refused)
      expect(await ask('POST /api/auth/setup', body), JSON.stringify(body)).to.include({ status: 422, code, param })
    expect(await setUp({ token: wrong })).to.include({ status: 401, code: 'invalid_setup_token', param: null })
    expect(await setUp({ token: `${token}=` })).to.include({ status: 401, code: 'invalid_setup_token' })
    expect((await setUp()).status).to.equal(201)
  })

  it('makes exactly one admin, however many race', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, (_, index) => setUp({ username: `admin-${index}` })))
    const told = (status: number) => all.filter((answer) => answer.status === status)
    expect([told(201).length, told(409).length]).to.deep.equal([1, 49])
    for (const { code } of told(409)) expect(code).to.equal('setup_done')
  })

  it('makes exactly one admin, however many race in two processes', async () => {
    const shared = await usualDatabase()
    const environment = { SLUICE_SECRET: 'the secret of both processes' }
    const folder = await startFolder(shared ? { database: { url: shared.url } } : {}, {}, environment)
    const database = shared?.url ?? `sqlite:${folder.folder}/data/sluice.db`
    const other = await startGateway({ database, environment })
    try {
      const attempts = Array.from({ length: 20 }, (_, index) => {
        const { engine, url } = index % 2 === 0 ? folder : other
        const given = viewOf(engine, 'members').setupToken()
        return askAt(url)('POST /api/auth/setup', { token: given, username: `admin-${index}`, password })
      })
      const codes = (await Promise.all(attempts)).map(({ status, code }: AdminAnswer) => code ?? status)
      expect(codes.filter((code) => code === 201)).to.have.length(1)
      expect(codes.filter((code) => code === 'setup_done')).to.have.length(19)
    } finally {
      await other.close()
      await folder.close()
      await shared?.stop()
    }
  })

  it('counts wrong tokens like wrong passwords', async () => {
    mock.timers.enable({ apis: ['Date'], now: Date.now() })
    try {
      const statuses: number[] = []
      for (let tries = 0; tries < 6; tries++) statuses.push((await setUp({ token: 'wrong' })).status)
      expect(statuses).to.deep.equal([401, 401, 401, 401, 401, 429])
      expect(await setUp()).to.include({ status: 429, code: 'too_many_attempts' })
      mock.timers.tick(1_000)
      expect((await setUp()).status).to.equal(201)
    } finally {
      mock.timers.reset()
    }
  })
})

describe('a gateway with an admin', () => {
  let gateway: AdminGateway
  before(async () => (gateway = await startAdmin()))
  after(() => gateway.close())

  it('has a viewer, a key and nobody beside it', async () => {
    const { asAdmin, asViewer, asKey, asNobody } = gateway
    const told = await Promise.all([asAdmin, asViewer, asKey, asNobody].map((ask) => ask('POST /api/auth/renew')))
    expect(told.map(({ status, code }) => code ?? status)).to.deep.equal([200, 200, 'invalid_token', 'invalid_token'])
  })

  it('knows the password of everybody it adds', async () => {
    const { username } = await gateway.addMember()
    expect((await gateway.asNobody('POST /api/auth/login', { username, password })).status).to.equal(200)
  })
})
