import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { printDiagnostic } from '../../engine/config/diagnostics.ts'
import { openDatabase } from '../../engine/store/database.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { tablesOf } from '../support/tables.ts'
import { keyStore } from '../support/keys.ts'

const folderOf = ({ engine }: RunningGateway) => dirname(engine.database.url.slice('sqlite:'.length))

describe('engine/gateway', () => {
  it('writes the last rows although somebody never leaves the configuration', async () => {
    const gateway = await startGateway({ limits: { abortTimeout: 20 } })
    const { url } = gateway.engine.database
    try {
      await gateway.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'hi' }] })
      gateway.engine.live.acquire()
      await gateway.engine.close(10)
      const database = await openDatabase(url)
      expect(await tablesOf(database).selectFrom('requests').select('type').execute()).to.deep.equal([{ type: 'chat' }])
      await database.close()
    } finally {
      await rm(folderOf(gateway), { recursive: true })
    }
  })

  describe('while it serves', () => {
    let gateway: RunningGateway
    beforeEach(async () => {
      gateway = await startGateway({
        models: [
          { name: 'echo', provider: 'echo', aliases: ['small'] },
          { name: 'other', provider: 'echo' },
        ],
      })
    })
    afterEach(() => gateway.close())

    it('refuses a change of what takes a restart', async () => {
      const file = join(folderOf(gateway), 'sluice.yaml')
      const before = await readFile(file, 'utf8')
      const { port } = gateway.engine.address
      await writeFile(
        file,
        before.replace('port: 0', `port: ${port}\n  workers: 2\n  host: 0.0.0.0`).replace('sluice.db', 'other.db') +
          'client_timeouts: { unread: 31s }\n',
      )
      expect(
        (await gateway.engine.live.reload()).map((found) => printDiagnostic(found).replace(/^.*?: /, '')),
      ).to.have.members([
        'a change of listen.port requires a restart [restart]',
        'a change of listen.workers requires a restart [restart]',
        'a change of listen.host requires a restart [restart]',
        'a change of client_timeouts.unread requires a restart [restart]',
        'a change of database.url requires a restart [restart]',
      ])
      await writeFile(file, before)
      expect(await gateway.engine.live.reload()).to.deep.equal([])
    })

    it('serves a key that was just made elsewhere, from its first request on', async () => {
      const database = await openDatabase(gateway.engine.database.url)
      const { text } = await keyStore(database).createKey({ name: 'app' })
      await database.close()
      const status = async () =>
        (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${text}` } })).status
      expect(await status()).to.equal(200)
    })

    it('lets a key of the file use a model that it names by an alias', async () => {
      const file = join(folderOf(gateway), 'sluice.yaml')
      const text = await readFile(file, 'utf8')
      await writeFile(file, text.replace(/( +- name: test\n)/, '$1    models: [small]\n'))
      expect(await gateway.engine.live.reload()).to.deep.equal([])
      const ask = async (model: string) =>
        (await gateway.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })).status
      expect([await ask('echo'), await ask('small'), await ask('other')]).to.deep.equal([200, 200, 403])
    })
  })
})
