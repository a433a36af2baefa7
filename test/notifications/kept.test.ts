import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openDatabase } from '../../engine/store/database.ts'
import type { Database } from '../../engine/store/database.ts'
import type { ServiceHost, TableQueries } from '../../engine/index.ts'
import type { Notice } from '../../plugins/notifications/cause.ts'
import { Kept } from '../../plugins/notifications/kept.ts'
import { migrations } from '../../plugins/notifications/table.ts'
import { postgres } from '../support/services.ts'

const noticeOf = (message: string, at: number): Notice => ({
  message,
  id: message,
  cause: 'expires',
  key: message,
  subject: 'A key ends',
  facts: {},
  path: '/keys',
  state: 'begin',
  at,
  since: at,
})

describe('notices that gateways on one database have not delivered', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kept-'))
  let database: Database
  before(async () => {
    database = await openDatabase(`sqlite:${join(folder, 'sluice.db')}`)
    for (const one of migrations) await one.up(database.query as unknown as TableQueries, 'sqlite')
  })
  after(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })

  it('are delivered by whoever has said them, and by nobody else', async () => {
    const kept = new Kept({ database: database.query as unknown as ServiceHost['database'] })
    const of = (name: string) => (speaker: string) => speaker === name
    const now = Date.now()
    await kept.said('one', [noticeOf('of-one', now)], () => ['ops'])
    await kept.said('other', [noticeOf('of-other', now)], () => ['ops'])
    await kept.said('', [noticeOf('of-all', now)], () => ['ops'])
    expect(await kept.waiting(of('one'), now - 1)).to.deep.equal([[noticeOf('of-one', now), 'ops']])
    expect(await kept.waiting(of('other'), now - 1)).to.deep.equal([[noticeOf('of-other', now), 'ops']])
    expect(await kept.waiting(of(''), now - 1)).to.deep.equal([[noticeOf('of-all', now), 'ops']])
    await kept.delivered({ message: 'of-one', target: 'ops', state: 'delivered', attempts: 1, status: 204 })
    expect(await kept.waiting(of('one'), now - 1)).to.deep.equal([])
    expect((await kept.sent()).map(({ notice: { id } }) => id)).to.have.members(['of-one', 'of-other', 'of-all'])
  })

  for (const kind of ['SQLite', 'PostgreSQL'] as const)
    it(`have targets that fail since the first of them did, until another address or an answer, in ${kind}`, async function () {
      this.timeout(120_000)
      const service = kind === 'SQLite' ? undefined : await postgres(this)
      const opened = service === undefined ? database : await openDatabase(service.url)
      try {
        if (service) for (const one of migrations) await one.up(opened.query as unknown as TableQueries, 'postgres')
        const kept = new Kept({ database: opened.query as unknown as ServiceHost['database'] })
        const tried = (address: string, failing: number | null, at: number) =>
          kept.tried({ name: 'ops', address, failing_since: failing, tried_at: at, problem: failing ? 'no' : null })
        const since = async () => (await kept.targets()).map((one) => [one.address, one.failing_since, one.tried_at])
        await tried('one', 5, 5)
        await tried('one', 7, 7)
        expect(await since()).to.deep.equal([['one', 5, 7]])
        await tried('other', 8, 8)
        expect(await since()).to.deep.equal([['other', 8, 8]])
        await tried('other', null, 9)
        await tried('other', 10, 10)
        expect(await since()).to.deep.equal([['other', 10, 10]])
        await kept.gone([{ name: 'ops', address: 'one' }])
        expect(await since()).to.have.length(1)
        await kept.gone([{ name: 'ops', address: 'other' }])
        expect(await since()).to.deep.equal([])
      } finally {
        if (service) await opened.close()
      }
    })
})
