import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterCommit } from '../../../engine/store/after-commit.ts'
import { openDatabase } from '../../../engine/store/database.ts'
import type { Database } from '../../../engine/store/database.ts'
import { postgres } from '../../support/services.ts'

describe('engine/store/after-commit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-after-commit-'))
  after(() => rmSync(folder, { recursive: true }))

  for (const dialect of ['sqlite', 'postgres'] as const)
    describe(dialect, function () {
      let database: Database
      before(async function () {
        const url = dialect === 'sqlite' ? `sqlite:${join(folder, 'a.db')}` : (await postgres(this)).url
        database = await openDatabase(url)
      })
      after(() => database?.close())

      const revision = async () => (await database.rows<{ revision: number }>('select * from record_revision'))[0]
      const raised = (work: (did: string[]) => Promise<void> | void, did: string[]) =>
        database.query.transaction().execute(async (transaction) => {
          await transaction.updateTable('record_revision').set({ revision: 7 }).execute()
          await afterCommit(transaction, async () => {
            await new Promise(setImmediate)
            did.push('first')
          })
          await afterCommit(transaction, () => void did.push('second'))
          await work(did)
        })

      it('does the work in its order, when the transaction is committed and before its promise resolves', async () => {
        const did: string[] = []
        await raised((before) => expect(before).to.deep.equal([]) && undefined, did)
        expect(did).to.deep.equal(['first', 'second'])
        expect(await revision()).to.deep.equal({ revision: 7 })
      })

      it('forgets the work of a transaction that is rolled back', async () => {
        await database.query.updateTable('record_revision').set({ revision: 1 }).execute()
        const did: string[] = []
        const failed = raised(() => Promise.reject(new Error('no')), did)
        expect(await failed.catch((error: Error) => error.message)).to.equal('no')
        // The same connection commits something else.
        await database.query.transaction().execute((next) => next.selectFrom('record_revision').selectAll().execute())
        expect(did).to.deep.equal([])
        expect(await revision()).to.deep.equal({ revision: 1 })
      })

      it('refuses work outside a transaction', async () => {
        const refused = afterCommit(database.query, () => undefined)
        expect(await refused.catch((error: Error) => error.message)).to.match(/no transaction/)
      })
    })
})
