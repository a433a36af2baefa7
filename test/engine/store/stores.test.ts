import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Settings } from '../../../engine/config/settings.ts'
import { openGateway } from '../../../engine/gateway.ts'
import { makeLog } from '../../../engine/telling/log.ts'
import { openDatabase } from '../../../engine/store/database.ts'
import { Secrets } from '../../../engine/secrets/redaction.ts'
import { openStores } from '../../../engine/store/stores.ts'
import { migrateKeys } from '../../support/keys.ts'
import { postgres, redis } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import { until } from '../../support/until.ts'

describe('the stores', () => {
  let folder: string
  let database: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'sluice-stores-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))
  beforeEach(() => (database = `sqlite:${join(mkdtempSync(join(folder, 'one-')), 'sluice.db')}`))

  /** Opens the stores; `warnings` is what the log was told meanwhile. */
  async function open(at: { readonly database: string; readonly shared?: string }, environment = {}) {
    const warnings: unknown[] = []
    const log = { warn: (...said: unknown[]) => warnings.push(said.at(-1)), info() {}, error() {} } as unknown as Logger
    const settings = {
      database: { url: at.database },
      ...(at.shared === undefined ? {} : { key_value: { url: at.shared } }),
    } as Settings
    const stores = await openStores(settings, { root: folder, environment, log, secrets: new Secrets() })
    return { stores, warnings }
  }

  /** Opens the gateway whose stores they are. */
  async function openWhole(shared: string) {
    const file = join(folder, 'sluice.yaml')
    const text = `listen: { port: 0 }\ndatabase: { url: '${database}' }\nkey_value: { url: '${shared}' }\nplugins: []\n`
    await writeFile(file, text)
    const secrets = new Secrets()
    const log = makeLog({ level: 'silent', secrets })
    const gateway = await openGateway({ file, environment: { SLUICE_SECRET }, log, secrets })
    await gateway.close(0)
  }

  const warning = 'SLUICE_SECRET is not set: gateways on other machines cannot open what this one seals'
  const SLUICE_SECRET = 'a master secret of some length'

  it('warn of nothing where nothing is shared', async () => {
    const { stores, warnings } = await open({ database })
    await stores.close()
    expect(warnings).to.deep.equal([])
  })

  it('warn of a database that other machines may share, without a secret that they share', async function () {
    const { url } = await postgres(this)
    for (const [environment, expected] of [
      [{}, [warning]],
      [{ SLUICE_SECRET: '' }, [warning]],
      [{ SLUICE_SECRET }, []],
    ] as const) {
      const { stores, warnings } = await open({ database: url }, environment)
      await stores.close()
      expect(warnings).to.deep.equal(expected)
    }
  })

  describe('with a shared key-value store', () => {
    let service: Service
    let watch: Redis
    before(async function () {
      service = await redis(this)
      watch = new Redis(service.url)
    })
    after(() => watch?.disconnect())

    const connections = async () =>
      String(await watch.client('LIST'))
        .trim()
        .split('\n').length
    const alone = async () => {
      await until(async () => (await connections()) === 1)
    }

    it('warn of a secret that is not shared too', async () => {
      for (const [environment, expected] of [
        [{}, [warning]],
        [{ SLUICE_SECRET }, []],
      ] as const) {
        const { stores, warnings } = await open({ database, shared: service.url }, environment)
        await stores.close()
        expect(warnings).to.deep.equal(expected)
      }
    })

    it('are all closed when one of them cannot be opened', async () => {
      const made = await openDatabase(database)
      await migrateKeys(made)
      await made.query.schema.alterTable('api_keys').renameTo('other_keys').execute()
      await made.close()
      await alone()
      const error: unknown = await openWhole(service.url).catch((thrown: unknown) => thrown)
      expect(String(error)).to.include('api_keys')
      await alone()
    })

    it('are all closed even if one of them cannot be', async () => {
      await alone()
      const { stores } = await open({ database, shared: service.url })
      const { jobs } = stores
      expect(await connections()).to.be.greaterThan(2)
      const close = jobs?.close.bind(jobs)
      Object.assign(jobs ?? {}, {
        close: async () => {
          await close?.()
          throw new Error('the queue cannot be closed')
        },
      })
      const error: unknown = await stores.close().catch((thrown: unknown) => thrown)
      expect(String(error)).to.equal('Error: the queue cannot be closed')
      await alone()
      expect(await stores.database.rows('select 1').catch((thrown: unknown) => String(thrown))).to.match(
        /not open|destroyed/,
      )
    })
  })
})
