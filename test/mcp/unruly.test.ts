import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { keyFor, startAdmin } from '../support/admin.ts'
import { EventReader } from '../support/mcp-events.ts'
import { bothTypes, startMcp } from '../support/mcp.ts'
import type { Calling, McpRig, Rpc } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { call, initialize, isAlive, opened, program, stdio } from './program.ts'

describe('mcp: programs that do what they should not', function () {
  this.timeout(300_000)
  let rig: McpRig

  before(async () => {
    rig = await startMcp(
      {},
      {
        records: {
          mcp_servers: [
            stdio('docs'),
            stdio('quick', { call_timeout: '250ms', environment: { TELL: 'yes' } }),
            stdio('shared', { shared: true, environment: { TELL: 'yes' } }),
            stdio('long', { environment: { SHOW: 'yes', INSTRUCTIONS: 'x'.repeat(8_192) } }),
          ],
        },
        server_config: { mcp_security: { max_answer_bytes: 8_192 } },
      },
    )
  })
  after(() => rig.close())
  const begun: Calling[] = []
  afterEach(async () => {
    for (const session of begun.splice(0)) await rig.delete(session)
  })

  const begin = async (server: string): Promise<Calling> => {
    const calling = { server, session: await opened(rig, server) }
    begun.push(calling)
    return calling
  }
  const answer = async (message: Rpc, calling: Calling) => {
    const messages = await new EventReader(await rig.post(message, calling)).rest()
    return messages.at(-1)
  }
  const logged = () => rig.gateway.lines.map((line) => JSON.parse(line) as Rpc)
  /** The messages that a program has got. */
  const got = (server: string) =>
    logged().flatMap(({ line, mcp_server: name }) =>
      name === server && String(line).startsWith('got ') ? [JSON.parse(String(line).slice(4)) as Rpc] : [],
    )
  const cancelled = (server: string) => got(server).filter(({ method }) => method === 'notifications/cancelled')

  it('what is no message is logged a hundred times a second at most', async () => {
    const session = await begin('docs')
    expect(await answer(call(1, 'garbage', { lines: 5_000 }), session)).to.include.keys('result')
    const lines = logged().filter(({ line }) => line === 'no message')
    // The second may end meanwhile.
    expect(lines.length).to.be.within(100, 200)
    expect(logged().some(({ msg }) => String(msg).includes('writes too much'))).to.equal(true)
  })

  it('a program whose first answer is too long is ended', async () => {
    const response = await rig.post(initialize(), { server: 'long' })
    expect([response.status, response.headers.get('mcp-session-id')]).to.deep.equal([502, null])
    await until(() => logged().some(({ line }) => String(line).startsWith('process ')))
    const [pid] = logged().flatMap(({ line }) => /^process (\d+)$/.exec(String(line))?.[1] ?? [])
    await until(() => !isAlive(Number(pid)))
  })

  it('a call that is given up is cancelled, and its error can be had by a client that comes back', async () => {
    const session = await begin('quick')
    const events: Record<string, string | undefined>[] = []
    const reader = new EventReader(await rig.post(call(7, 'wait'), session))
    for (let event = await reader.next(); event; event = await reader.next()) events.push({ ...event })
    const [primer, last] = events
    const { error } = JSON.parse(last?.['data'] ?? '') as { readonly error: Rpc }
    expect(error).to.deep.equal({ code: -32603, message: 'The MCP server "quick" did not answer in time.' })
    await until(() => cancelled('quick').length > 0)
    expect(cancelled('quick')[0]).to.deep.include({ params: { requestId: 7, reason: error['message'] } })
    const headers = { 'last-event-id': primer?.['id'] ?? '' }
    expect(await new EventReader(await rig.get({ ...session, headers })).rest()).to.deep.equal([
      { jsonrpc: '2.0', id: 7, error },
    ])
  })

  it('a call whose client has left is given up, too', async () => {
    const session = await begin('quick')
    const reader = new EventReader(await rig.post(call('left', 'wait'), session))
    await reader.next()
    await reader.leave()
    await until(() => cancelled('quick').some(({ params }) => (params as Rpc)['requestId'] === 'left'))
  })

  it('the calls of a session with a shared program are cancelled when it ends', async () => {
    const [leaving, staying] = [await begin('shared'), await begin('shared')]
    const reader = new EventReader(await rig.post(call(1, 'wait'), leaving))
    await reader.next()
    await until(() => got('shared').some(({ method }) => method === 'tools/call'))
    const { id } = got('shared').find(({ method }) => method === 'tools/call') ?? {}
    expect((await rig.delete(leaving)).status).to.equal(200)
    await until(() => cancelled('shared').length > 0)
    expect(cancelled('shared').map(({ params }) => params)).to.deep.equal([{ requestId: id }])
    await rig.delete(staying)
  })
})

describe('mcp: programs that the file allows no more', () => {
  it('end with the reload, and are not started again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-mcp-'))
    const admin = await startAdmin({
      folder,
      records: { mcp: { allow_stdio: [{ command: process.execPath, arguments: [program] }] } },
    })
    let key = ''
    const post = (message: Rpc, session?: string) =>
      fetch(`${admin.url}/servers/tools/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          accept: bothTypes,
          'content-type': 'application/json',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify(message),
      })
    const reload = async (from: string, to: string) => {
      const file = join(folder, 'sluice.yaml')
      const text = await readFile(file, 'utf8')
      expect(text).to.include(from)
      await writeFile(file, text.replace(from, to))
      expect(await admin.engine.live.reload()).to.deep.equal([])
    }
    try {
      expect((await admin.asAdmin('POST /api/mcp/servers', stdio('tools'))).status).to.equal(201)
      key = await keyFor(admin, 'tools')
      const session = (await post(initialize())).headers.get('mcp-session-id') ?? ''
      const facts = (await new EventReader(await post(call(1, 'facts'), session)).message()) as Rpc
      const pid = Number(/\\"pid\\":(\d+)/.exec(JSON.stringify(facts))?.[1])
      expect(isAlive(pid)).to.equal(true)
      await reload(process.execPath, '/bin/another')
      await until(() => !isAlive(pid))
      expect((await post(call(2, 'facts'), session)).status).to.equal(404)
      const refused = await post(initialize())
      expect([refused.status, await refused.json()]).to.deep.equal([
        502,
        {
          jsonrpc: '2.0',
          id: 0,
          error: {
            code: -32603,
            message: 'The MCP server "tools" is gone: mcp.allow_stdio does not allow its command.',
          },
        },
      ])
      const { body } = await admin.asAdmin('GET /api/mcp/servers/tools/status?probe=true')
      expect(body).to.deep.include({ state: 'failed', sessions: 0 })
      await reload('/bin/another', process.execPath)
      expect((await post(initialize())).status).to.equal(200)
    } finally {
      await admin.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
