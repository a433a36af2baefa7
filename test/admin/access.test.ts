import { request } from 'node:http'
import { expect } from 'chai'
import { startAdmin, viewOf } from '../support/admin.ts'
import type { AdminGateway, SignedIn } from '../support/admin.ts'
import { shippedRoutes } from '../support/routes.ts'
import type { ShippedRoute } from '../support/routes.ts'

/** An answer: its status and, for an error, its code; messages has a type in its place, MCP a number. */
interface Told {
  readonly status: number
  readonly code?: string | number | undefined
  readonly challenge: string | undefined
  /** Only where it is the page of the console, which shows nothing to whom is not signed in. */
  readonly page?: true
}

/** Asks for a path exactly as it is written, which `fetch` would tidy up. Leaves a stream after its headers. */
function ask(url: string, method: string, path: string, token?: string): Promise<Told> {
  const { hostname: host, port } = new URL(url)
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, method, path, headers, agent: false }, (response) => {
      const { statusCode: status = 0, headers: given } = response
      const challenge = given['www-authenticate']
      if (status < 400) {
        resolve({ status, challenge, ...(given['content-type']?.startsWith('text/html') && { page: true }) })
        asked.destroy()
        return
      }
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => {
        const { error } = JSON.parse(text) as { readonly error?: Pick<Told, 'code'> & { readonly type?: string } }
        resolve({ status, code: error?.code ?? error?.type, challenge })
      })
    })
    asked.on('error', reject)
    asked.end()
  })
}

const filled = (path: string) => path.replace(/(?<=\/):\w+/g, 'no-such').replace('*', 'no/such')

/** Whether a path is one of a route: case-sensitive, with one trailing slash or without. */
function fits(route: ShippedRoute, path: string): boolean {
  const pattern = route.path
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : RegExp.escape(part).replace('\\*', '.+')))
    .join('/')
  return new RegExp(`^${pattern}/?$`).test(path)
}

/** Other spellings of a path, which are no routes unless a parameter takes them. */
function spellings(path: string): readonly string[] {
  const last = path.lastIndexOf('/')
  const [head, tail] = [path.slice(0, last), path.slice(last + 1)]
  return [
    `${path}//`,
    path.replace('/', '//'),
    `${head}//${tail}`,
    `${head}/x/../${tail}`,
    `${head}/./${tail}`,
    `${path}/..`,
    `${head}/%2e%2e${path}`,
    `${head}/%2e/${tail}`,
    `${head}%2f${tail}`,
    `${path};x`,
    `${path}%00`,
    `${path}%20`,
    path.toUpperCase(),
    `${head}/${tail.charAt(0).toUpperCase()}${tail.slice(1)}`,
    `${path}.json`,
    `${path}/x`,
  ].filter((spelling) => spelling !== path && spelling.startsWith('/'))
}

describe('admin/access', () => {
  let gateway: AdminGateway
  let pending: SignedIn
  let revoked: string
  let routes: readonly ShippedRoute[]
  before(async () => {
    gateway = await startAdmin()
    routes = (await shippedRoutes()).filter(({ method }) => method !== 'WS')
    pending = await gateway.addMember({ role: 'admin', must_change_password: 1 })
    const gone = await gateway.addMember({ role: 'admin' })
    await gone.ask('POST /api/auth/logout')
    revoked = gone.token
  })
  after(() => gateway.close())

  /** A session of its own for each request: some of them end it. */
  const session = ({ id }: SignedIn) => viewOf(gateway.engine, 'member_sessions').issue({ id, sessionVersion: 1 }).token
  const each = async (look: (route: ShippedRoute, path: string, name: string) => Promise<void>) => {
    for (const route of routes) await look(route, filled(route.path), `${route.method} ${route.path}`)
  }
  const told = (method: string, path: string, token?: string) => ask(gateway.url, method, path, token)
  const isMembers = ({ shows }: ShippedRoute) => ['session', 'either', 'scraper'].includes(shows)
  const noKey: readonly unknown[] = ['invalid_api_key', 'authentication_error', -32_000, 401]
  const isNoKey = ({ status, code, challenge }: Told) =>
    status === 401 && challenge === 'Bearer' && noKey.includes(code)
  const noSession = { status: 401, code: 'invalid_token', challenge: 'Bearer' }

  it('is declared for every route by a word that this test knows', () => {
    const words = new Set(routes.map(({ shows }) => shows))
    expect(
      [...words].filter((word) => !['public', 'key', 'session', 'either', 'scraper'].includes(word)),
    ).to.deep.equal([])
    expect(routes.filter(isMembers)).to.have.length.above(3)
  })

  it('is denied to nobody and to sessions that have ended', () =>
    each(async (route, path, name) => {
      if (route.shows === 'public') return
      for (const token of [undefined, revoked, 'nonsense']) {
        const answer = await told(route.method, path, token)
        if (isMembers(route)) expect(answer, name).to.deep.equal(noSession)
        else expect(isNoKey(answer), name).to.equal(true)
      }
    }))

  it('is granted to keys on the routes of models alone', () =>
    each(async (route, path, name) => {
      const answer = await told(route.method, path, gateway.key)
      if (route.shows === 'session') expect(answer, name).to.deep.equal(noSession)
      else if (route.shows === 'scraper') expect(answer, name).to.include({ status: 403, code: 'forbidden' })
      else expect(answer.status, name).not.to.be.oneOf([401, 403])
    }))

  it('is granted to viewers where no role is asked for', () =>
    each(async (route, path, name) => {
      const answer = await told(route.method, path, session(gateway.viewer))
      if (route.shows === 'key') expect(isNoKey(answer), name).to.equal(true)
      else if (route.role === 'admin') expect(answer, name).to.include({ status: 403, code: 'forbidden' })
      else expect([answer.status === 401, answer.code === 'forbidden'], name).to.deep.equal([false, false])
    }))

  it('is granted to admins on every route of members', () =>
    each(async (route, path, name) => {
      const answer = await told(route.method, path, session(gateway.admin))
      if (route.shows === 'key') expect(isNoKey(answer), name).to.equal(true)
      else expect([answer.status === 401, answer.code === 'forbidden'], name).to.deep.equal([false, false])
    }))

  it('is denied to members who must change their password, but for what they need for that', () =>
    each(async (route, path, name) => {
      if (!isMembers(route)) return
      const answer = await told(route.method, path, session(pending))
      if (route.pending) expect([401, answer.code], name).not.to.include('password_change_required')
      else expect(answer, name).to.include({ status: 403, code: 'password_change_required' })
    }))

  it('is granted to such members on exactly the routes that they need', () => {
    const needed = ['GET /api/me', 'POST /api/me/password', 'POST /api/auth/renew']
    const named = ({ method, path }: ShippedRoute) => `${method} ${path}`
    const open = routes.filter((route) => isMembers(route) && route.pending).map(named)
    expect(open).to.have.members(routes.map(named).filter((name) => needed.includes(name)))
  })

  it('is the same with one trailing slash', () =>
    each(async ({ method, path }, plain, name) => {
      if (path.includes('*')) return
      for (const token of [undefined, gateway.key, session(gateway.viewer)]) {
        const [one, other] = [await told(method, plain, token), await told(method, `${plain}/`, token)]
        expect(other, name).to.deep.equal(one)
        // A session may have ended with the first request.
        if (plain.startsWith('/api/auth/')) return
      }
    }))

  it('is not opened by another spelling', () =>
    each(async (route, plain, name) => {
      if (!isMembers(route)) return
      for (const path of spellings(plain)) {
        const isRoute = routes.some((other) => other.path !== '/*' && fits(other, path))
        for (const token of [undefined, gateway.key]) {
          const { status, code, page } = await told(route.method, path, token)
          if (page) expect(path).to.match(/^\/(API\/|api%2f)/)
          else if (isRoute) expect(status, `${name} as ${path}`).to.be.oneOf([401, 404, 405])
          else expect([status, code], `${name} as ${path}`).to.deep.equal([404, 'not_found'])
        }
        if (route.role !== 'admin') continue
        const { status, page } = await told(route.method, path, session(gateway.viewer))
        if (!page) expect(status, `${name} as ${path}`).to.be.oneOf([401, 403, 404, 405])
      }
    }))

  it('does not depend on the method: another one is 405 with those that are served', () =>
    each(async ({ path }, plain, name) => {
      const methods = routes.filter((other) => fits(other, plain)).map(({ method }) => method)
      const unserved = ['PUT', 'DELETE', 'PATCH', 'POST', 'GET'].find((method) => !methods.includes(method))
      if (unserved === undefined || path.includes('*')) return
      expect((await told(unserved, plain)).status, name).to.equal(405)
    }))
})
