import { join } from 'node:path'
import { expect } from 'chai'
import { startServe } from '../engine/cli/process.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import { freePort } from '../support/free-port.ts'
import { bothTypes, rawRequest } from '../support/mcp.ts'
import type { Rpc } from '../support/mcp.ts'
import { until } from '../support/until.ts'

const program = join(import.meta.dirname, 'programs', 'tools.mjs')
const key = 'sk-test-0123456789abcdef0123456789abcdef'

describe('mcp/processes', function () {
  this.timeout(300_000)

  it('a session of a program is served by every process of the gateway', async () => {
    const here = await sandbox({})
    const port = await freePort()
    const settings = {
      listen: { port, workers: 2 },
      shutdown: { notice: '0s' },
      database: { url: `sqlite:${here.folder}/sluice.db` },
      providers: [{ name: 'echo', type: 'echo' }],
      models: [{ name: 'echo', provider: 'echo' }],
      api_keys: [{ name: 'test', key, mcp_servers: ['tools'] }],
      mcp_servers: [{ name: 'tools', transport: 'stdio', command: process.execPath, arguments: [program] }],
    }
    await here.write('config/sluice.yaml', JSON.stringify(settings))
    const serving = startServe(here.folder)
    /** Each request has a connection of its own; the processes take connections in turn. */
    const ask = (method: string, session?: string, message?: Rpc) =>
      rawRequest(
        `http://127.0.0.1:${port}/servers/tools/mcp`,
        method,
        {
          authorization: `Bearer ${key}`,
          accept: bothTypes,
          'content-type': 'application/json',
          connection: 'close',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        message && JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      )
    const facts = { method: 'tools/call', params: { name: 'facts', arguments: {} } }
    try {
      const live = () => serving.error.filter((line) => line.includes('the configuration is live')).length
      await serving.until(() => live() === 2)
      const clientInfo = { name: 'c', version: '1' }
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
      const opened = await ask('POST', undefined, { method: 'initialize', params })
      expect([opened.status, opened.text]).to.deep.include(200)
      const session = String(opened.headers['mcp-session-id'])
      const pids = new Set<number>()
      for (let count = 0; count < 6; count++) {
        const { status, text } = await ask('POST', session, facts)
        expect(status, text).to.equal(200)
        const [, pid] = /\\"pid\\":(\d+)/.exec(text) ?? []
        pids.add(Number(pid))
      }
      expect([...pids])
        .to.have.length(1)
        .and.to.not.include(Number.NaN)
      expect((await ask('DELETE', session)).status).to.equal(200)
      for (let count = 0; count < 4; count++) expect((await ask('POST', session, facts)).status).to.equal(404)
      await until(() => [...pids].every((pid) => !isAlive(pid)))
    } finally {
      serving.interrupt('SIGTERM')
      await serving.ended
      await serving.remove()
      await here.remove()
    }
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
