import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway, SignedIn } from '../../support/admin.ts'

const program = join(import.meta.dirname, '../../mcp/programs/tools.mjs')
const stdio = { transport: 'stdio', command: process.execPath, arguments: [program] }
const http = { transport: 'http', url: 'http://127.0.0.1:9/mcp', allow_private: true }
const path = '/api/me/api-keys'

describe('admin/api-keys: programs', () => {
  let gateway: AdminGateway
  let member: SignedIn
  before(async () => {
    gateway = await startAdmin({
      server_config: { security: { self_service_keys: true } },
      records: {
        mcp: { allow_stdio: [{ command: process.execPath, arguments: [program] }] },
        mcp_servers: [
          { name: 'tools', ...stdio },
          { name: 'others', ...stdio },
          { name: 'docs', ...http },
        ],
      },
    })
    member = await gateway.addMember()
  })
  after(() => gateway.close())

  let made = 0
  const create = async (fields: JsonObject = {}, by: 'admin' | 'owner' = 'admin') => {
    made += 1
    const body = { name: `key-${made}`, ...fields }
    const { body: key } =
      by === 'owner'
        ? await member.ask(`POST ${path}`, body)
        : await gateway.asAdmin('POST /api/api-keys', { ...body, owner: member.id })
    return key as { readonly id: string; readonly key: string }
  }
  const change = async (id: string, fields: JsonObject) => {
    const { status, code, param } = await member.ask(`PATCH ${path}/${id}`, fields)
    return status === 200 ? '200' : `${status} ${String(code)} ${String(param)}`
  }
  const refused = (at: number) => `422 outside_own_limits mcp_servers[${at}]`
  /** The status of `initialize`. */
  const reach = async (key: string, server = 'tools') => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    const response = await fetch(`${gateway.url}/servers/${server}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    })
    await response.text()
    return response.status
  }

  it('are not given to a key by its owner where an admin left the servers open', async () => {
    const { id, key } = await create()
    expect(await change(id, { mcp_servers: ['docs', 'tools'] })).to.equal(refused(1))
    expect(await change(id, { mcp_servers: ['docs'] })).to.equal('200')
    expect(await change(id, { mcp_servers: ['tools'] })).to.equal(refused(0))
    expect(await reach(key)).to.equal(404)
  })

  it('are not given to a key by the member who makes it', async () => {
    const { status, code, param } = await member.ask(`POST ${path}`, { name: 'mine', mcp_servers: ['docs', 'tools'] })
    expect([status, code, param].join(' ')).to.equal(refused(1))
    const { id } = await create({ mcp_servers: ['docs'] }, 'owner')
    expect(await change(id, { mcp_servers: ['tools'] })).to.equal(refused(0))
    expect(await change(id, { mcp_servers: null })).to.equal('200')
    expect(await change(id, { mcp_servers: ['tools'] })).to.equal(refused(0))
  })

  for (const by of ['admin', 'owner'] as const)
    it(`are given by an admin, by name, to a key that an ${by} made`, async () => {
      const { id, key } = await create({}, by)
      const given = await gateway.asAdmin(`PATCH /api/api-keys/${id}`, { mcp_servers: ['docs', 'tools'] })
      expect(given.status).to.equal(200)
      expect(await change(id, { mcp_servers: ['tools'] })).to.equal('200')
      expect(await reach(key)).to.equal(200)
      expect(await change(id, { mcp_servers: ['others'] })).to.equal(refused(0))
      expect(await change(id, { mcp_servers: [] })).to.equal('200')
      expect(await reach(key)).to.equal(404)
      expect(await change(id, { mcp_servers: ['docs', 'tools'] })).to.equal('200')
    })

  it('are not reached by the name that a member gave a key when it was a server over HTTP', async () => {
    const stored = await gateway.asAdmin('POST /api/mcp/servers', { name: 'moved', ...http })
    expect(stored.status, JSON.stringify(stored.body)).to.equal(201)
    const { key } = await create({ mcp_servers: ['moved'] }, 'owner')
    const named = await create({ mcp_servers: ['moved'] })
    const moved = await gateway.asAdmin('PATCH /api/mcp/servers/moved', { ...stdio, url: null, allow_private: null })
    expect(moved.status, JSON.stringify(moved.body)).to.equal(200)
    expect(await reach(key, 'moved')).to.equal(404)
    expect(await reach(named.key, 'moved')).to.equal(200)
  })
})
