import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { keyFor, startAdmin } from '../support/admin.ts'
import { EventReader } from '../support/mcp-events.ts'
import { bothTypes, otherKey, result, speaking, startMcp } from '../support/mcp.ts'
import type { Calling, McpRig } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { call, initialize, program, stdio } from './program.ts'

const full = (most: number, server: string) => ({
  jsonrpc: '2.0',
  id: 0,
  error: {
    code: -32000,
    message: `This API key has ${most} open sessions with the MCP server "${server}". End one with DELETE, or wait until an unused one has ended.`,
  },
})

/** Opens sessions at once: those that are open, and the answers to the others. */
async function opened(rig: Pick<McpRig, 'post'>, count: number, calling: Calling = {}) {
  const answers = await Promise.all(
    Array.from({ length: count }, async () => {
      const response = await rig.post(initialize(), calling)
      return { status: response.status, session: response.headers.get('mcp-session-id'), body: await response.json() }
    }),
  )
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.every(({ status, session }) => status === 429 && session === null)).to.equal(true)
  return { sessions: answers.flatMap(({ session }) => session ?? []), refused: refused.map(({ body }) => body) }
}

describe('mcp/session-limits', function () {
  this.timeout(300_000)

  it('a key has eight sessions with a program at a time, and no other program is started', async () => {
    const counting = stdio('docs', { environment: { SHOW: 'yes' } })
    const rig = await startMcp({}, { records: { mcp_servers: [counting, stdio('quick')] } })
    const started = () => rig.gateway.lines.filter((line) => line.includes('"line":"process ')).length
    const more = () => opened(rig, 3)
    try {
      const { sessions, refused } = await opened(rig, 30)
      expect(sessions.length).to.equal(8)
      expect(refused).to.deep.equal(Array.from({ length: 22 }, () => full(8, 'docs')))
      await until(() => started() >= 8)
      expect(started()).to.equal(8)
      // Another key and another server have places of their own.
      expect((await opened(rig, 1, { key: otherKey })).sessions.length).to.equal(1)
      expect((await opened(rig, 1, { server: 'quick' })).sessions.length).to.equal(1)
      // A place is free when its client ends the session, and when the program ends by itself.
      const [one = '', two = ''] = sessions
      await rig.delete({ session: one })
      expect((await more()).sessions.length).to.equal(1)
      await new EventReader(await rig.post(call(1, 'end', { code: 0 }), { session: two })).rest()
      await until(async () => (await opened(rig, 1)).sessions.length === 1)
      expect((await more()).sessions.length).to.equal(0)
    } finally {
      await rig.close()
    }
  })

  it('a session that could not be opened takes no place', async () => {
    const rig = await startMcp(
      {},
      { records: { mcp_servers: [stdio('docs', { environment: { FAIL: 'yes' }, restarts: 1_000 })] } },
    )
    try {
      for (let times = 0; times < 10; times++) expect((await rig.post(initialize())).status).to.equal(502)
    } finally {
      await rig.close()
    }
  })

  it('a key has 64 sessions with a server over HTTP at a time', async () => {
    const rig = await startMcp()
    try {
      rig.upstream.answer(speaking(({ id }) => result(id)))
      const { sessions, refused } = await opened(rig, 70)
      expect([sessions.length, refused.length]).to.deep.equal([64, 6])
      expect(refused[0]).to.deep.equal(full(64, 'docs'))
      expect(rig.upstream.requests.length).to.equal(64)
      expect((await opened(rig, 1, { server: 'notes' })).sessions.length).to.equal(1)
    } finally {
      await rig.close()
    }
  })

  it('processes that share a store count together, and one that stops gives its places back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-mcp-'))
    const settings = {
      folder,
      records: { mcp_servers: [stdio('docs')] },
      server_config: { mcp_security: { programs_per_key: 3 } },
    }
    const one = await startMcp({}, settings)
    const two = await startMcp({}, settings)
    let isOpen = true
    try {
      const all = await Promise.all([opened(one, 4), opened(two, 4)])
      const [here, there] = all.map(({ sessions }) => sessions.length)
      expect((here ?? 0) + (there ?? 0)).to.equal(3)
      isOpen = false
      await two.close()
      expect((await opened(one, 4)).sessions.length).to.equal(there)
    } finally {
      if (isOpen) await two.close()
      await one.close()
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('a server whose record has changed has free places', async () => {
    const admin = await startAdmin({
      records: { mcp: { allow_stdio: [{ command: process.execPath, arguments: [program], environment: ['MORE'] }] } },
      server_config: { mcp_security: { programs_per_key: 1 } },
    })
    try {
      expect((await admin.asAdmin('POST /api/mcp/servers', stdio('tools'))).status).to.equal(201)
      const key = await keyFor(admin, 'tools')
      const open = async () => (await ask(admin.url, key, 'tools')).status
      expect([await open(), await open()]).to.deep.equal([200, 429])
      const changed = await admin.asAdmin('PATCH /api/mcp/servers/tools', { environment: { MORE: 'more' } })
      expect(changed.status, JSON.stringify(changed.body)).to.equal(200)
      expect([await open(), await open()]).to.deep.equal([200, 429])
    } finally {
      await admin.close()
    }
  })

  it('a key without a list may use every server over HTTP, and no program', async () => {
    const rig = await startMcp()
    const admin = await startAdmin({
      records: { mcp_servers: [stdio('tools'), { name: 'docs', transport: 'http', url: rig.upstream.url }] },
    })
    try {
      rig.upstream.answer(speaking(({ id }) => result(id)))
      const made = await admin.asAdmin('POST /api/api-keys', { name: 'agent' })
      const { id, key } = made.body as { id: string; key: string }
      const statuses = () =>
        Promise.all(['docs', 'tools', 'absent'].map(async (name) => (await ask(admin.url, key, name)).status))
      for (const own of [admin.key, key])
        expect(await (await ask(admin.url, own, 'tools')).text()).to.equal(
          await (await ask(admin.url, own, 'absent')).text(),
        )
      expect(await statuses()).to.deep.equal([200, 404, 404])
      await admin.asAdmin(`PATCH /api/api-keys/${id}`, { mcp_servers: ['tools'] })
      expect(await statuses()).to.deep.equal([404, 200, 404])
    } finally {
      await admin.close()
      await rig.close()
    }
  })
})

function ask(url: string, key: string, server: string): Promise<Response> {
  return fetch(`${url}/servers/${server}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, accept: bothTypes, 'content-type': 'application/json' },
    body: JSON.stringify(initialize()),
  })
}
