import { expect } from 'chai'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'

describe('plugins/listing, as it is shipped', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway()
  })
  after(() => gateway.close())

  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${gateway.key}` } })
    expect(response.status, path).to.equal(200)
    return response.json()
  }

  it('names each protocol that is served with the paths of its pipelines, without aliases', async () => {
    const { data } = (await get('/v1/protocols')) as { data: { protocol: string; paths: readonly string[] }[] }
    const paths = new Map(data.map((entry) => [entry.protocol, entry.paths]))
    expect(paths.get('chat')).to.deep.equal(['/v1/chat/completions'])
    expect(data.filter((entry) => entry.paths.length === 0)).to.deep.equal([])
    expect(data.flatMap((entry) => entry.paths).filter((path) => path.startsWith('/v1/v1/'))).to.deep.equal([])
  })

  it('answers under every alias, and writes one row for each request', async () => {
    const before = (await gateway.rows()).length
    for (const prefix of ['', '/v1', '/v1/v1'])
      for (const path of ['/models', '/models/echo', '/protocols']) await get(prefix + path)
    const refused = await fetch(`${gateway.url}/v1/models`)
    expect(refused.status).to.equal(401)
    const rows = (await gateway.rows()).slice(before)
    expect(rows).to.have.length(10)
    expect(rows.map(({ type }) => type)).to.deep.equal(Array.from({ length: 10 }, () => 'models'))
    const [unauthorized, ...others] = rows.filter(({ status }) => status !== 200)
    expect(others).to.deep.equal([])
    expect(unauthorized).to.include({ status: 401, error: 'invalid_api_key' })
    const served = rows.find(({ status }) => status === 200)
    expect(served).to.include({ result: 'completed', requested: null, model: null, input_tokens: 0 })
  })
})
