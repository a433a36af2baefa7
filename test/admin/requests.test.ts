import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
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
      await told(asAdmin('POST /api/api-keys', { name: 'empty', rate_limit: {} })),
      await told(asAdmin('PATCH /api/config/server/rate_limits', { server: { period: '1h' } })),
      await told(asAdmin('POST /api/routing/preview', { model: 'auto' })),
    ]).to.deep.equal([
      'No session token was sent. Send it as "authorization: Bearer <jwt>".',
      'An API key named "Taken" exists already.',
      'There is no API key "nobody".',
      'There is no provider "nobody".',
      'rate_limit.requests must be an integer or null.',
      'rate_limit must have at least one of "requests", "tokens" and "concurrency".',
      'server: must have at least one of "requests", "tokens" and "concurrency"',
      'The body must have "request", or "model" and "prompt".',
    ])
  })

  it('are told once what is wrong with a name within an object', async () => {
    const { status, body } = await gateway.asAdmin('POST /api/api-keys', { name: 'tagged', tags: { 'A B': 'x' } })
    expect(status).to.equal(422)
    expect(body['errors']).to.have.length(1)
  })

  it('carry a list of findings with 422 alone', async () => {
    await gateway.asAdmin('POST /api/config/models', { name: 'first', provider: 'echo', aliases: ['other'] })
    const taken = await gateway.asAdmin('POST /api/config/models', { name: 'x', provider: 'echo', aliases: ['other'] })
    expect([taken.status, taken.code, taken.param]).to.deep.equal([409, 'name_taken', 'aliases[0]'])
    expect(Object.keys(taken.body)).to.deep.equal(['error'])
    expect(Object.keys(taken.body['error'] as object)).to.deep.equal(['message', 'type', 'param', 'code'])
  })

  it('by GET and DELETE have no body: one that is sent is not read', async () => {
    const body = '{"not": "json'
    const send = async (method: string, path: string) => {
      const headers = { authorization: `Bearer ${gateway.admin.token}`, 'content-length': String(body.length) }
      const sent = request(gateway.url + path, { method, headers }).end(body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode
    }
    const { body: made } = await gateway.asAdmin('POST /api/api-keys', { name: 'short-lived' })
    const path = `/api/api-keys/${made['id'] as string}`
    expect(await send('GET', path)).to.equal(200)
    expect(await send('DELETE', path)).to.equal(204)
    expect(await send('GET', path)).to.equal(404)
  })
})
