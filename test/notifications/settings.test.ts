import dns from 'node:dns'
import resolving from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { startGateway } from '../support/gateway.ts'
import { tablesOf } from '../support/tables.ts'
import { until } from '../support/until.ts'
import { receiver, secret } from './receiver.ts'

const url = 'https://hooks.example/ops'
const token = 'XxCanary0123456789abcdef'
const target = { name: 'ops', url, secret }

/** Targets that are refused, with the place and the sentence of the finding. */
const refused: readonly (readonly [string, readonly object[], RegExp])[] = [
  ['an unknown cause', [{ ...target, causes: ['weather'] }], /must be one of .*"circuit"/],
  ['an address without https', [{ ...target, url: 'http://hooks.example/ops' }], /must be an address with https/],
  ['an address with a password', [{ ...target, url: 'https://a:b@hooks.example/' }], /without user and password/],
  ['a secret that is too short', [{ ...target, secret: 'whsec_c2hvcnQ=' }], /24 to 64 bytes in base64/],
  ['a text that is too short', [{ ...target, secret: 'too short' }], /24 characters or more/],
  ['a target that signs nothing', [{ name: 'ops', url }], /needs a "secret"/],
  ['two targets of a name', [target, target], /"ops" is the name of another target/],
]

describe('settings of notifications', () => {
  for (const [what, to, message] of refused)
    it(`refuse ${what}`, async () => {
      const problem = await startGateway({ server_config: { notifications: { to } } }).then(
        (gateway) => gateway.close().then(() => undefined),
        (error: unknown) => error as Error,
      )
      expect(problem?.message).to.match(message)
      expect(problem?.message).not.to.include(secret)
    })

  describe('that change at run time', () => {
    let gateway: AdminGateway
    before(async () => {
      gateway = await startAdmin()
    })
    after(() => gateway.close())

    const change = (to: readonly object[]) => gateway.asAdmin('PATCH /api/config/server/notifications', { to })

    it('lead to no private address', async () => {
      for (const private_ of [
        'http://127.0.0.1:9/',
        'https://10.0.0.1/',
        'https://[fd00::1]/',
        'https://169.254.169.254/',
        'https://10.0.0.1/?token=of-a-query',
      ])
        expect(await change([{ ...target, url: private_ }]), private_).to.include({ code: 'private_address' })
    })

    const kept = () =>
      tablesOf(gateway.engine.database).selectFrom('notifications_targets').select(['name', 'problem']).execute()

    it('lead to no private address later either, whatever their host is called by then', async () => {
      const ops = await receiver()
      const names = { ...dns }
      const promised = { ...resolving }
      const { port } = new URL(ops.url)
      try {
        resolving.lookup = (() => Promise.resolve([{ address: '8.8.8.8', family: 4 }])) as never
        dns.lookup = ((_name: string, _options: object, done: (error: null, all: object[]) => void) =>
          done(null, [{ address: '127.0.0.1', family: 4 }])) as never
        syncBuiltinESMExports()
        expect((await change([{ ...target, url: `https://hook.test:${port}/` }])).status).to.equal(200)
        const { body } = await gateway.asAdmin('POST /api/notifications/test', { to: 'ops' })
        expect(body).to.include({ delivered: false, problem: 'its address is not allowed' })
        expect(await kept()).to.deep.equal([{ name: 'ops', problem: 'its address is not allowed' }])
      } finally {
        dns.lookup = names.lookup
        resolving.lookup = promised.lookup
        syncBuiltinESMExports()
        await ops.close()
      }
      expect((await gateway.asAdmin('DELETE /api/config/server/notifications')).status).to.equal(204)
      // Nothing is kept of a target that is gone.
      await until(async () => (await kept()).length === 0)
    })

    it('are stored without their secrets, which nobody is shown', async () => {
      expect((await change([{ name: 'chat', url: 'https://8.8.8.8/hook', secret }])).status).to.equal(200)
      const { body } = await gateway.asAdmin('GET /api/config/server/notifications')
      expect(JSON.stringify(body)).to.include('chat').and.not.include(secret)
      const audit = await gateway.asAdmin('GET /api/logs/audit?action=settings.update')
      expect(JSON.stringify(audit.body)).to.include('notifications').and.not.include(secret)
      expect((await gateway.asAdmin('DELETE /api/config/server/notifications')).status).to.equal(204)
    })

    it('show no address of a target but its host, because whoever knows one in Slack may write there', async () => {
      const hooks = `https://8.8.8.8/services/T0CANARY/${token}`
      expect((await change([{ name: 'chat', form: 'slack', url: hooks }])).status).to.equal(200)
      const { body } = await gateway.asAdmin('GET /api/config/server/notifications')
      expect(body['secrets']).to.deep.equal({ 'to[0].url': { set: true, hint: null } })
      const told = await gateway.asAdmin('GET /api/notifications')
      expect(told.body['targets']).to.deep.include.members([
        {
          name: 'chat',
          address: 'https://8.8.8.8',
          form: 'slack',
          failing_since: null,
          tried_at: null,
          problem: null,
        },
      ])
      const audit = await gateway.asAdmin('GET /api/logs/audit?action=settings.update')
      expect(JSON.stringify(audit.body)).to.include('to[0].url')
      const list = await gateway.asAdmin('GET /api/config/server')
      const all = JSON.stringify([body, told.body, audit.body, list.body])
      for (const hidden of [token, 'T0CANARY']) expect(all).not.to.include(hidden)
      expect(gateway.lines.join('')).not.to.include(token)
      // It is asked for as secrets are.
      const { schema } = body as { readonly schema: { readonly properties: Record<string, never> } }
      expect(JSON.stringify(schema.properties['to'])).to.match(/"url":\{[^}]*"writeOnly":true/)
      expect((await gateway.asAdmin('DELETE /api/config/server/notifications')).status).to.equal(204)
    })

    it('lose the secret of a target by null, as any other setting is taken away', async () => {
      const chat = { name: 'chat', form: 'slack', url: `https://8.8.8.8/${token}`, secret }
      expect((await change([chat])).status).to.equal(200)
      const taken = await change([{ name: 'chat', form: 'slack', secret: null }])
      expect(taken.status, JSON.stringify(taken.body)).to.equal(200)
      const { body } = await gateway.asAdmin('GET /api/config/server/notifications')
      expect(Object.keys(body['secrets'] as object)).to.deep.equal(['to[0].url'])
      expect((await change([{ name: 'chat', form: 'slack', url: null }])).status).to.equal(422)
      expect((await change([{ name: 'new', form: 'slack', url: chat.url, secret: null }])).status).to.equal(200)
      expect((await gateway.asAdmin('DELETE /api/config/server/notifications')).status).to.equal(204)
      expect((await change([{ ...chat, secret: null }])).status).to.equal(200)
      expect((await gateway.asAdmin('DELETE /api/config/server/notifications')).status).to.equal(204)
    })

    it('keep the secrets of each target that a change leaves out, and none for another address', async () => {
      const chat = { name: 'chat', form: 'slack', url: `https://8.8.8.8/${token}` }
      expect((await change([{ name: 'ops', url: 'https://8.8.4.4/hook', secret }, chat])).status).to.equal(200)
      const kept = async () => {
        const { body } = await gateway.asAdmin('GET /api/config/server/notifications')
        return { to: (body['values'] as { to: unknown[] }).to, secrets: Object.keys(body['secrets'] as object) }
      }
      const shown = await kept()
      expect(shown.secrets).to.deep.equal(['to[0].url', 'to[0].secret', 'to[1].url'])
      // As a form sends what it was shown, in another order and with another name.
      const [ops, slack] = shown.to as object[]
      const changed = [{ ...slack, causes: ['circuit'] }, { name: 'more', url: 'https://8.8.8.8/', secret }, ops]
      expect((await change(changed as object[])).status).to.equal(200)
      expect((await kept()).secrets).to.have.members([
        'to[0].url',
        'to[1].url',
        'to[1].secret',
        'to[2].url',
        'to[2].secret',
      ])
      const moved = await change([{ ...ops, url: 'https://1.1.1.1/hook' }])
      expect(moved).to.include({ status: 422 })
      expect(JSON.stringify(moved.body)).to.include('needs a \\"secret\\"')
      expect((await change([{ ...ops, name: 'another' }])).status).to.equal(422)
      expect((await gateway.asAdmin('DELETE /api/config/server/notifications')).status).to.equal(204)
    })
  })
})
