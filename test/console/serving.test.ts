import { readFileSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { copyPipelines } from '../support/pipelines.ts'
import { built } from './support/built.ts'

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

interface Raw {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly bytes: Buffer
}

describe('console/serving', () => {
  let gateway: RunningGateway
  let script: string
  before(async () => {
    const names = readdirSync(join(built(), 'assets'))
    script = names.find((name) => /^app-.*\.js$/.test(name)) ?? ''
    gateway = await startGateway()
  })
  after(() => gateway.close())

  /** A request as it is written: `fetch` would tidy up the path and decode the answer. */
  const raw = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Raw>((resolve, reject) => {
      const { hostname: host, port } = new URL(gateway.url)
      const asked = request({ host, port, method, path, headers, agent: false }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
        )
      })
      asked.on('error', reject)
      asked.end()
    })

  it('answers the page at every path that is no route, with a policy and a nonce of its own', async () => {
    const nonces = new Set<string>()
    for (const path of ['/', '/logs', '/logs/0199c4d7', '/settings/security?x=1', '/no/such/place', '/models/a.b']) {
      const response = await fetch(gateway.url + path, { headers: browser })
      expect(response.status, path).to.equal(200)
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).to.equal('no-store')
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff')
      expect(response.headers.get('referrer-policy')).to.equal('no-referrer')
      expect(response.headers.get('cross-origin-opener-policy')).to.equal('same-origin')
      expect(response.headers.get('permissions-policy')).to.match(/camera=\(\).*microphone=\(self\)$/)
      const policy = response.headers.get('content-security-policy') ?? ''
      const [, nonce = ''] = /'nonce-([\w+/=]+)'/.exec(policy) ?? []
      expect(Buffer.from(nonce, 'base64')).to.have.length(16)
      expect(policy.replace(nonce, 'n')).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-n'; img-src 'self' data: blob:; media-src blob:; " +
          "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      )
      const html = await response.text()
      expect(html).to.include(`<meta property="csp-nonce" nonce="${nonce}">`).and.not.include('sluice-nonce')
      nonces.add(nonce)
    }
    expect(nonces).to.have.property('size', 6)
  })

  it('answers programs 404 at addresses that are not of the console', async () => {
    for (const path of ['/openapi.json', '/docs', '/redoc', '/no/such/place', '/settingsx'])
      for (const accept of [
        '*/*',
        'application/json',
        'application/openmetrics-text;version=1.0.0,text/plain,*/*;q=0.1',
      ]) {
        const response = await fetch(gateway.url + path, { headers: { accept } })
        expect(response.status, path).to.equal(404)
        expect(response.headers.get('content-type'), path).to.include('application/json')
        expect(await response.json(), path).to.have.nested.property('error.code', 'not_found')
        expect((await fetch(gateway.url + path, { headers: browser })).status, path).to.equal(200)
      }
    const router = readFileSync(join(import.meta.dirname, '../../console/src/app/router.tsx'), 'utf8')
    const paths = [...router.matchAll(/\b(?:screen|door)\('(\/[^']*)'/g)].map(([, path = '']) => path)
    expect(paths).to.have.length.above(20)
    for (const path of paths)
      expect((await fetch(gateway.url + path, { headers: { accept: '*/*' } })).status, path).to.be.oneOf([200, 401])
  })

  it('answers files in the smallest form that the client accepts', async () => {
    const plain = await raw(`/assets/${script}`)
    expect(plain.status).to.equal(200)
    expect(plain.headers).to.include({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
      'content-length': String(plain.bytes.length),
    })
    expect(plain.headers).not.to.have.property('content-encoding')
    const sizes = [plain.bytes.length]
    for (const [accepted, name] of [
      ['gzip, deflate', 'gzip'],
      ['gzip, deflate, br, zstd', 'br'],
    ]) {
      const { headers, bytes } = await raw(`/assets/${script}`, { 'accept-encoding': accepted ?? '' })
      expect(headers).to.include({ 'content-encoding': name })
      sizes.push(bytes.length)
    }
    expect(sizes).to.deep.equal(sizes.toSorted((one, other) => other - one))
    const refused = await raw(`/assets/${script}`, { 'accept-encoding': 'br;q=0, gzip;q=0.5' })
    expect(refused.headers).to.include({ 'content-encoding': 'gzip' })
    const text = await (await fetch(`${gateway.url}/assets/${script}`)).arrayBuffer()
    expect(Buffer.from(text).equals(plain.bytes)).to.equal(true)
  })

  it('lets nobody keep a file for long whose name has no hash', async () => {
    const { status, headers } = await raw('/assets/scheme.js')
    expect(status).to.equal(200)
    expect(headers).to.include({ 'cache-control': 'public, max-age=300' })
    expect((await raw('/assets/mark.svg')).headers).to.include({ 'content-type': 'image/svg+xml' })
  })

  it('answers HEAD like GET, without the body', async () => {
    for (const path of ['/logs', `/assets/${script}`]) {
      const [get, head] = [await raw(path), await raw(path, {}, 'HEAD')]
      expect([head.status, head.bytes.length]).to.deep.equal([200, 0])
      for (const name of ['content-type', 'content-length', 'cache-control'])
        expect(head.headers[name], name).to.equal(get.headers[name])
    }
  })

  it('serves no other file, whatever the path is called', async () => {
    const names = ['none.js', `${script}.br`, `${script}.gz`, '../index.html', '..%2findex.html', '%2e%2e/index.html']
    for (const name of [...names, '', '.', '..', 'index', `x/${script}`, `${script}/`, `${script}%00`, `.${script}`]) {
      const { status, bytes, headers } = await raw(`/assets/${name}`)
      // A slash at the end is the same path, as everywhere.
      if (name !== `${script}/`) expect(status, name).to.equal(404)
      if (status === 404) expect(JSON.parse(bytes.toString())).to.have.nested.property('error.code', 'not_found')
      expect(headers['content-type'], name).not.to.include('html')
    }
  })

  it('changes no error of the API', async () => {
    for (const path of ['/api', '/api/', '/api/x', '/v1', '/v1/x', '/v1/v1/x', '/servers', '/servers/x/y']) {
      const response = await fetch(gateway.url + path, { headers: browser })
      expect(response.status, path).to.equal(404)
      expect(await response.json(), path).to.have.property('error')
    }
    for (const path of ['/', '/logs', '/assets/scheme.js']) {
      const response = await fetch(gateway.url + path, { method: 'POST', body: '{}' })
      expect(response.status, path).to.be.oneOf([404, 405])
      expect(await response.json(), path).to.have.property('error')
    }
  })

  it('leaves the list of models to clients, and shows the page to browsers', async () => {
    const authorization = `Bearer ${gateway.key}`
    for (const accept of [undefined, 'application/json', '*/*'])
      for (const path of ['/models', '/models/echo']) {
        const response = await fetch(gateway.url + path, { headers: { authorization, ...(accept && { accept }) } })
        expect(response.headers.get('content-type'), path).to.equal('application/json')
        expect(await response.json(), path).to.have.property('object')
      }
    expect((await fetch(`${gateway.url}/models`)).status).to.equal(401)
    for (const path of ['/models', '/models/echo'])
      expect((await fetch(gateway.url + path, { headers: browser })).headers.get('content-type')).to.include('html')
    expect((await fetch(`${gateway.url}/v1/models`, { headers: browser })).status).to.equal(401)
  })

  it('writes no row of the request log', async () => {
    expect((await gateway.rows()).filter(({ type }) => type !== 'models')).to.deep.equal([])
  })

  it('answers 404 where the console was not built', async () => {
    const pipelines = await copyPipelines()
    await pipelines.edit('console.yaml', '- serve-page', '- serve-page: { folder: nowhere }')
    await pipelines.edit('console.yaml', '- serve-asset', '- serve-asset: { folder: nowhere }')
    const bare = await startGateway({ pipelines: pipelines.folder })
    try {
      for (const path of ['/', '/logs', '/assets/scheme.js']) {
        const response = await fetch(bare.url + path, { headers: browser })
        expect(response.status, path).to.equal(404)
        expect(await response.json()).to.deep.include({
          error: {
            message: `Nothing is served at GET ${path}.`,
            type: 'invalid_request_error',
            param: null,
            code: 'not_found',
          },
        })
      }
    } finally {
      await bare.close()
      await pipelines.remove()
    }
  })
})
