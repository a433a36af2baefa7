import { expect } from 'chai'
import { sql } from 'kysely'
import type { Json, JsonObject } from '../../engine/index.ts'
import { startAdmin, viewOf } from '../support/admin.ts'
import type { AdminGateway, SignedIn } from '../support/admin.ts'
import { shippedRoutes } from '../support/routes.ts'
import type { ShippedRoute } from '../support/routes.ts'
import { tablesOf } from '../support/tables.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

/** Nothing about these texts looks like a secret, so that no pattern hides them. */
const canaries: Record<string, string> = {
  'master secret': 'Ms0lO7iA3uHg9DvR4qNcTeW2',
  'key of a declared provider': 'Pk9sJ4bN1gVc6XtQ3rEaB8mU',
  'header of a declared provider': 'Hn7uI2oF5wBz8KyM0jGdC4xR',
  'key of a pool': 'Po3tY6hG1kLx9NvB5sDqW7eA',
  'query of an address': 'Ad5rT8yU2iPz4MnK7jHgF1cV',
  'key of a stored provider': 'Sk2wE5yM8tJk3SbZ0fPxL6uO',
  'header of a stored provider': 'Sh8dC1vX4zQa7RmT9nUkI3gB',
  'declared API key': 'Ck5Tq0vR8mZx2LpW7dYhG4nS',
}
/** What clients send in fields for secrets, rightly or wrongly. */
const typed = {
  password: 'Tp1aS4dF7gHj0KlZ3xCvB6nM',
  token: 'Tt9qW2eR5tYu8IoP1aSdF4gH',
  key: 'Tk6zX9cV2bNm5QwE8rTyU1iO',
  header: 'Th3pL6kJ9hGf2DsA5zXcV8bN',
} as const
for (const [name, text] of Object.entries(typed)) canaries[`${name} of a request`] = text

const stranger = 'no-such-thing'

/** Routes that answer with rows as they are read. */
const streams = new Set(['/api/routing/export/dataset'])

/** Bodies with a secret in every field that may have one, valid and invalid. */
const bodies: readonly (JsonObject | string)[] = [
  { password: typed.password, token: typed.token, username: 'admin' },
  { username: stranger, password: typed.password },
  { token: typed.token, username: 'Somebody', password: [typed.password] },
  { current_password: typed.password, new_password: `${typed.password} and more`, username: 'somebody' },
  { current_password: { deep: typed.password }, new_password: typed.password.slice(0, 11) },
  { name: 'x', type: 'compatible', config: { base_url: 7, api_key: typed.key, headers: { 'x-team': typed.header } } },
  { name: 'x', type: 'compatible', config: { api_key: [typed.key], headers: [typed.header], api_keys: typed.key } },
  { api_key: typed.key, headers: { 'x-team': typed.header }, api_keys: [typed.key], key: typed.key },
  { config: { api_key: { value: typed.key } }, settings: { token: typed.token } },
  { name: 'y', type: 'none', config: { base_url: `http://user:${typed.password}@127.0.0.1:1`, api_key: typed.key } },
  `{"password": "${typed.password}", "api_key": ${typed.key}}`,
  `{"password": "${typed.password}", "password": "${typed.key}"}`,
  `"${typed.key}"`,
]

describe('secrets', function () {
  this.timeout(900_000)
  let upstream: ScriptedUpstream
  let gateway: AdminGateway
  let routes: readonly ShippedRoute[]
  /** Everything that clients were answered, and where. */
  const answers: { readonly at: string; readonly status: number; readonly text: string }[] = []

  before(async () => {
    upstream = await scriptedUpstream()
    // An upstream that quotes the credentials it was sent in an error.
    upstream.answer(({ headers }) => {
      const told = Object.values(headers).join(' ')
      return {
        status: 401,
        headers: { 'x-request-id': told },
        body: { error: { message: told, code: told, type: told } },
      }
    })
    gateway = await startAdmin({
      environment: { SLUICE_SECRET: canaries['master secret'] as string },
      server_config: { logging: { capture: 'all', level: 'debug' } },
      providers: [
        { name: 'echo', type: 'echo' },
        {
          name: 'declared',
          type: 'compatible',
          base_url: upstream.url,
          api_key: canaries['key of a declared provider'],
          headers: { 'x-team': canaries['header of a declared provider'] },
        },
        {
          name: 'pooled',
          type: 'compatible',
          base_url: upstream.url,
          api_keys: [canaries['key of a pool'], 'another-key-of-it'],
        },
        {
          name: 'addressed',
          type: 'compatible',
          base_url: `${upstream.url}/v1?code=${canaries['query of an address']}`,
        },
      ],
      models: ['echo', 'declared', 'pooled', 'addressed'].map((name) => ({ name, provider: name })),
      api_keys: [{ name: 'declared', key: canaries['declared API key'] }],
    })
    canaries['setup token'] = viewOf(gateway.engine, 'members').setupToken()
    const provider = {
      name: 'stored',
      type: 'compatible',
      config: {
        base_url: upstream.url,
        api_key: canaries['key of a stored provider'],
        headers: { 'x-team': canaries['header of a stored provider'] },
      },
      allow_private: true,
    }
    const made = await gateway.asAdmin('POST /api/config/providers', provider)
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    answers.push({ at: 'POST /api/config/providers', status: 201, text: JSON.stringify(made.body) })
    for (const body of [{ name: 'stored', provider: 'stored' }])
      expect((await gateway.asAdmin('POST /api/config/models', body)).status).to.equal(201)
    const key = await gateway.asAdmin('POST /api/api-keys', { name: 'stored' })
    const member = await gateway.asAdmin('POST /api/team/members', { username: 'somebody' })
    canaries['stored API key'] = key.body['key'] as string
    canaries['temporary password'] = member.body['temporary_password'] as string
    ids = { 'api-keys': key.body['id'] as string, members: member.body['id'] as string, me: key.body['id'] as string }
    for (const model of ['declared', 'pooled', 'addressed', 'stored'])
      await gateway
        .post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hello' }] })
        .then((one) => one.text())
    routes = (await shippedRoutes()).filter(({ path, method }) => path.startsWith('/api/') && method !== 'WS')
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  let ids: Readonly<Record<string, string>> = {}
  /** The paths of a route: to what there is, and to what there is not. */
  const paths = ({ path }: ShippedRoute): readonly string[] => {
    if (!path.includes(':')) return [path]
    const known = path.includes('/config/')
      ? ['stored', 'declared', 'security']
      : [ids[path.split('/')[2] ?? ''] ?? ids['members'] ?? '']
    return [...known, stranger].map((name) => path.replace(/:\w+/g, name))
  }

  let sessions = 0
  /** A session of its own for each request: some of them end it. */
  const session = ({ id }: SignedIn): string => {
    const { store } = viewOf(gateway.engine, 'members')
    const { sessionVersion = 1 } = store.find(id) ?? {}
    const { token } = viewOf(gateway.engine, 'member_sessions').issue({ id, sessionVersion })
    sessions += 1
    // The head of every token is the same.
    if (sessions % 50 === 1) canaries[`session ${sessions}`] = token.slice(token.lastIndexOf('.') + 1)
    return token
  }
  const ask = async (
    method: string,
    path: string,
    who: SignedIn | undefined,
    body?: Json,
    type = 'application/json',
  ) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(gateway.url + path, {
      method,
      headers: {
        // A connection whose last body was not read may just be closing.
        connection: 'close',
        ...(who ? { authorization: `Bearer ${session(who)}` } : {}),
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: sent }),
      signal: AbortSignal.timeout(60_000),
    }).catch((error: Error) => {
      // A stream that fails is cut.
      if (error.message !== 'fetch failed' || !streams.has(path)) throw error
    })
    if (response === undefined) return
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (isStream) await response.body?.cancel()
    const text = `${JSON.stringify([...response.headers])}\n${isStream ? '' : await response.text()}`
    answers.push({ at: `${method} ${path}`, status: response.status, text })
  }

  const askAll = async (clients: readonly (SignedIn | undefined)[]) => {
    // What deletes comes last.
    const inOrder = routes.toSorted(
      (left, right) => Number(left.method === 'DELETE') - Number(right.method === 'DELETE'),
    )
    for (const route of inOrder)
      for (const path of paths(route)) {
        for (const who of clients) {
          if (route.method === 'GET' || route.method === 'DELETE') {
            await ask(route.method, `${path}?token=${typed.token}`, who)
            await ask(route.method, path, who)
          } else if (who === gateway.admin || route.shows === 'public')
            for (const body of bodies) await ask(route.method, path, who, body)
          else await ask(route.method, path, who, bodies[0])
        }
        if (route.method !== 'GET') await ask(route.method, path, gateway.admin, typed.key, 'text/plain')
      }
  }

  /** Any twelve characters of a secret betray it. */
  const betrayed = (text: string) =>
    Object.entries(canaries).flatMap(([name, secret]) => {
      for (let at = 0; at + 12 <= secret.length; at++) if (text.includes(secret.slice(at, at + 12))) return [name]
      return []
    })

  const everyRow = async () => {
    const { database } = gateway.engine
    const tables = await database.query.introspection.getTables()
    const all = tables.map(async ({ name }) => {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(tablesOf(database))
      return { name, text: JSON.stringify(rows) }
    })
    return Promise.all(all)
  }

  it('never appear in an answer of the admin API, whatever is asked, by whom and how', async () => {
    await askAll([undefined, gateway.viewer, gateway.admin])
    const shown = answers.filter(({ text }) => betrayed(text).length > 0)
    expect(shown.map(({ at, text }) => ({ at, text, betrayed: betrayed(text) }))).to.deep.equal([])
    const asked = new Set(answers.map(({ at }) => at))
    expect(asked.size).to.be.at.least(200)
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses]).to.include.members([200, 400, 401, 403, 404, 409, 415, 422])
  })

  it('never appear when a table is away', async () => {
    const before = answers.length
    for (const table of ['audit', 'api_keys', 'requests']) {
      await sql`alter table ${sql.table(table)} rename to away`.execute(gateway.engine.database.query)
      try {
        await askAll([gateway.admin])
      } finally {
        await sql`alter table away rename to ${sql.table(table)}`.execute(gateway.engine.database.query)
      }
    }
    const later = answers.slice(before)
    const shown = later.filter(({ text }) => betrayed(text).length > 0)
    expect(shown.map(({ at, text }) => ({ at, betrayed: betrayed(text), text }))).to.deep.equal([])
    expect(later.map(({ status }) => status)).to.include(503)
  })

  it('never appear in the process log', () => {
    expect(gateway.lines.length).to.be.above(10)
    expect(gateway.lines.filter((line) => betrayed(line).length > 0)).to.deep.equal([])
  })

  it('never appear in a row of the database', async () => {
    await gateway.engine.flush()
    const rows = await everyRow()
    expect(rows.map(({ name }) => name)).to.include.members(['audit', 'requests', 'records', 'members'])
    expect(
      rows
        .filter(({ text }) => betrayed(text).length > 0)
        .map(({ name, text }) => ({ name, betrayed: betrayed(text) })),
    ).to.deep.equal([])
  })
})
