import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openDatabase } from '../../../engine/store/database.ts'
import type { Database } from '../../../engine/store/database.ts'
import { takeKeys } from '../../../plugins/keys/take-keys.ts'
import type { TakenKey, Taking } from '../../../plugins/keys/take-keys.ts'
import { GatewayError } from '../../../engine/index.ts'
import { migrateKeys } from '../../support/keys.ts'
import { tablesOf } from '../../support/tables.ts'

const key = (name: string, text = `sk-${name}`): TakenKey => ({
  fields: { name },
  hash: hash('sha256', text),
  hint: text.slice(-4),
})

describe('plugins/keys: keys of another gateway', () => {
  let database: Database
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-take-'))
    database = await openDatabase(`sqlite:${join(folder, 'sluice.db')}`)
    await migrateKeys(database)
  })
  afterEach(async () => {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })

  const taking: Taking = { isDeclared: () => false, accept: (fields) => fields, stored: () => Promise.resolve() }
  const names = async () => {
    const rows = await tablesOf(database).selectFrom('api_keys').select('name').orderBy('name').execute()
    return rows.map(({ name }) => name)
  }

  it('are stored all together, or none of them', async () => {
    const failing: Taking['stored'] = (_transaction, { fields }) =>
      fields.name === 'two' ? Promise.reject(new Error('nobody writes this row')) : Promise.resolve()
    const taken = takeKeys(tablesOf(database), [key('one'), key('two')], { ...taking, stored: failing })
    expect(await taken.catch((error: Error) => error.message)).to.equal('nobody writes this row')
    expect(await names()).to.deep.equal([])
  })

  it('get the next free number where their names are taken, in any case', async () => {
    await takeKeys(tablesOf(database), [key('same')], taking)
    const again = [key('Same', 'sk-another'), key('same', 'sk-third'), key('declared'), key('same')]
    const taken = await takeKeys(tablesOf(database), again, { ...taking, isDeclared: (name) => name === 'declared' })
    expect(taken).to.deep.equal({ imported: ['Same-2', 'same-3', 'declared-2'], skipped: 1, lost: [] })
    expect(await names()).to.deep.equal(['Same-2', 'declared-2', 'same', 'same-3'])
  })

  it('are named when they are not accepted, and the others are stored', async () => {
    const accept: Taking['accept'] = (fields) => {
      if (fields.name === 'odd') throw new GatewayError('invalid_field', { param: 'budget', reason: 'is odd' })
      return fields
    }
    const taken = await takeKeys(tablesOf(database), [key('odd'), key('even')], { ...taking, accept })
    expect(taken.imported).to.deep.equal(['even'])
    expect(taken.lost.map(({ name }) => name)).to.deep.equal(['odd'])
  })

  it('are found by an earlier text that still counts', async () => {
    const previous = { hash: hash('sha256', 'sk-earlier'), until: Date.now() + 60_000 }
    await takeKeys(tablesOf(database), [{ ...key('rotated'), previous }], taking)
    const { skipped } = await takeKeys(tablesOf(database), [key('other', 'sk-earlier')], taking)
    expect(skipped).to.equal(1)
  })
})
