import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { startGateway } from '../support/gateway.ts'
import { secret } from './receiver.ts'

const url = 'https://hooks.example/ops'
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
      ])
        expect(await change([{ ...target, url: private_ }]), private_).to.include({ code: 'private_address' })
    })

    it('are stored without their secrets, which nobody is shown', async () => {
      expect((await change([{ name: 'chat', url: 'https://8.8.8.8/hook', secret }])).status).to.equal(200)
      const { body } = await gateway.asAdmin('GET /api/config/server/notifications')
      expect(JSON.stringify(body)).to.include('8.8.8.8').and.not.include(secret)
      const audit = await gateway.asAdmin('GET /api/logs/audit?action=settings.update')
      expect(JSON.stringify(audit.body)).to.include('notifications').and.not.include(secret)
      expect((await gateway.asAdmin('DELETE /api/config/server/notifications')).status).to.equal(204)
    })
  })
})
