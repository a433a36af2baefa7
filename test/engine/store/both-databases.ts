import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../engine/store/database.ts'
import type { Database } from '../../../engine/store/database.ts'
import { postgres } from '../../support/services.ts'

/**
 * Runs the tests of a contract on SQLite and on PostgreSQL, each in a database of its own.
 * @param more tests on PostgreSQL alone, with the address of the database once they run
 */
export function onBothDatabases(contract: (open: () => Promise<Database>) => void, more?: (url: () => string) => void) {
  describe('on SQLite', () => {
    let folder: string
    before(() => (folder = mkdtempSync(join(tmpdir(), 'sluice-store-'))))
    after(() => rmSync(folder, { recursive: true }))
    contract(() => openDatabase(`sqlite:${folder}/sluice.db`))
  })

  describe('on PostgreSQL', () => {
    let url = ''
    before(async function () {
      url = (await postgres(this)).url
    })
    contract(() => openDatabase(url))
    more?.(() => url)
  })
}
