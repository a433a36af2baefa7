import { expect } from 'chai'
import { startAdmin, viewOf } from '../../support/admin.ts'
import { postgres } from '../../support/services.ts'
import { decides, startJudged } from './rig.ts'
import type { Judged } from './rig.ts'

describe('the agreement of the judge with the signals', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged()))
  after(() => judged.close())

  const agreement = async (query = '') => {
    const { status, body } = await judged.gateway.asAdmin(`GET /api/routing/judge/agreement${query}`)
    expect(status).to.equal(200)
    return body
  }

  it('is counted per tiers, apart from verdicts in shadow', async () => {
    const before = new Date(Date.now() - 1000).toISOString()
    expect(await agreement(`?since=${before}`)).to.deep.equal({ since: before, rows: 0, data: [] })
    await judged.begin()
    const ask = (tier: string) => judged.ask({ tier })
    judged.judge.answer(decides('MEDIUM', [0, 1, 0]))
    await ask('MEDIUM')
    await ask('MEDIUM')
    judged.judge.answer(decides('COMPLEX', [0, 0, 1]))
    await ask('SIMPLE')
    judged.judge.answer(decides('UNCLEAR', [0, 0, 0, 1]))
    await ask('SIMPLE')
    await judged.rows(8)
    await judged.begin({ shadow: true })
    judged.judge.answer(decides('COMPLEX', [0, 0, 1]))
    await ask('MEDIUM')
    await judged.rows()
    await judged.gateway.engine.flush()
    expect(await agreement(`?since=${before}`)).to.deep.equal({
      since: before,
      rows: 4,
      data: [
        { ensemble: 'SIMPLE', judge: 'COMPLEX', count: 1, shadow: false },
        { ensemble: 'MEDIUM', judge: 'MEDIUM', count: 2, shadow: false },
        { ensemble: 'MEDIUM', judge: 'COMPLEX', count: 1, shadow: true },
      ],
    })
  })

  it('is that of the last 30 days, or since a moment', async () => {
    const usual = Date.now() - Date.parse((await agreement())['since'] as string)
    expect(usual).to.be.closeTo(30 * 86_400_000, 60_000)
    const later = new Date(Date.now() + 60_000).toISOString()
    expect(await agreement(`?since=${later}`)).to.deep.include({ rows: 0, data: [] })
  })

  it('is counted on PostgreSQL, too', async function () {
    const service = await postgres(this)
    const gateway = await startAdmin({ database: service.url })
    try {
      const judging = viewOf(gateway.engine, 'judging')
      judging.keep('1', { ensemble: 'SIMPLE', verdict: 'SIMPLE', shadow: true })
      judging.keep('2', { ensemble: 'SIMPLE', verdict: 'COMPLEX', shadow: false })
      judging.keep('3', { ensemble: 'SIMPLE', verdict: 'SIMPLE', shadow: true })
      await gateway.engine.flush()
      const { body } = await gateway.asAdmin('GET /api/routing/judge/agreement')
      expect(body['data']).to.deep.equal([
        { ensemble: 'SIMPLE', judge: 'SIMPLE', count: 2, shadow: true },
        { ensemble: 'SIMPLE', judge: 'COMPLEX', count: 1, shadow: false },
      ])
    } finally {
      await gateway.close()
      await service.stop()
    }
  })

  it('is for admins, and takes no other words', async () => {
    const { asAdmin, asViewer, asKey, asNobody } = judged.gateway
    const route = 'GET /api/routing/judge/agreement'
    expect((await asAdmin(`${route}?since=yesterday`)).status).to.equal(422)
    expect(await asAdmin(`${route}?until=0`)).to.deep.include({ status: 422, code: 'unknown_field', param: 'until' })
    expect((await asViewer(route)).status).to.equal(403)
    expect((await asKey(route)).status).to.equal(401)
    expect((await asNobody(route)).status).to.equal(401)
  })
})
