import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'

const tab = '\t'

describe('admin/csv', () => {
  let gateway: AdminGateway
  before(async () => (gateway = await startAdmin()))
  after(() => gateway.close())

  const asked = async (path: string, { accept = 'text/csv', as = gateway.admin, method = 'GET' } = {}) => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { accept, authorization: `Bearer ${as.token}` },
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  it('gives every list and usage route, with the type and the headers of the interface', async () => {
    const lists = [
      '/api/api-keys',
      '/api/api-keys/spend-summary',
      '/api/logs',
      '/api/logs/usage',
      '/api/logs/series',
      '/api/logs/audit',
      '/api/team/members',
      '/api/config/models',
      '/api/config/providers',
      '/api/config/server',
      '/api/mcp/servers',
      '/api/catalog/models',
      '/api/routing/decisions',
      '/api/routing/experience',
    ]
    for (const path of lists) {
      const { status, headers, text } = await asked(path)
      expect(status, `${path}: ${text}`).to.equal(200)
      expect(headers.get('content-type'), path).to.equal('text/csv; charset=utf-8; header=present')
      expect(headers.get('cache-control'), path).to.equal('no-store')
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff')
      expect(text, path).to.match(/^(?:[^]*\r\n)?$/)
    }
  })

  it('has a line of names, a column for each member of an object, and quotes (RFC 4180)', async () => {
    const member = await gateway.addMember({ username: 'ann' })
    const made = await gateway.asAdmin('POST /api/api-keys', {
      name: 'a-"quoted",name',
      owner: member.id,
      tags: { team: 'search' },
      models: null,
    })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const { text } = await asked('/api/api-keys?search=quoted')
    const [names = '', row = '', ...rest] = text.split('\r\n')
    expect(rest).to.deep.equal([''])
    expect(names.split(',')).to.include.members(['id', 'name', 'owner.id', 'owner.username', 'models', 'tags.team'])
    expect(names.split(',')).not.to.include('owner')
    expect(row).to.include('"a-""quoted"",name"').and.to.include(`,${member.id},ann,`)
  })

  it('has no cell that a spreadsheet would run', async () => {
    const starts = ['=1+1', '+1', '-1', '@sum', `${tab}=1`, '\r=1', '\n=1']
    const { status, body } = await gateway.asAdmin('POST /api/api-keys', {
      name: 'formulas',
      tags: Object.fromEntries(
        starts.map((value, index) => [`t${index}`, value]).filter(([, value]) => /^[ -~]+$/.test(`${value}`)),
      ),
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    const { text } = await asked('/api/api-keys?search=formulas')
    expect(text.split('\r\n')[1]).to.include("'=1+1,'+1,'-1,'@sum")
    expect(text).not.to.match(/[,\n]"?[=+\-@\t]/)
  })

  it('is cut into the same pages as JSON, with the cursor of the next page in a header', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await gateway.asAdmin('POST /api/api-keys', { name })
    const page = (cursor: string) => asked(`/api/api-keys?search=page-&sort=name&limit=2${cursor}`)
    const first = await page('')
    expect(first.text.split('\r\n')).to.have.length(4)
    const cursor = first.headers.get('x-next-cursor')
    expect(cursor).to.be.a('string')
    const second = await page(`&cursor=${cursor}`)
    expect(second.text).to.include('page-3').and.not.to.include('page-2')
    expect(second.headers.get('x-next-cursor')).to.equal(null)
    expect((await asked('/api/api-keys?limit=201')).status).to.equal(422)
  })

  it('is for clients that name it and want nothing else more', async () => {
    const typeFor = async (accept: string) => (await asked('/api/api-keys', { accept })).headers.get('content-type')
    for (const accept of ['text/csv', 'TEXT/CSV; q=0.9, application/json;q=0.5', 'text/csv, */*;q=0.1'])
      expect(await typeFor(accept), accept).to.match(/^text\/csv;/)
    for (const accept of ['*/*', 'text/*', 'application/json, text/csv;q=0.5', 'text/csv;q=0', 'application/json'])
      expect(await typeFor(accept), accept).to.equal('application/json; charset=utf-8')
  })

  it('leaves errors, single records and writes as JSON, and shows nobody more than JSON does', async () => {
    const nothing = await asked('/api/api-keys/none')
    expect([nothing.status, nothing.headers.get('content-type')]).to.deep.equal([
      404,
      'application/json; charset=utf-8',
    ])
    const single = await asked('/api/logs/stats')
    expect(single.headers.get('content-type')).to.equal('application/json; charset=utf-8')
    const refused = await asked('/api/config/providers', { as: gateway.viewer })
    expect([refused.status, refused.headers.get('content-type')]).to.deep.equal([
      403,
      'application/json; charset=utf-8',
    ])
    const head = await asked('/api/api-keys', { method: 'HEAD' })
    expect([head.text, head.headers.get('content-type')]).to.deep.equal(['', 'text/csv; charset=utf-8; header=present'])
    const own = await asked('/api/api-keys', { as: gateway.viewer })
    expect([own.status, own.text]).to.deep.equal([200, ''])
  })
})
