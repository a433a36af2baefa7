import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { sql } from 'kysely'
import type { ModelRecord } from '../../../engine/index.ts'
import { connect } from '../../engine/http/socket-client.ts'
import { startGateway } from '../../support/gateway.ts'
import { keyStore, keysOf } from '../../support/keys.ts'
import { until } from '../../support/until.ts'
import { declaredKey, modelNames } from '../../../plugins/keys/declared-keys.ts'

const models = [
  { name: 'large', aliases: ['big', 'huge'] },
  { name: 'small', aliases: [] },
]

describe('plugins/keys/api-keys', () => {
  it('names models as their records do, and counts the expiry in milliseconds', () => {
    const keys = [
      { name: 'all', key: 'key-of-all' },
      { name: 'some', key: 'key-of-some', models: ['huge', 'small'], expires_at: '2030-01-31T12:00:00Z' },
      { name: 'none', key: 'key-of-none', models: [] },
    ]
    const names = modelNames(models as unknown as readonly ModelRecord[])
    expect(keys.map((key) => declaredKey(key, names))).to.deep.equal([
      { name: 'all', key: 'key-of-all' },
      {
        name: 'some',
        key: 'key-of-some',
        models: ['large', 'small'],
        expiresAt: Date.UTC(2030, 0, 31, 12),
      },
      { name: 'none', key: 'key-of-none', models: [] },
    ])
  })

  it('lets a gateway start over a stored key of the same name, which is left out until it is revoked', async function () {
    this.timeout(300_000)
    const folder = await mkdtemp(join(tmpdir(), 'sluice-left-out-'))
    const key = 'sk-declared-0123456789abcdef0123456789abcdef'
    const before = await startGateway({ folder })
    const { id, text } = await keysOf(before.engine).create({ name: 'app' })
    await before.close()
    const gateway = await startGateway({ folder, api_keys: [{ name: 'App', key }] })
    try {
      const status = async (shown: string) =>
        (await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': shown } })).status
      const degraded = async () => {
        const ready = await fetch(`${gateway.url}/api/health/ready`)
        return ((await ready.json()) as { degraded: string[] }).degraded
      }
      expect([await status(text), await status(key)]).to.deep.equal([401, 200])
      expect(await degraded()).to.deep.equal(['api_keys'])
      expect(await gateway.engine.live.reload()).to.deep.equal([])
      expect(await keysOf(gateway.engine).revoke({ id, name: 'app' })).to.equal(true)
      expect([await status(key), await degraded()]).to.deep.equal([200, []])
    } finally {
      await gateway.close()
      await rm(folder, { recursive: true })
    }
  })

  it('closes sockets of declared keys that a reload removes or ends, long before the next look', async function () {
    this.timeout(300_000)
    const folder = await mkdtemp(join(tmpdir(), 'sluice-removed-'))
    const keys = ['removed', 'ended'].map((name) => ({ name, key: `sk-${name}-0123456789`, expires_at: '2999-01-31' }))
    const sockets = { recheck: 3_600_000 }
    const gateway = await startGateway({ folder, api_keys: keys, limits: { sockets } })
    try {
      const clients = await Promise.all(
        keys.map(({ key }) => connect(gateway, '/v1/responses', { headers: { authorization: `Bearer ${key}` } })),
      )
      // The first look after a start takes every key for a new one, and looks at the sockets by itself: it shall be over.
      const elsewhere = await keyStore(gateway.engine.database).createKey({ name: 'elsewhere' })
      await until(() => keysOf(gateway.engine).find(elsewhere.text) !== undefined)
      const file = join(folder, 'sluice.yaml')
      const [removed, ended] = (await readFile(file, 'utf8')).split('- name: ended')
      const text = `${removed?.replace(/ *- name: removed\n.*\n.*\n/, '')}- name: ended${ended?.replace('2999', '1999')}`
      await writeFile(file, text)
      expect(await gateway.engine.live.reload()).to.deep.equal([])
      for (const { closed } of clients) expect(await closed).to.deep.equal({ code: 4401, reason: 'not authenticated' })
    } finally {
      await gateway.close()
      await rm(folder, { recursive: true })
    }
  })

  it('is degraded while the keys cannot be read, and says so once', async function () {
    this.timeout(300_000)
    const gateway = await startGateway()
    try {
      const degraded = async () => {
        const ready = await fetch(`${gateway.url}/api/health/ready`)
        return ((await ready.json()) as { degraded: string[] }).degraded
      }
      const said = (words: string) =>
        gateway.lines.filter((line) => line.includes(words) && line.includes('"service":"api_keys"'))
      const { query } = gateway.engine.database
      await sql`alter table api_keys rename to api_keys_away`.execute(query)
      await until(async () => (await degraded()).includes('api_keys') && said('is degraded').length > 0)
      const stranger = { authorization: `Bearer sk-sluice-${'x'.repeat(43)}` }
      const refused = await fetch(`${gateway.url}/v1/models`, { headers: stranger })
      expect(refused.status).to.equal(503)
      expect(await refused.json()).to.have.nested.property('error.code', 'store_unavailable')
      const known = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': gateway.key } })
      expect(known.status).to.equal(200)
      await sql`alter table api_keys_away rename to api_keys`.execute(query)
      await until(async () => (await degraded()).length === 0 && said('works again').length > 0)
      expect([said('is degraded').length, said('works again').length]).to.deep.equal([1, 1])
      expect((await fetch(`${gateway.url}/v1/models`, { headers: stranger })).status).to.equal(401)
    } finally {
      await gateway.close()
    }
  })
})
