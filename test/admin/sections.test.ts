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

  it('that are stored decide how many fallbacks are never asked, as the process log says', async () => {
    const unasked = () => gateway.lines.filter((line) => line.includes('is never asked'))
    const names = ['one', 'two', 'three']
    for (const name of names) await gateway.asAdmin('POST /api/config/models', { name, provider: 'echo' })
    const first = { name: 'zero', provider: 'echo', fallbacks: names }
    expect((await gateway.asAdmin('POST /api/config/models', first)).status).to.equal(201)
    expect(unasked()).to.have.length(1)
    expect(unasked()[0]).to.include('\\"three\\" is never asked: \\"zero\\" and its fallbacks get 3 tries in all')
    const tries = (count: number) =>
      gateway.asAdmin('PATCH /api/config/server/resilience', { retries: { tries: count } })
    expect((await tries(4)).status).to.equal(200)
    await gateway.asAdmin('PATCH /api/config/models/zero', { description: 'The first.' })
    expect(unasked()).to.have.length(1)
    expect((await tries(2)).status).to.equal(200)
    expect(unasked().slice(1).join()).to.include('\\"two\\" is never asked').and.include('\\"three\\" is never asked')
  })
})
