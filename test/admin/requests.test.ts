import { expect } from 'chai'
import { password, startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { shippedRoutes } from '../support/routes.ts'

/** Bodies of routes that need one: what they ask for is there, so that only the query is wrong. */
const bodies: Readonly<Record<string, object>> = {
  'POST /api/auth/login': { username: 'admin', password },
  'POST /api/api-keys': { name: 'new' },
  'POST /api/team/members': { username: 'new' },
  'POST /api/me/password': { current_password: password, new_password: `${password}, too` },
  'POST /api/me/username': { current_password: password, username: 'new' },
  'POST /api/routing/preview': { model: 'auto', prompt: 'Hello' },
  'POST /api/routing/replay': { settings: {}, since: '2026-01-01T00:00:00Z' },
  'POST /api/me/feedback': { request_id: 'unknown', signal: 'ok' },
  'PATCH /api/me/tracing': { enabled: true },
  'POST /api/logs/cleanup': { before: '2026-01-01T00:00:00Z' },
  'POST /api/logs/audit/verify': { checkpoints: [] },
  'POST /api/config/providers/:name/reveal-key': { password },
}

describe('admin/requests', () => {
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin()
    await gateway.asAdmin('PATCH /api/config/server/security', { self_service_keys: true })
  })
  after(() => gateway.close())

  it('refuse a parameter of the query that a route does not know, and do nothing then', async () => {
    const routes = (await shippedRoutes()).filter(({ path }) => path.startsWith('/api/'))
    for (const { method, path } of routes) {
      // A gateway that is set up says so first. Probes of health may ask as they like.
      if (path === '/api/auth/setup' || path.startsWith('/api/health')) continue
      const route = `${method} ${path}`
      const { status, code, param } = await gateway.asAdmin(
        `${route.replace(/:\w+/g, 'echo')}?strange=1`,
        bodies[route.replace('/api/me/api-keys', '/api/api-keys')] ?? (method === 'GET' ? undefined : {}),
      )
      expect({ route, status, code, param }).to.deep.equal({
        route,
        status: 422,
        code: 'unknown_field',
        param: 'strange',
      })
    }
    const { body } = await gateway.asAdmin('GET /api/api-keys?search=new')
    expect(body['data']).to.deep.equal([])
  })

  it('are told in words what is missing and what there is not', async () => {
    const { asAdmin, asNobody } = gateway
    const told = async (answer: ReturnType<typeof asAdmin>) => {
      const { error } = (await answer).body as { readonly error: { readonly message: string } }
      return error.message
    }
    await asAdmin('POST /api/api-keys', { name: 'taken' })
    expect([
      await told(asNobody('GET /api/me')),
      await told(asAdmin('POST /api/api-keys', { name: 'Taken' })),
      await told(asAdmin('GET /api/api-keys/nobody/usage')),
      await told(asAdmin('POST /api/config/circuit-breaker/nobody/reset')),
      await told(asAdmin('POST /api/api-keys', { name: 'half', rate_limit: { requests: 1.5 } })),
    ]).to.deep.equal([
      'No session token was sent. Send it as "authorization: Bearer <jwt>".',
      'An API key named "Taken" exists already.',
      'There is no API key "nobody".',
      'There is no provider "nobody".',
      'rate_limit.requests must be an integer or null.',
    ])
  })
})
