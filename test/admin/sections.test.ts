import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'

/** What a form needs of a schema. */
interface Form {
  readonly type?: unknown
  readonly title?: string
  readonly description?: string
  readonly 'x-unit'?: string
  readonly properties?: Readonly<Record<string, Form>>
}

describe('admin/sections', () => {
  let gateway: AdminGateway
  before(async () => (gateway = await startAdmin()))
  after(() => gateway.close())

  it('are given with a form: every setting with its title, description and unit', async () => {
    const { body } = await gateway.asAdmin('GET /api/config/server')
    const untold: string[] = []
    const look = (path: string, { properties = {} }: Form) => {
      for (const [name, field] of Object.entries(properties)) {
        const place = `${path}.${name}`
        const isAmount = /(bytes|tokens)$/.test(name) && String(field.type).includes('integer')
        if (!field.title || !field.description || (isAmount && !field['x-unit'])) untold.push(place)
        look(place, field)
      }
    }
    for (const { section } of body['data'] as readonly { readonly section: string }[]) {
      const { body: one } = await gateway.asAdmin(`GET /api/config/server/${section}`)
      look(section, one['schema'] as Form)
    }
    expect(untold).to.deep.equal([])
  })
})
