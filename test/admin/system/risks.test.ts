import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'

describe('GET /api/config/status', () => {
  it('has what strangers may use: weak secrets, open doors, and a proxy that is not trusted', async function () {
    this.timeout(300_000)
    const gateway = await startAdmin({
      environment: { SLUICE_SECRET: 'aaaaaaaaaaaaaaaa' },
      api_keys: [{ name: 'web', key: 'password' }],
    })
    const risks = async () => {
      const { body } = await gateway.asAdmin('GET /api/config/status')
      return ((body['risks'] ?? []) as readonly JsonObject[]).map(({ code }) => code)
    }
    const trust = (trusted_proxies: readonly string[]) =>
      gateway.asAdmin('PATCH /api/config/server/security', { trusted_proxies })
    try {
      expect(await risks()).to.have.members(['weak-secret', 'weak-secret'])
      const forwarded = { headers: { 'x-forwarded-for': '203.0.113.9' } }
      for (let times = 0; times < 3; times++) await (await fetch(`${gateway.url}/api/health/live`, forwarded)).text()
      expect(await risks()).to.have.members(['weak-secret', 'weak-secret', 'untrusted-proxy'])
      expect((await trust(['127.0.0.1', '::1'])).status).to.equal(200)
      expect(await risks()).to.have.members(['weak-secret', 'weak-secret'])
      expect((await trust(['0.0.0.0/0'])).status).to.equal(200)
      expect(await risks()).to.have.members(['weak-secret', 'weak-secret', 'open-door'])
    } finally {
      await gateway.close()
    }
  })
})
