import { expect } from 'chai'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { exchange, rawClient, request, statuses } from './raw-client.ts'
import { json, startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const pipelines = `name: things
summary: Answers requests.
public: true
routes: [POST /things, GET /things, GET /things/:id]
stages: [stub]
finally: [stub-outcome]
`

/** Requests that two readers could understand differently, each as its lines. */
const ambiguous: Readonly<Record<string, string>> = {
  'length and chunks':
    'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'chunks and length':
    'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n',
  'two equal lengths': 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}',
  'two lengths': 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} ',
  'a list of lengths': 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 2, 2\r\n\r\n{}',
  'a signed length': 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: +2\r\n\r\n{}',
  'a negative length': 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: -2\r\n\r\n{}',
  'a length in hex': 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 0x2\r\n\r\n{}',
  'a length with a gap': 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 2 0\r\n\r\n{}',
  'a length beyond all': 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999999999999999999\r\n\r\n{}',
  'chunks not at the end': 'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n',
  'an unknown encoding': 'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n',
  'an encoding after a tab': 'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n',
  'two encodings':
    'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n',
  'line feeds alone': 'POST /things HTTP/1.1\nhost: a\ncontent-length: 2\n\n{}',
  'one line feed alone': 'GET /things HTTP/1.1\r\nhost: a\nx: y\r\n\r\n',
  'a carriage return alone': 'GET /things HTTP/1.1\r\nhost: a\rx: y\r\n\r\n',
  'a NUL in a value': 'GET /things HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n',
  'a NUL in a name': 'GET /things HTTP/1.1\r\nhost: a\r\nx\0: b\r\n\r\n',
  'a space before a colon': 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length : 2\r\n\r\n{}',
  'a name with a space': 'GET /things HTTP/1.1\r\nhost: a\r\nx y: z\r\n\r\n',
  'an empty name': 'GET /things HTTP/1.1\r\nhost: a\r\n: z\r\n\r\n',
  'a folded header': 'GET /things HTTP/1.1\r\nhost: a\r\nx: y\r\n z\r\n\r\n',
  'a header before all': 'GET /things HTTP/1.1\r\n host: a\r\n\r\n',
  'no host': 'GET /things HTTP/1.1\r\nx: y\r\n\r\n',
  'a chunk size in hex notation':
    'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n',
  'a signed chunk size': 'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n',
  'a chunk longer than its size':
    'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n',
  'a line feed in a chunk extension':
    'POST /things HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2;x\n{}\r\n0\r\n\r\n',
  'another protocol': 'GET /things HTTP/3.0\r\nhost: a\r\n\r\n',
  'no protocol': 'GET /things\r\nhost: a\r\n\r\n',
  'two hosts': 'GET /things HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n',
  'two equal hosts': 'GET /things HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n',
  'chunks in HTTP/1.0': 'POST /things HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'a whole address': 'GET http://other/things HTTP/1.1\r\nhost: a\r\n\r\n',
  'a whole address of this host': 'GET http://a/things HTTP/1.1\r\nhost: a\r\n\r\n',
  'a fragment': 'GET /things#x HTTP/1.1\r\nhost: a\r\n\r\n',
  'no path': 'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n',
  'two credentials': 'GET /things HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n',
  'two content types':
    'POST /things HTTP/1.1\r\nhost: a\r\ncontent-type: a/b\r\ncontent-type: c/d\r\ncontent-length: 2\r\n\r\n{}',
}

describe('the HTTP edge', () => {
  describe('with its own pipelines', () => {
    let gateway: StubGateway
    let asked = 0
    before(async () => (gateway = await startStub(pipelines)))
    after(() => gateway.close())
    beforeEach(() => {
      asked = 0
      gateway.answer(async ({ ingress }) => {
        const body = (await ingress.body(1000)).bytes.toString()
        asked++
        return json({ method: ingress.method, path: ingress.path, id: ingress.params['id'] ?? null, body })
      })
    })

    for (const [name, bytes] of Object.entries(ambiguous))
      it(`refuses ${name} (J1)`, async () => {
        const client = await rawClient(gateway)
        client.write(Buffer.from(bytes, 'latin1'))
        client.write('GET /things/smuggled HTTP/1.1\r\nhost: a\r\n\r\n')
        const text = await client.closed
        expect(statuses(text)).to.deep.equal([400])
        expect(text)
          .to.contain('"invalid_request"')
          .and.match(/connection: close/i)
        expect(asked).to.equal(0)
      })

    it('never lets Node be lenient', () => {
      expect(process.execArgv.join(' ')).not.to.contain('insecure-http-parser')
      expect(process.env['NODE_OPTIONS'] ?? '').not.to.contain('insecure-http-parser')
    })

    it('refuses methods and targets that it does not serve (J7)', async () => {
      const rows: [string, number][] = [
        [request('TRACE /things', ['connection: close']), 405],
        [request('PROPFIND /things', ['connection: close']), 405],
        [request('FOO /things'), 400],
        [request('CONNECT other:443'), 405],
        [request('CONNECT /things'), 405],
        [request(`GET /${'x'.repeat(1024 * 1024)}`), 414],
        [request('GET /things', [`x: ${'y'.repeat(32 * 1024)}`]), 431],
        [
          request(
            'GET /things',
            Array.from({ length: 2500 }, (_, index) => `x${index}: y`),
          ),
          431,
        ],
        [`${request('POST /things', ['transfer-encoding: chunked'])}2;${'x'.repeat(32 * 1024)}`, 413],
        [request('GET /things', ['expect: the-unexpected', 'connection: close']), 417],
        [request('GET /nowhere', ['connection: close']), 404],
      ]
      for (const [bytes, status] of rows)
        expect(statuses(await exchange(gateway, bytes)), bytes.slice(0, 40)).to.deep.equal([status])
      expect(asked).to.equal(0)
    })

    it('names the methods it serves', async () => {
      const response = await fetch(`${gateway.url}/things`, { method: 'DELETE' })
      expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'POST, HEAD, GET'])
    })

    it('does nothing for HEAD and OPTIONS (J8)', async () => {
      const head = await exchange(gateway, request('HEAD /things/7', ['connection: close']))
      expect(statuses(head)).to.deep.equal([200])
      expect(head)
        .to.match(/content-length: 57\r\n/)
        .and.match(/\r\n\r\n$/)
      expect(asked).to.equal(1)
      for (const method of ['OPTIONS', 'DELETE', 'PATCH']) {
        const text = await exchange(gateway, request(`${method} /things`, ['connection: close']))
        expect(statuses(text), method).to.deep.equal([405])
      }
      expect(asked).to.equal(1)
    })

    it('does not care what host was asked for (J6)', async () => {
      const hosts = [
        'other',
        'a@other',
        'other:99999',
        '[::1',
        '',
        'a b',
        'a,b',
        'a/../b',
        'a?b#c',
        'http://a',
        '../../etc',
        '\u00ff',
      ]
      for (const host of hosts) {
        const bytes = Buffer.from(
          `GET /things/7 HTTP/1.1\r\nhost: ${host}\r\nx-forwarded-host: evil\r\nforwarded: host=evil\r\nconnection: close\r\n\r\n`,
          'latin1',
        )
        const text = await exchange(gateway, bytes)
        expect(statuses(text), host).to.deep.equal([200])
        expect(text).to.contain('{"method":"GET","path":"/things/:id","id":"7","body":""}')
        expect(text).not.to.match(/other|evil/)
      }
    })

    it('echoes no header of the client, and splits no header of a stage (J2)', async () => {
      const echoed = await exchange(
        gateway,
        request('GET /things', ['x-request-id: mine', 'server-timing: x', 'connection: close']),
      )
      expect(echoed)
        .to.match(/x-request-id: [0-9a-f-]{36}\r\n/)
        .and.not.contain('mine')
      const evil = 'a\r\nset-cookie: b\r\n\r\n<html>\u0000\u2028é日'
      gateway.answer(() => ({ ...json({ evil }), headers: { 'x-echo': evil } }))
      const text = await exchange(gateway, request('GET /things', ['connection: close']))
      expect(statuses(text)).to.deep.equal([200])
      expect(text).to.contain('x-echo: a??set-cookie: b????<html>??\u00e9?\r\n')
      expect(text).not.to.match(/\nset-cookie/i)
    })

    it('prints paths of the client inside of JSON alone (J2)', async () => {
      const text = await exchange(gateway, request('GET /a%0d%0aset-cookie:b"<script>', ['connection: close']))
      expect(statuses(text)).to.deep.equal([404])
      expect(text).not.to.match(/\nset-cookie/)
      expect(text).to.match(/content-type: application\/json/)
    })

    it('ignores upgrades to anything but a WebSocket', async () => {
      const headers = ['connection: upgrade, http2-settings, close', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__']
      const text = await exchange(gateway, request('GET /things/7', headers))
      expect(statuses(text)).to.deep.equal([200])
    })

    it('takes an upgrade with a body for what it is', async () => {
      const headers = [
        'connection: upgrade',
        'upgrade: websocket',
        'sec-websocket-version: 13',
        'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
      ]
      for (const more of [['content-length: 5'], ['transfer-encoding: chunked']]) {
        const text = await exchange(gateway, request('GET /things', [...headers, ...more], '0\r\n\r\n'))
        expect(statuses(text)).to.deep.equal([400])
      }
    })
  })

  describe('with the pipelines that are shipped', () => {
    let gateway: RunningGateway
    before(async () => (gateway = await startGateway()))
    after(() => gateway.close())

    it('decides alike about every spelling of a path, or knows it not (J4)', async () => {
      const routes = [...gateway.engine.live.current.pipelines.values()].flatMap((pipeline) =>
        pipeline.routes
          .filter(({ method }) => method !== 'WS')
          .map((route) => ({ ...route, open: route.action ? 'public' in route.action.access : pipeline.public })),
      )
      expect(routes.length).to.be.greaterThan(20)
      const seen = new Map<number, number>()
      for (const { method, path, open } of routes) {
        const plain = path.replace(/(?<=\/):\w+/g, 'x')
        const ask = (target: string) =>
          exchange(gateway, request(`${method} ${target}`, ['connection: close'], method === 'GET' ? '' : '{}'))
        const [exact = 0] = statuses(await ask(plain))
        if (open) expect(exact, `${method} ${plain}`).not.to.equal(401)
        else expect(exact, `${method} ${plain}`).to.equal(401)
        for (const target of spellings(plain)) {
          const answer = await ask(target)
          const [status = 0] = statuses(answer)
          // What is no route is the console's, once it is built.
          if (method === 'GET' && status === 200 && answer.includes('<!doctype html>')) continue
          // Such a spelling may be a value for a parameter of another route, which has other methods.
          const elsewhere = path.startsWith('/api/') ? [405, 422] : /\/(responses|models)\b/.test(path) ? [405] : []
          expect([exact, 400, 404, ...elsewhere], `${method} ${target}`).to.include(status)
          seen.set(status, (seen.get(status) ?? 0) + 1)
        }
      }
      expect([...seen.keys()]).to.include.members([200, 400, 401, 404, 405])
    })
  })
})

/** Ways to write a path that a careless reader would take for the same. */
function spellings(path: string): string[] {
  const [, first = '', ...rest] = path.split('/')
  const encoded = `%${first.charCodeAt(0).toString(16)}`
  return [
    path.toUpperCase(),
    `/${first.charAt(0).toUpperCase()}${path.slice(2)}`,
    `/${path}`,
    path.replaceAll('/', '//'),
    `${path}/`,
    `${path}//`,
    `${path}/.`,
    `/.${path}`,
    `/x/..${path}`,
    `${path}/../${rest.at(-1) ?? first}`,
    `/%2e%2e${path}`,
    path.replace(/\/(?=[^/]*$)/, '%2f'),
    path.replace(/\/(?=[^/]*$)/, '%2F'),
    path.replace(/\/(?=[^/]*$)/, '\\'),
    `/${encoded}${path.slice(2)}`,
    `${path};x=y`,
    `/${first};x/${rest.join('/')}`,
    `${path}%00`,
    `${path}%`,
    `${path}%20`,
    `${path}.json`,
    `${path}?x=/../`,
    `${path}?`,
    `http://gateway${path}`,
    `http://other${path}`,
    `//other${path}`,
    `${path}#x`,
  ]
}
