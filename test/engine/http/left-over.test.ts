import { expect } from 'chai'
import { json, startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const endpoint = (name: string, ...routes: string[]) =>
  `  - { name: ${name}, summary: ${name}., public: true, routes: [${routes.join(', ')}], stages: [stub] }\n`

describe('the route /*', () => {
  let gateway: StubGateway
  before(async () => {
    gateway = await startStub(
      'aliases: { /v1/: [/] }\nendpoints:\n' +
        endpoint('things', 'GET /v1/things', 'GET /v1/things/:id', 'POST /v1/sums') +
        endpoint('files', 'GET /files/*') +
        endpoint('rest', 'GET /*'),
    )
    gateway.answer(({ ingress: { path, params } }) => json({ path, rest: params['*'] ?? '' }))
  })
  after(() => gateway.close())

  const ask = async (path: string, accept?: string, method = 'GET') => {
    const response = await fetch(gateway.url + path, { method, headers: accept === undefined ? {} : { accept } })
    const text = await response.text()
    const body = (text === '' ? {} : JSON.parse(text)) as { path?: string; rest?: string }
    return response.status === 200 ? `${body.path} ${body.rest}` : response.status
  }

  it('gets the paths that no other route names', async () => {
    for (const path of ['/', '/a', '/a/', '/a/b/c', '/thing', '/things/a/b', '/V1/things'])
      expect(await ask(path), path).to.equal(`/* ${path.slice(1)}`)
    expect(await ask('/files/a/b')).to.equal('/files/* a/b')
    expect(await ask('/v1/things', 'text/html')).to.equal('/v1/things ')
  })

  it('gets none below the first segment of a route, so that mistakes are told', async () => {
    for (const path of ['/v1', '/v1/', '/v1/thing', '/v1/things/a/b', '/files', '/files/', '//', '//v1/things'])
      expect(await ask(path, 'text/html'), path).to.equal(404)
    expect(await ask('/v1/sums', 'text/html')).to.equal(405)
  })

  it('changes nothing for other methods, and answers HEAD like GET', async () => {
    expect(await ask('/a', undefined, 'POST')).to.equal(404)
    expect(await ask('/v1/things', undefined, 'POST')).to.equal(405)
    expect((await fetch(`${gateway.url}/a`, { method: 'HEAD' })).status).to.equal(200)
  })

  it('is preferred to an alias by clients that ask for HTML alone', async () => {
    for (const path of ['/things', '/things/a']) {
      expect(await ask(path, 'text/html,application/xhtml+xml,*/*;q=0.8'), path).to.equal(`/* ${path.slice(1)}`)
      for (const accept of [undefined, '*/*', 'application/json'])
        expect(await ask(path, accept)).to.equal(`${path} `.replace(/a $/, ':id '))
    }
  })

  it('is no answer for clients that accept other types alone', async () => {
    expect(await ask('/a', 'application/json')).to.equal(404)
    expect(await ask('/a', 'application/json, text/plain, */*')).to.equal('/* a')
  })
})
