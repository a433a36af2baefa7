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
      asAdmin('POST /api/auth/renew'),
    ])
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 401, 400, 422, 204, 405, 404, 200])
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
