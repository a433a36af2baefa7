import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import { OwnAddresses } from '../../plugins/mcp/own-addresses.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import { bothTypes, events, result, speaking, startMcp } from '../support/mcp.ts'
import type { Rpc } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import { stdio } from './program.ts'

const call: Rpc = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'search' } }

describe('mcp/access', () => {
  it('the address that clients are told is the own one', () => {
    const settings = { allowed_hosts: [], allowed_origins: [] }
    const proxied = new OwnAddresses({ host: '0.0.0.0', port: 8080, url: 'https://Gateway.example/' }, settings)
    expect(proxied.admitsHost('gateway.example')).to.equal(false)
    expect(proxied.admitsHost('gateway.example:443')).to.equal(true)
    expect(proxied.admitsOrigin('https://gateway.example')).to.equal(true)
    expect(proxied.admitsOrigin('http://gateway.example')).to.equal(false)
    expect(proxied.admitsHost('10.0.0.1:8080')).to.equal(false)
    const named = new OwnAddresses({ host: 'box.example', port: 80 }, settings)
    expect(named.admitsHost('box.example')).to.equal(true)
    expect(named.admitsHost('box.example:81')).to.equal(false)
    const six = new OwnAddresses({ host: '2001:db8::1', port: 8080 }, settings)
    expect(six.admitsHost('[2001:db8::1]:8080')).to.equal(true)
    expect(new OwnAddresses({ host: '::', port: 8080 }, settings).admitsHost('127.0.0.1:8080')).to.equal(true)
  })

  it('every process serves a session, and hears of its end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-mcp-'))
    const one = await startMcp({}, { folder })
    const two = await startMcp({}, { folder, upstream: one.upstream })
    try {
      one.upstream.answer(speaking(({ id }) => result(id)))
      const session = await one.open()
      expect((await two.post(call, { session })).status).to.equal(200)
      expect((await one.upstream.received(2)).headers['mcp-session-id']).to.equal('upstream-1')
      expect((await two.delete({ session })).status).to.equal(200)
      expect((await one.post(call, { session })).status).to.equal(404)
    } finally {
      await two.gateway.close()
      await one.close()
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('credentials that a server quotes in an error are hidden', async () => {
    const rig = await startMcp({ headers: { authorization: 'Bearer very-secret-token' } })
    try {
      rig.upstream.answer(speaking(({ id }) => result(id)))
      const session = await rig.open()
      for (const type of ['text/plain', 'application/json']) {
        rig.upstream.answer({ status: 500, headers: { 'content-type': type }, body: '"you sent very-secret-token"' })
        const response = await rig.post(call, { session })
        expect([response.status, response.headers.get('content-type')]).to.deep.equal([500, type])
        expect(await response.text())
          .to.include('you sent')
          .and.to.not.include('very-secret-token')
      }
    } finally {
      await rig.close()
    }
  })

  it('headers of clients that hold credentials cannot be forwarded', async () => {
    const admin = await startAdmin()
    try {
      const set = (names: string[]) =>
        admin.asAdmin('PATCH /api/config/server/mcp_security', { forward_headers: names })
      for (const name of ['Authorization', 'cookie', 'X-Api-Key', 'host', 'mcp-session-id', 'content-length'])
        expect(await set(['x-trace', name]), name).to.include({ status: 422, param: 'forward_headers[1]' })
      expect(await set(['x-trace'])).to.include({ status: 200 })
    } finally {
      await admin.close()
    }
  })

  it('a server that is made at run time is served at once', async () => {
    const upstream = await scriptedUpstream()
    upstream.answer(speaking(({ id }) => result(id)))
    const admin = await startAdmin()
    try {
      const open = (name: string) =>
        fetch(`${admin.url}/servers/${name}/mcp`, {
          method: 'POST',
          headers: { authorization: `Bearer ${admin.key}`, accept: bothTypes, 'content-type': 'application/json' },
          body: JSON.stringify({ ...call, method: 'initialize' }),
        })
      const fields = { name: 'made', transport: 'http', url: `${upstream.url}/mcp`, allow_private: true }
      expect((await admin.asAdmin('POST /api/mcp/servers', fields)).status).to.equal(201)
      const opened = await open('made')
      expect(opened.status).to.equal(200)
      await admin.asAdmin('PATCH /api/mcp/servers/made', { enabled: false })
      expect((await open('made')).status).to.equal(404)
      const asked = upstream.requests.length
      const hidden = { name: 'hidden', transport: 'http', url: 'http://gateway.invalid:1/mcp' }
      expect((await admin.asAdmin('POST /api/mcp/servers', hidden)).status).to.equal(201)
      expect((await open('hidden')).status).to.equal(502)
      expect(upstream.requests.length).to.equal(asked)
    } finally {
      await admin.close()
      await upstream.close()
    }
  })
})

describe('mcp/names', () => {
  it('a server that a key names and that is not there is found by a check', async () => {
    const here = await sandbox({
      'config/sluice.yaml': [
        'mcp_servers: [{ name: docs, transport: http, url: "http://127.0.0.1:9/mcp" }]',
        'api_keys: [{ name: a, key: sk-a-key-of-enough-letters, mcp_servers: [docs, docz] }]',
        'providers: [{ name: echo, type: echo }]',
        'models: [{ name: echo, provider: echo }]',
      ].join('\n'),
    })
    try {
      const { status, out } = await here.run('check')
      expect([status, out]).to.deep.equal([
        1,
        ['config/sluice.yaml:2:76: no mcp_server named "docz"; did you mean "docs"? [unknown-mcp_server]'],
      ])
    } finally {
      await here.remove()
    }
  })
})

describe('mcp/forbidden', () => {
  it('a session ends, with its process, when its key is switched off', async () => {
    const admin = await startAdmin({
      records: {
        mcp_servers: [stdio('tools')],
      },
    })
    try {
      const made = await admin.asAdmin('POST /api/api-keys', { name: 'agent', mcp_servers: ['tools'] })
      const { id, key } = made.body as { id: string; key: string }
      const headers = { authorization: `Bearer ${key}`, accept: bothTypes, 'content-type': 'application/json' }
      const ask = (message: Rpc, session?: string) =>
        fetch(`${admin.url}/servers/tools/mcp`, {
          method: 'POST',
          headers: { ...headers, ...(session === undefined ? {} : { 'mcp-session-id': session }) },
          body: JSON.stringify({ ...call, ...message }),
        })
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
      const session = (await ask({ method: 'initialize', params })).headers.get('mcp-session-id') ?? ''
      const facts = await (await ask({ params: { name: 'facts' } }, session)).text()
      const pid = Number(/\\"pid\\":(\d+)/.exec(facts)?.[1])
      const isAlive = () => {
        try {
          return process.kill(pid, 0)
        } catch {
          return false
        }
      }
      expect(isAlive()).to.equal(true)
      await admin.asAdmin(`PATCH /api/api-keys/${id}`, { disabled: true })
      await until(() => !isAlive())
      await admin.asAdmin(`PATCH /api/api-keys/${id}`, { disabled: false })
      expect((await ask({ params: { name: 'facts' } }, session)).status).to.equal(404)
    } finally {
      await admin.close()
    }
  })

  it('a stream ends when its client may not use the server any more', async () => {
    const upstream = await scriptedUpstream()
    const admin = await startAdmin({
      records: { mcp_servers: [{ name: 'docs', transport: 'http', url: `${upstream.url}/mcp` }] },
    })
    try {
      const made = await admin.asAdmin('POST /api/api-keys', { name: 'agent' })
      const { id, key } = made.body as { id: string; key: string }
      const headers = { authorization: `Bearer ${key}`, accept: bothTypes, 'content-type': 'application/json' }
      const url = `${admin.url}/servers/docs/mcp`
      upstream.answer(
        speaking(({ id: asked }) => result(asked)),
        events([': a\n\n'], 'hang'),
      )
      const body = JSON.stringify({ ...call, method: 'initialize' })
      const session = (await fetch(url, { method: 'POST', headers, body })).headers.get('mcp-session-id') ?? ''
      const stream = await fetch(url, { headers: { ...headers, 'mcp-session-id': session } })
      expect(stream.status).to.equal(200)
      await admin.asAdmin(`PATCH /api/api-keys/${id}`, { mcp_servers: [] })
      expect(await stream.text()).to.equal(': a\n\n')
      await upstream.closed()
    } finally {
      await admin.close()
      await upstream.close()
    }
  })
})
