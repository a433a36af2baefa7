import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { asText } from '../../../engine/kit.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway, AdminAnswer, SignedIn } from '../../support/admin.ts'
import { postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'

const path = '/api/api-keys'

const models = [
  { name: 'small', provider: 'echo', aliases: ['s'] },
  { name: 'large', provider: 'echo' },
]
const declared = [
  { name: 'tool', key: 'sk-tool-0123456789abcdef', tags: { team: 'red' }, models: ['large'] },
  { name: 'unset', key: '${NO_SUCH_KEY}' },
]

/** Keys that every test of the list knows, oldest first. */
const fields: readonly JsonObject[] = [
  { name: 'bravo', tags: { team: 'red' }, budget: { usd: 5 } },
  { name: 'Alpha', tags: { team: 'blue', env: 'a:b' }, models: ['small'] },
  { name: 'charlie', disabled: true, models: [] },
]

function namesIn({ body }: AdminAnswer): readonly unknown[] {
  return (body['data'] as readonly JsonObject[]).map(({ name }) => name)
}

function contract(database: () => string | undefined): void {
  let gateway: AdminGateway
  let member: SignedIn
  before(async function () {
    this.timeout(300_000)
    const url = database()
    gateway = await startAdmin({ models, api_keys: declared, ...(url !== undefined && { database: url }) })
    member = await gateway.addMember({ models: '["large"]' })
    for (const one of [...fields, { name: 'delta', owner: member.id }]) {
      const { body } = await gateway.asAdmin(`POST ${path}`, one)
      // Keys of one millisecond would stand in any order.
      await until(() => Date.now() > Date.parse(asText(body['created_at'])))
    }
  })
  after(() => gateway.close())

  const list = async (query = '') => namesIn(await gateway.asAdmin(`GET ${path}?${query}`))

  it('shows the youngest first, and those of the file last', async () => {
    const answer = await gateway.asAdmin(`GET ${path}`)
    expect(answer.status).to.equal(200)
    expect(answer.body).to.have.all.keys('data', 'next_cursor').and.to.include({ next_cursor: null })
    const [first] = answer.body['data'] as readonly JsonObject[]
    expect(first).to.have.all.keys(
      'id',
      'name',
      'hint',
      'owner',
      'models',
      'budget',
      'rate_limit',
      'mcp_servers',
      'tags',
      'expires_at',
      'disabled',
      'state',
      'source',
      'created_at',
      'created_by',
      'updated_at',
      'last_used_at',
      'rotated_at',
      'version',
    )
    expect(namesIn(answer)).to.deep.equal(['delta', 'charlie', 'Alpha', 'bravo', 'unset', 'tool', 'test'])
  })

  const filtered: readonly (readonly [query: string, names: readonly string[]])[] = [
    ['state=disabled', ['charlie']],
    ['state=off&state=disabled', ['charlie', 'unset']],
    ['source=file', ['test', 'tool', 'unset']],
    ['source=database&state=active', ['Alpha', 'bravo', 'delta']],
    ['tag=team:red', ['bravo', 'tool']],
    ['tag=env:a:b', ['Alpha']],
    ['tag=team:red&tag=team:blue', ['Alpha', 'bravo', 'tool']],
    ['search=ALPH', ['Alpha']],
    ['search=cdef', ['test', 'tool']],
    ['model=s', ['Alpha', 'bravo', 'test', 'unset']],
    ['model=large', ['bravo', 'delta', 'test', 'tool', 'unset']],
    ['owner=nobody', []],
  ]
  for (const [query, names] of filtered)
    it(`shows those that fit ${query}`, async () => {
      expect(await list(`sort=name&${query}`)).to.deep.equal(names)
    })

  it('shows those of an owner', async () => {
    expect(await list(`owner=${member.id}`)).to.deep.equal(['delta'])
  })

  for (const [query, code, param] of [
    ['colour=red', 'unknown_field', 'colour'],
    ['state=gone', 'invalid_field', 'state'],
    ['source=default', 'invalid_field', 'source'],
    ['tag=red', 'invalid_field', 'tag'],
    ['sort=hint', 'invalid_field', 'sort'],
    ['limit=0', 'invalid_field', 'limit'],
    ['limit=201', 'invalid_field', 'limit'],
    ['cursor=abc', 'invalid_cursor', 'cursor'],
  ] as const)
    it(`refuses ${query}: ${code}`, async () => {
      const answer = await gateway.asAdmin(`GET ${path}?${query}`)
      expect([answer.status, answer.code, answer.param]).to.deep.equal([422, code, param])
    })

  it('goes through all pages in every order', async () => {
    for (const sort of [
      'name',
      '-name',
      'created_at',
      '-created_at',
      'last_used_at',
      '-last_used_at',
      'spent',
      '-spent',
    ]) {
      const whole = await list(`sort=${sort}`)
      const pages: unknown[] = []
      let cursor: unknown = ''
      while (cursor !== null) {
        const query = `sort=${sort}&limit=3${cursor === '' ? '' : `&cursor=${asText(cursor)}`}`
        const answer = await gateway.asAdmin(`GET ${path}?${query}`)
        pages.push(...namesIn(answer))
        cursor = answer.body['next_cursor']
      }
      expect(pages, sort).to.deep.equal(whole).and.to.have.length(7)
    }
    const { body } = await gateway.asAdmin(`GET ${path}?sort=name&limit=1`)
    const other = await gateway.asAdmin(`GET ${path}?sort=-name&limit=1&cursor=${asText(body['next_cursor'])}`)
    expect([other.status, other.code]).to.deep.equal([422, 'invalid_cursor'])
  })

  it('sorts by last use', async () => {
    await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': gateway.key } })
    await until(async () => (await list('sort=-last_used_at'))[0] === 'test')
    const used = await tablesOf(gateway.engine.database).selectFrom('api_keys_used').select('id').execute()
    expect(used).to.deep.equal([{ id: 'file:test' }])
  })

  it('shows a viewer the keys he owns, and whose limits bind them', async () => {
    const answer = await member.ask(`GET ${path}`)
    expect(namesIn(answer)).to.deep.equal(['delta'])
    expect((answer.body['data'] as readonly JsonObject[])[0]?.['owner']).to.deep.equal({
      id: member.id,
      username: member.username,
    })
    expect(namesIn(await gateway.asViewer(`GET ${path}`))).to.deep.equal([])
    expect(namesIn(await gateway.asViewer(`GET ${path}?owner=${member.id}`))).to.deep.equal([])
    expect((await gateway.asNobody(`GET ${path}`)).status).to.equal(401)
  })
}

describe('the list of API keys', () => {
  describe('on SQLite', () => contract(() => undefined))

  describe('on PostgreSQL', () => {
    let url = ''
    before(async function () {
      url = (await postgres(this)).url
    })
    contract(() => url)
  })
})
