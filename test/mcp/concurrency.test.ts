import { expect } from 'chai'
import { EventReader } from '../support/mcp-events.ts'
import { startMcp } from '../support/mcp.ts'
import type { McpRig } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { call, initialize, opened, stdio } from './program.ts'

/** A key that may call twice at a time. */
const settings = {
  records: { mcp_servers: [stdio('docs', { environment: { SHOW: 'yes', TELL: 'yes' } })] },
  key_fields: { mcp_servers: ['docs'], rate_limit: { concurrency: 2 } },
}

describe('mcp/concurrency', function () {
  this.timeout(300_000)
  let rig: McpRig
  let session: string
  /** Rows of the exchanges that have opened the session. */
  let begun: number
  afterEach(() => rig.close())
  const start = async (more: object = {}) => {
    rig = await startMcp({}, { ...settings, ...more })
    session = await opened(rig)
    begun = (await rig.gateway.rows(1)).length
  }
  const lines = () => rig.gateway.lines.map((line) => String((JSON.parse(line) as { line?: unknown }).line))
  const pid = () => Number(lines().flatMap((line) => /^process (\d+)$/.exec(line)?.[1] ?? [])[0])
  /** Two clients call, wait until the program works for them, and leave; resolves when their exchanges have ended. */
  const callAndLeave = async () => {
    const readers = await Promise.all(
      [1, 2].map(async (id) => new EventReader(await rig.post(call(id, 'wait'), { session }))),
    )
    await until(() => lines().filter((line) => line.includes('"wait"')).length === 2)
    for (const reader of readers) {
      await reader.next()
      await reader.leave()
    }
    await rig.gateway.rows(begun + 2)
  }
  let calls = 2
  const third = async () => {
    const response = await rig.post(call(++calls, 'echo'), { session })
    await response.text()
    return response.status
  }

  it('a call of a program keeps its place although its client has left, until the program has answered', async () => {
    await start()
    await callAndLeave()
    expect([await third(), await third()]).to.deep.equal([429, 429])
    process.kill(pid(), 'SIGUSR2')
    await until(async () => (await third()) === 200)
  })

  it('the place is free when the session ends, or the program', async () => {
    await start()
    await callAndLeave()
    expect(await third()).to.equal(429)
    process.kill(pid(), 'SIGKILL')
    await until(async () => (await third()) === 404)
    const response = await rig.post(initialize())
    expect(response.status).to.equal(200)
    await response.text()
  })

  it('the place is free when the call is given up', async () => {
    await start({ server_config: { mcp_security: { call_timeout: '250ms' } } })
    await callAndLeave()
    await until(async () => (await third()) === 200)
    expect(lines().some((line) => line.includes('notifications/cancelled'))).to.equal(true)
  })

  it('a call is not worked on any more that its client has cancelled', async () => {
    await start()
    await callAndLeave()
    await rig.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, { session })
    await until(async () => (await third()) === 200)
  })
})
