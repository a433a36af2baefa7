import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'

describe('admin/headers', () => {
  let gateway: AdminGateway
  before(async () => (gateway = await startAdmin()))
  after(() => gateway.close())

  it('are those of every answer, of errors too', async () => {
    const { asAdmin, asNobody } = gateway
    const answers = await Promise.all([
      asNobody('GET /api/auth/setup-status'),
      asNobody('GET /api/health'),
      asNobody('POST /api/auth/renew'),
      asNobody('POST /api/auth/login', '{'),
      asNobody('POST /api/auth/login', {}),
      asNobody('POST /api/auth/logout'),
      asNobody('GET /api/auth/login'),
      asNobody('GET /api/nothing'),
      asNobody('GET /api'),
      asNobody('GET //api'),
      asNobody('GET //api/me'),
      asAdmin('POST /api/auth/renew'),
    ])
    expect(answers.map(({ status }) => status)).to.deep.equal([
      200, 200, 401, 400, 422, 204, 405, 404, 404, 404, 404, 200,
    ])
    for (const { status, headers } of answers) {
      expect(headers.get('cache-control'), String(status)).to.equal('no-store')
      expect(headers.get('x-content-type-options'), String(status)).to.equal('nosniff')
      expect(headers.get('x-request-id'), String(status)).to.match(/^[\da-f-]{36}$/)
      const type = status === 204 ? null : 'application/json; charset=utf-8'
      expect(headers.get('content-type'), String(status)).to.equal(type)
    }
  })

  it('say which methods a route has, and how to authenticate', async () => {
    const wrong = await gateway.asNobody('GET /api/auth/login')
    expect([wrong.code, wrong.headers.get('allow')]).to.deep.equal(['method_not_allowed', 'POST'])
    const unknown = await gateway.asKey('POST /api/auth/renew')
    expect([unknown.code, unknown.headers.get('www-authenticate')]).to.deep.equal(['invalid_token', 'Bearer'])
  })

  it('leave the answers for clients of models as they are', async () => {
    const models = await gateway.asKey('GET /v1/models')
    expect(models.headers.get('content-type')).to.equal('application/json')
    expect(models.headers.get('cache-control')).to.equal(null)
    const session = await gateway.asAdmin('GET /v1/models')
    expect([session.status, session.code]).to.deep.equal([401, 'invalid_api_key'])
  })
})

describe('admin/headers for pages of other origins', () => {
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin({
      server_config: { cors: { admin_origins: ['https://console.example'], origins: ['https://app.example'] } },
    })
  })
  after(() => gateway.close())

  const preflight = (path: string, origin: string) =>
    gateway.asNobody(`OPTIONS ${path}`, undefined, {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type',
    })

  it('answer preflights without reaching a route', async () => {
    for (const path of ['/api/auth/login', '/api/auth/renew', '/api/nothing']) {
      const { status, headers } = await preflight(path, 'https://console.example')
      expect(status).to.equal(204)
      expect(headers.get('access-control-allow-origin')).to.equal('https://console.example')
      expect(headers.get('access-control-allow-headers')).to.equal('authorization, content-type')
      expect(headers.get('vary')).to.include('origin')
      const foreign = await preflight(path, 'https://elsewhere.example')
      expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).to.deep.equal([204, null])
    }
  })

  it('are sent with errors as well, and a page from elsewhere is served without them', async () => {
    const headersFor = async (origin: string) => {
      const { status, headers } = await gateway.asNobody('POST /api/auth/renew', undefined, { origin })
      expect([status, headers.get('cache-control')]).to.deep.equal([401, 'no-store'])
      return headers.get('access-control-allow-origin')
    }
    expect(await headersFor('https://console.example')).to.equal('https://console.example')
    expect(await headersFor('https://elsewhere.example')).to.equal(null)
  })

  it('let pages of clients read the headers of every protocol', async () => {
    const response = await fetch(`${gateway.url}/v1/models`, {
      headers: { origin: 'https://app.example', authorization: `Bearer ${gateway.key}` },
    })
    await response.text()
    const exposed = response.headers.get('access-control-expose-headers')?.split(', ') ?? []
    expect(exposed).to.include.members(['request-id', 'x-ratelimit-remaining-tokens'])
    expect(exposed.filter((name) => name.startsWith('anthropic-ratelimit-'))).to.have.length(6)
  })

  it('are none for OPTIONS that is no preflight: it is a method that no route has', async () => {
    const { status, code, headers } = await gateway.asNobody('OPTIONS /api/auth/login')
    expect([status, code, headers.get('allow')]).to.deep.equal([405, 'method_not_allowed', 'POST'])
  })
})
