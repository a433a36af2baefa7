import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { ModelRecord } from '../../../engine/index.ts'
import { startGateway } from '../../support/gateway.ts'
import { keysOf } from '../../support/keys.ts'
import { declaredKey, modelNames } from '../../../plugins/keys/api-keys.ts'

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
})
