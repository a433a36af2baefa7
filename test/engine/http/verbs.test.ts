import { expect } from 'chai'
import { json, startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const endpoint = (name: string, ...routes: string[]) =>
  `  - { name: ${name}, summary: ${name}., public: true, routes: ${JSON.stringify(routes)}, stages: [stub] }\n`

describe('a route that ends in a verb', () => {
  let gateway: StubGateway
  before(async () => {
    gateway = await startStub(
      'aliases: { /v1/: [/] }\nendpoints:\n' +
        endpoint('verbs', 'POST /v1/things/*:run', 'POST /v1/things/*:runSlowly') +
        endpoint('things', 'POST /v1/things/*', 'GET /v1/things/:id'),
    )
    gateway.answer(({ ingress: { path, params } }) => json({ path, ...params }))
  })
  after(() => gateway.close())

  const ask = async (path: string, method = 'POST') => {
    const response = await fetch(gateway.url + path, { method })
    return response.status === 200 ? ((await response.json()) as Record<string, string>) : response.status
  }

  it('gets the paths with that verb, also where slashes and colons stand before it', async () => {
    const run = '/v1/things/*:run'
    expect(await ask('/v1/things/a:run')).to.deep.equal({ path: run, '*': 'a' })
    expect(await ask('/v1/things/a/b/c:run')).to.deep.equal({ path: run, '*': 'a/b/c' })
    expect(await ask('/v1/things/a:b:run')).to.deep.equal({ path: run, '*': 'a:b' })
    expect(await ask('/v1/things/a%2Fb%3Arun:run')).to.deep.equal({ path: run, '*': 'a/b:run' })
    expect(await ask('/v1/things/a:runSlowly')).to.deep.equal({ path: '/v1/things/*:runSlowly', '*': 'a' })
    expect(await ask('/things/a:run')).to.deep.equal({ path: '/things/*:run', '*': 'a' })
  })

  it('leaves all others to the routes beside it', async () => {
    expect(await ask('/v1/things/a:walk')).to.deep.equal({ path: '/v1/things/*', '*': 'a:walk' })
    expect(await ask('/v1/things/a:Run')).to.deep.equal({ path: '/v1/things/*', '*': 'a:Run' })
    expect(await ask('/v1/things/a:run', 'GET')).to.deep.equal({ path: '/v1/things/:id', id: 'a:run' })
    expect(await ask('/v1/things/a/b:run', 'GET')).to.equal(405)
    expect(await ask('/v1/thing/a:run')).to.equal(404)
  })
})
