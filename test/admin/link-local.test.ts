import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { bothTypes } from '../support/mcp.ts'
import { sandbox } from '../engine/cli/sandbox.ts'

const hosts = ['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', '168.63.129.16', '100.100.100.200']
const kinds = [
  {
    route: '/api/config/providers',
    param: 'config.base_url',
    record: (url: string): JsonObject => ({ name: 'near', type: 'compatible', config: { base_url: url } }),
  },
  {
    route: '/api/mcp/servers',
    param: 'url',
    record: (url: string): JsonObject => ({ name: 'near', transport: 'http', url }),
  },
]
/** No address is asked for here: the port is one to which no connection is made. */
const far = 'http://169.254.169.254:9/v1'

describe('admin/link-local', () => {
  let gateway: AdminGateway

  before(async () => {
    gateway = await startAdmin({
      providers: [{ name: 'far', type: 'compatible', base_url: far, timeouts: { connect: '1h' } }],
      models: [{ name: 'm', provider: 'far' }],
      records: { mcp_servers: [{ name: 'docs', transport: 'http', url: `${far}/mcp` }] },
    })
  })
  after(() => gateway.close())

  for (const { route, param, record } of kinds)
    it(`${route}: nothing that is made at run time is there, whatever it allows`, async () => {
      for (const host of [...hosts, '[fd00:ec2::254]'])
        for (const more of [{}, { allow_private: true }]) {
          const {
            status,
            code,
            param: place,
            body,
          } = await gateway.asAdmin(`POST ${route}`, {
            ...record(`http://${host}/v1`),
            ...more,
          })
          expect([status, code, place], host).to.deep.equal([422, 'private_address', param])
          expect(JSON.stringify(body)).to.include('only the configuration file can allow it')
        }
      const own = { ...record('http://127.0.0.1:9/v1'), allow_private: true }
      const asked = await gateway.asAdmin(`POST ${route}`, { ...own, allow_link_local: true })
      expect([asked.status, asked.code, asked.param]).to.deep.equal([422, 'invalid_field', 'allow_link_local'])
      expect((await gateway.asAdmin(`POST ${route}`, own)).status).to.equal(201)
      const moved = await gateway.asAdmin(`PATCH ${route}/near`, record(far))
      expect([moved.status, moved.code, moved.param]).to.deep.equal([422, 'private_address', param])
    })

  it('what the file declares is not connected to without allow_link_local', async () => {
    const chat = await gateway.asKey('POST /v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect([chat.status, chat.code]).to.deep.equal([502, 'upstream_unreachable'])
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    const call = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
    const opened = await gateway.asKey('POST /servers/docs/mcp', call, { accept: bothTypes })
    expect(opened.status).to.equal(502)
  })

  it('check tells what the file declares there, unless it is allowed', async () => {
    const here = await sandbox({
      'config/sluice.yaml': [
        'providers:',
        `  - { name: far, type: compatible, base_url: "${far}" }`,
        `  - { name: allowed, type: compatible, base_url: "${far}", allow_link_local: true }`,
        'models: [{ name: m, provider: far }, { name: n, provider: allowed }]',
        'mcp_servers:',
        `  - { name: docs, transport: http, url: "${far}/mcp" }`,
        `  - { name: seen, transport: http, url: "${far}/mcp", allow_link_local: true }`,
      ].join('\n'),
    })
    try {
      const { out } = await here.run('check')
      expect(out.filter((line) => line.includes('[link-local]')).map((line) => line.split(': ')[0])).to.have.members([
        'config/sluice.yaml:2:5',
        'config/sluice.yaml:6:41',
      ])
    } finally {
      await here.remove()
    }
  })
})
