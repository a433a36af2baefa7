import { expect } from 'chai'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { refusal } from './socket-client.ts'
import { startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const pipelines = `
endpoints:
  - { name: things, summary: Things., public: true, routes: [GET /things, POST /things], stages: [stub] }
  - { name: admin, summary: Admin., public: true, routes: [PATCH /api/things], stages: [stub] }
  - { name: talk, summary: Talk., routes: [WS /talk, WS /api/talk], stages: [auth, stub] }
`
const app = 'https://app.example'
const desk = 'https://console.example'

describe('pages of other sites', function () {
  this.timeout(300_000)
  let gateway: StubGateway
  const start = async (cors: object) => (gateway = await startStub(pipelines, { server_config: { cors } }))
  afterEach(() => gateway.close())

  const ask = async (path: string, headers: Record<string, string>, method = 'GET') => {
    const response = await fetch(gateway.url + path, { method, headers })
    await response.bytes()
    return response
  }
  /** What is said of other sites. */
  const said = ({ headers }: Response) =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))
  const preflight = (path: string, origin: string, wanted: string, method = 'POST') =>
    ask(path, { origin, 'access-control-request-method': method, 'access-control-request-headers': wanted }, 'OPTIONS')

  it('get the answers and the errors of a gateway that lets them in, and may read its headers', async () => {
    await start({ origins: [app], expose_headers: ['x-own'] })
    const exposed = (response: Response) => response.headers.get('access-control-expose-headers')?.split(', ')
    for (const [path, status] of [
      ['/things', 200],
      ['/nothing', 404],
      ['/v1/models', 404],
    ] as const) {
      const response = await ask(path, { origin: app })
      expect(response.status).to.equal(status)
      expect(said(response)).to.include({ vary: 'origin', 'access-control-allow-origin': app })
      expect(said(response)).to.not.have.property('access-control-allow-credentials')
      expect(exposed(response)).to.include.members(['x-request-id', 'retry-after', 'x-gateway-model', 'x-own'])
    }
    const wrong = await ask('/things', { origin: app }, 'DELETE')
    expect([wrong.status, said(wrong)['access-control-allow-origin']]).to.deep.equal([405, app])
  })

  it('that are let in nowhere get an answer that says nothing of it', async () => {
    await start({ origins: [app], admin_origins: [desk] })
    for (const origin of ['https://evil.example', 'https://app.example.evil', 'http://app.example', 'null', desk])
      expect(said(await ask('/things', { origin })), origin).to.deep.equal({ vary: 'origin' })
    expect(said(await ask('/things', {}))).to.deep.equal({ vary: 'origin' })
    const admin = await ask('/api/things', { origin: app }, 'PATCH')
    expect([admin.status, said(admin)]).to.deep.equal([200, { vary: 'origin' }])
    expect(said(await ask('/api/things', { origin: desk }, 'PATCH'))).to.include({
      'access-control-allow-origin': desk,
    })
  })

  it('ask before, and no stage hears of it', async () => {
    await start({ origins: [app], admin_origins: [desk], allow_headers: ['X-Own'], max_age: '1m' })
    let heard = 0
    gateway.answer(() => {
      heard++
      throw new Error('nobody asks')
    })
    const wanted = 'authorization, content-type, x-own, x-strange'
    const allowed = await preflight('/things', app, wanted)
    expect(allowed.status).to.equal(204)
    expect(said(allowed)).to.deep.equal({
      vary: 'origin, access-control-request-method, access-control-request-headers',
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'authorization, content-type, x-own',
      'access-control-max-age': '60',
    })
    for (const refused of [await preflight('/things', desk, wanted), await preflight('/api/things', app, wanted)]) {
      expect(refused.status).to.equal(204)
      expect(Object.keys(said(refused))).to.deep.equal(['vary'])
    }
    expect(said(await preflight('/api/things', desk, wanted, 'PATCH'))).to.include({
      'access-control-allow-origin': desk,
    })
    expect((await ask('/things', { origin: app }, 'OPTIONS')).status).to.equal(405)
    expect(heard).to.equal(0)
  })

  it('are all let in by "*", or with credentials by their names', async () => {
    await start({ origins: ['*'] })
    expect(said(await ask('/things', { origin: 'https://any.example' }))).to.include({
      'access-control-allow-origin': '*',
    })
    await gateway.close()
    await start({ origins: [app], credentials: true })
    const yes = { 'access-control-allow-origin': app, 'access-control-allow-credentials': 'true' }
    expect(said(await ask('/things', { origin: app }))).to.include(yes)
    expect(said(await preflight('/things', app, ''))).to.include(yes)
  })

  it('open sockets where they may ask', async () => {
    await start({ origins: [app] })
    const status = async (path: string, origin: string) =>
      (await refusal(gateway, path, { headers: { origin } }).catch(() => ({ status: 101 }))).status
    expect(await status('/talk', desk)).to.equal(403)
    expect(await status('/api/talk', app)).to.equal(403)
  })

  it('hear nothing while nobody was let in', async () => {
    await start({})
    expect(said(await ask('/things', { origin: app }))).to.deep.equal({})
    expect(Object.keys(said(await preflight('/things', app, 'authorization')))).to.deep.equal(['vary'])
  })
})

describe('pages of other sites, with the shipped endpoints', function () {
  this.timeout(300_000)
  let gateway: RunningGateway
  afterEach(() => gateway.close())

  it('send what the official clients send', async () => {
    gateway = await startGateway({ server_config: { cors: { origins: [app] } } })
    const wanted = [
      'anthropic-beta',
      'anthropic-dangerous-direct-browser-access',
      'anthropic-version',
      'authorization',
      'content-type',
      'openai-organization',
      'x-api-key',
      'x-stainless-lang',
      'x-stainless-retry-count',
    ].join(', ')
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'OPTIONS',
      headers: { origin: app, 'access-control-request-method': 'POST', 'access-control-request-headers': wanted },
    })
    expect(response.headers.get('access-control-allow-headers')).to.equal(wanted)
    const refused = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers: { origin: app } })
    await refused.bytes()
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).to.deep.equal([401, app])
    expect(refused.headers.get('access-control-expose-headers')?.split(', ')).to.include('request-id')
  })
})
