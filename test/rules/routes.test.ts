import { expect } from 'chai'
import { shippedRoutes } from '../support/routes.ts'

/**
 * Every shipped route that asks for no session. Those of clients' base addresses are below `/v1`, `/v1/v1` and `/` alike.
 */
const access: Readonly<Record<string, readonly string[]>> = {
  public: [
    'GET /*',
    'GET /api/auth/setup-status',
    'GET /api/health',
    'GET /api/health/live',
    'GET /api/health/ready',
    'GET /assets/*',
    'POST /api/auth/login',
    'POST /api/auth/logout',
    'POST /api/auth/setup',
  ],
  key: [
    'DELETE /responses/:response_id',
    'DELETE /servers/:server_name/mcp',
    'GET /models',
    'GET /models/*',
    'GET /models/:model',
    'GET /protocols',
    'GET /responses/:response_id',
    'GET /responses/:response_id/input_items',
    'GET /servers/:server_name/mcp',
    'GET /v1beta/models',
    'GET /v1beta/models/*',
    'POST /audio/speech',
    'POST /audio/transcriptions',
    'POST /audio/translations',
    'POST /chat/completions',
    'POST /decisions',
    'POST /embeddings',
    'POST /feedback',
    'POST /images/edits',
    'POST /images/generations',
    'POST /mapeval',
    'POST /messages',
    'POST /messages/count_tokens',
    'POST /models/*:batchEmbedContents',
    'POST /models/*:countTokens',
    'POST /models/*:embedContent',
    'POST /models/*:generateContent',
    'POST /models/*:streamGenerateContent',
    'POST /responses',
    'POST /responses/:response_id/cancel',
    'POST /responses/compact',
    'POST /responses/input_tokens',
    'POST /servers/:server_name/mcp',
    'POST /v1beta/models/*:batchEmbedContents',
    'POST /v1beta/models/*:countTokens',
    'POST /v1beta/models/*:embedContent',
    'POST /v1beta/models/*:generateContent',
    'POST /v1beta/models/*:streamGenerateContent',
    'WS /realtime',
    'WS /responses',
  ],
  scraper: ['GET /metrics'],
}

/** What a viewer may ask: it shows nothing but what is the viewer's own, and the models. */
const viewers = [
  /^[A-Z]+ \/api\/auth\/renew$/,
  /^[A-Z]+ \/api\/me(\/|$)/,
  /^GET \/api\/catalog\/models$/,
  /^GET \/api\/openapi\.json$/,
  /^GET \/api\/pages$/,
  /^GET \/api\/api-keys(\/spend-summary|\/:id|\/:id\/usage)?$/,
  /^GET \/api\/logs(\/stats|\/usage|\/series|\/tail|\/:id)?$/,
]

/** Every shipped route by what the client has to show, and the role it has at least. */
async function routesByAccess(): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, Set<string>> = {}
  for (const { method, path, shows, role } of await shippedRoutes())
    (found[role === undefined ? shows : `${shows} ${role}`] ??= new Set()).add(
      `${method} ${path.replace(/^(\/v1){1,2}(?=\/)/, '')}`,
    )
  return Object.fromEntries(Object.entries(found).map(([who, routes]) => [who, [...routes].sort()]))
}

describe('routes', () => {
  it('are asked by those who may', async () => {
    const {
      session: any = [],
      'session viewer': viewer = [],
      'session admin': admin = [],
      ...others
    } = await routesByAccess()
    expect(others).to.deep.equal(access)
    expect([...any, ...viewer].filter((route) => !viewers.some((pattern) => pattern.test(route)))).to.deep.equal([])
    expect([...any, ...viewer, ...admin].filter((route) => !/^[A-Z]+ \/api\//.test(route))).to.deep.equal([])
  })
})
