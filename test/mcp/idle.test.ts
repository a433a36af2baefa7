import { mock } from 'node:test'
import { expect } from 'chai'
import { EventReader } from '../support/mcp-events.ts'
import { initialized, startMcp } from '../support/mcp.ts'
import type { McpRig } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import { isAlive, stdio } from './program.ts'

const minute = 60_000

describe('mcp/idle', function () {
  this.timeout(300_000)
  let rig: McpRig
  /** Milliseconds by which the gateway's clocks are ahead. */
  let ahead = 0
  /**
   * What the gateway does every few seconds or minutes, which `pass` runs. Shorter intervals are left alone: the timer
   * that watches all deadlines of this process outlives this file.
   */
  const slow: (() => void)[] = []

  before(async () => {
    const now = performance.now.bind(performance)
    mock.method(performance, 'now', () => now() + ahead)
    mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const every = setInterval
    mock.method(globalThis, 'setInterval', (act: () => void, time: number) => {
      const timer = every(act, time)
      if (time >= 5_000) slow.push(act)
      return timer
    })
    const upstream = await scriptedUpstream()
    upstream.answer(({ method }) => (method === 'DELETE' ? { status: 200 } : initialized(0, 'upstream-1')))
    rig = await startMcp(
      {},
      {
        upstream,
        records: {
          mcp_servers: [{ name: 'docs', transport: 'http', url: upstream.url }, stdio('program')],
        },
      },
    )
  })
  after(async () => {
    mock.timers.reset()
    mock.restoreAll()
    await rig.close()
  })

  const pass = (minutes: number) => {
    for (let count = 0; count < minutes; count++) {
      ahead += minute
      mock.timers.tick(minute)
      slow.forEach((act) => act())
    }
  }
  const facts = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'facts', arguments: {} } }
  const pidOf = async (session: string) => {
    const response = await rig.post(facts, { server: 'program', session })
    const [, pid] = /\\"pid\\":(\d+)/.exec(await response.text()) ?? []
    return Number(pid)
  }

  it('a session ends after an hour without use, at its server, too; that of a program after ten minutes', async () => {
    const there = { server: 'program' }
    const [idle, used, open] = [await rig.open(there), await rig.open(there), await rig.open(there)]
    const docs = await rig.open()
    const pids = await Promise.all([idle, used, open].map(pidOf))
    const stream = new EventReader(await rig.get({ ...there, session: open }))
    pass(9)
    expect(await pidOf(used)).to.equal(pids[1])
    expect(pids.map(isAlive)).to.deep.equal([true, true, true])
    pass(3)
    await until(() => !isAlive(pids[0] ?? 0))
    expect(pids.map(isAlive)).to.deep.equal([false, true, true])
    expect((await rig.post(facts, { ...there, session: idle })).status).to.equal(404)
    expect(await pidOf(open)).to.equal(pids[2])
    await stream.leave()
    expect((await rig.post(facts, { session: docs })).status).to.equal(200)
    pass(62)
    await until(() => rig.upstream.requests.some(({ method }) => method === 'DELETE'))
    expect((await rig.post(facts, { session: docs })).status).to.equal(404)
  })
})
