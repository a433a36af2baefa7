import { expect } from 'chai'
import { startFolder } from '../support/folder.ts'
import type { FolderGateway } from '../support/folder.ts'

/** Takes everybody for a member whose id is that of the API key of the tests. */
const plugin = `
import { definePlugin, defineStage, noConfig } from 'sluice'
const principal = { kind: 'member', id: 'file:test', name: 'test', role: 'admin' } as const
export default definePlugin({
  name: 'members',
  summary: 'Members.',
  stages: [
    defineStage({
      name: 'member',
      summary: 'Let a member in.',
      config: noConfig,
      needs: ['ingress'],
      provides: ['principal'],
      build: () => () => ({ principal }),
    }),
  ],
})
`

const stored = (name: string, route: string, stage: string) => ({
  name: `member-${name}`,
  summary: 'Of a member.',
  public: true,
  routes: [route],
  stages: ['member', stage],
})
const made = (name: string, protocol: string, stages: unknown[]) => ({
  name: `member-${name}`,
  summary: 'Of a member.',
  public: true,
  protocol,
  routes: [`POST /member/${name}`],
  without: ['limit', 'allow', 'reserve', 'breaker', 'price', 'charge', 'record-routing', 'log'],
  stages: ['member', 'parse', 'validate', ...stages],
})

describe('what is stored for a member and an API key of the same id', function () {
  this.timeout(300_000)
  let gateway: FolderGateway
  before(async () => {
    gateway = await startFolder(
      { providers: [{ name: 'echo', type: 'echo' }], models: [{ name: 'echo', provider: 'echo' }] },
      {
        'plugins/members.ts': plugin,
        'pipelines/members.yaml': JSON.stringify({
          endpoints: [
            made('responses', 'responses', ['recall', { use: 'route' }, { use: 'generate' }, 'store']),
            made('compact', 'compact', [
              'recall',
              'resolve',
              { requested: { instead: 'generate' } },
              'compact-locally',
            ]),
            stored('get', 'GET /member/responses/:response_id', 'retrieve-response'),
            stored('items', 'GET /member/responses/:response_id/input_items', 'list-input-items'),
            stored('delete', 'DELETE /member/responses/:response_id', 'delete-response'),
            stored('cancel', 'POST /member/responses/:response_id/cancel', 'cancel-response'),
          ],
        }),
      },
      { SLUICE_SECRET: 'the-secret-of-this-process' },
    )
  })
  after(() => gateway.close())

  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${gateway.key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    return { status: response.status, text, value: JSON.parse(text) as { id: string; output: object[] } }
  }
  const ask = async (to: string, more: object = {}) =>
    call('POST', `${to}/responses`, { model: 'echo', input: 'Hi', ...more })

  for (const [owner, other] of [
    ['/v1', '/member'],
    ['/member', '/v1'],
  ] as const)
    it(`is there for the ${owner === '/v1' ? 'key' : 'member'} alone that asked for it`, async () => {
      const first = await ask(owner)
      expect(first.status, first.text).to.equal(200)
      const { id } = first.value
      for (const [method, rest] of [
        ['GET', ''],
        ['GET', '/input_items'],
        ['POST', '/cancel'],
        ['DELETE', ''],
      ] as const)
        expect((await call(method, `${other}/responses/${id}${rest}`)).status, method + rest).to.equal(404)
      expect((await ask(other, { previous_response_id: id })).status).to.equal(400)
      expect((await call('GET', `${owner}/responses/${id}`)).status).to.equal(200)
      expect((await call('GET', `${owner}/responses/${id}/input_items`)).status).to.equal(200)
      expect((await ask(owner, { previous_response_id: id })).status).to.equal(200)
      const packed = await call('POST', `${owner}/${owner === '/v1' ? 'responses/compact' : 'compact'}`, {
        model: 'echo',
        input: [{ role: 'user', content: 'Hi' }],
      })
      expect(packed.status, packed.text).to.equal(200)
      expect((await ask(owner, { input: packed.value.output })).status).to.equal(200)
      expect((await ask(other, { input: packed.value.output })).status).to.equal(400)
      expect((await call('DELETE', `${owner}/responses/${id}`)).status).to.equal(200)
    })
})
