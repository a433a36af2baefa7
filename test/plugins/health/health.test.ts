import { expect } from 'chai'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import type { Host, HostStatus } from '../../../engine/index.ts'
import health from '../../../plugins/health/health.ts'

const WELL: HostStatus = { draining: false, starting: false, degraded: [], config: { version: 'abc' } }

function ask(report: 'all' | 'ready' | 'live', status: Partial<HostStatus> = {}): unknown {
  return health.build({ report }, { status: { ...WELL, ...status } } as Partial<Host> as Host)({}, new ExchangeScope())
}

function reply(status: number, value: object): object {
  return { reply: { status, headers: { 'cache-control': 'no-store' }, body: { kind: 'json', value } } }
}

describe('plugins/health/health', () => {
  it('needs nothing', () => {
    expect(health).to.deep.include({ name: 'health', needs: [], provides: ['reply'] })
  })

  for (const report of ['all', 'ready', 'live'] as const) {
    it(`${report}: answers 200 while all is well or something is degraded`, () => {
      expect(ask(report)).to.deep.equal(
        reply(200, { status: 'ok', degraded: [], draining: false, config: { version: 'abc' } }),
      )
      expect(ask(report, { degraded: ['request_log'] })).to.deep.equal(
        reply(200, { status: 'degraded', degraded: ['request_log'], draining: false, config: { version: 'abc' } }),
      )
      const config = { version: 'abc', error: 'x.yaml:1:1: no' }
      expect(ask(report, { config })).to.deep.equal(
        reply(200, { status: 'degraded', degraded: [], draining: false, config: { version: 'abc', error: true } }),
      )
    })

    it(`${report}: answers ${report === 'ready' ? 503 : 200} while draining and before the first good configuration`, () => {
      const status = report === 'ready' ? 503 : 200
      expect(ask(report, { draining: true })).to.deep.equal(
        reply(status, { status: 'draining', degraded: [], draining: true, config: { version: 'abc' } }),
      )
      expect(ask(report, { config: { version: '' } })).to.deep.equal(
        reply(status, { status: 'starting', degraded: [], draining: false, config: { version: '' } }),
      )
    })
  }

  it('reads the state anew for every answer', () => {
    const status = { ...WELL, draining: false }
    const run = health.build({ report: 'ready' }, { status } as Partial<Host> as Host)
    expect(run({}, new ExchangeScope())).to.have.nested.property('reply.status', 200)
    status.draining = true
    expect(run({}, new ExchangeScope())).to.have.nested.property('reply.status', 503)
  })
})
