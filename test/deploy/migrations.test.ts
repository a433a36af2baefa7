import { expect } from 'chai'
import { sourcesOf } from '../rules/sources.ts'

describe('migrations', () => {
  it('only add, so that gateways of the version before go on serving while others are replaced (docs/deploying.md)', async () => {
    const files = [...(await sourcesOf('engine/store/migrations')), ...(await sourcesOf('plugins'))]
    const migrations = files.filter(
      ({ path, text }) => path.startsWith('engine/') || text.includes(': readonly ServiceMigration[] ='),
    )
    expect(migrations.length).to.be.greaterThan(10)
    const takes = /\b(drop|rename)(Column|Table|To)\b|\b(drop|rename) (table|column|to)\b/i
    expect(migrations.filter(({ text }) => takes.test(text)).map(({ path }) => path)).to.deep.equal([])
  })
})
