import { expect } from 'chai'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'

describe('GET /api/catalog/models', function () {
  this.timeout(0)
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin({
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'away', type: 'compatible', base_url: 'http://127.0.0.1:9', api_key: '${NOT_SET}' },
      ],
      models: [
        {
          name: 'small',
          provider: 'echo',
          display_name: 'Small',
          description: 'For drafts.',
          aliases: ['tiny'],
          context_length: 1000,
          max_output_tokens: 100,
          quality_tier: 'standard',
          supports_images: true,
          pricing: { input: 1.5, output: 3 },
        },
        { name: 'large', provider: 'away' },
        { name: 'hidden', provider: 'echo', enabled: false },
        { name: 'wild-*', provider: 'echo' },
      ],
    })
  })
  after(() => gateway.close())

  const plain = { display_name: null, description: null, aliases: [], virtual: false, context_length: null }
  const abilities = { supports_tools: true, supports_mapeval: false, supports_realtime: false }

  it('lists every model with what is known of it, and whether it is available', async () => {
    const { status, body } = await gateway.asAdmin('GET /api/catalog/models')
    expect(status).to.equal(200)
    expect(body).to.deep.equal({
      data: [
        {
          name: 'small',
          display_name: 'Small',
          description: 'For drafts.',
          aliases: ['tiny'],
          provider: 'echo',
          virtual: false,
          context_length: 1000,
          max_output_tokens: 100,
          ...abilities,
          supports_images: true,
          quality_tier: 'standard',
          pricing: { input: 1.5, output: 3 },
          available: true,
        },
        {
          name: 'large',
          ...plain,
          provider: 'away',
          max_output_tokens: null,
          ...abilities,
          supports_images: false,
          quality_tier: null,
          pricing: null,
          available: false,
        },
      ],
    })
  })

  it('lists the models that a viewer may use', async () => {
    const member = await gateway.addMember({ models: '["large"]' })
    const { body } = await member.ask('GET /api/catalog/models')
    expect((body['data'] as { name: string }[]).map(({ name }) => name)).to.deep.equal(['large'])
    expect(((await gateway.asViewer('GET /api/catalog/models')).body['data'] as object[]).length).to.equal(2)
  })

  it('wants a session, and no parameters', async () => {
    expect((await gateway.asKey('GET /api/catalog/models')).code).to.equal('invalid_token')
    const { status, code, param } = await gateway.asAdmin('GET /api/catalog/models?limit=1')
    expect([status, code, param]).to.deep.equal([422, 'unknown_field', 'limit'])
  })
})
