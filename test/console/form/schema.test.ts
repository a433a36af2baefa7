import { expect } from 'chai'
import { fieldOf, fieldsOf } from '../../../console/src/form/schema.ts'
import type { Field, Kind, Schema } from '../../../console/src/form/schema.ts'
import { modelSchema } from '../../../plugins/catalog/model-schema.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'

const kinds: readonly (readonly [Kind, Schema])[] = [
  ['text', { type: 'string' }],
  ['long', { type: 'string', maxLength: 201 }],
  ['text', { type: 'string', maxLength: 200 }],
  ['address', { type: 'string', format: 'uri' }],
  ['duration', { type: 'string', pattern: String.raw`^\d+(ms|s|m|h|d)$` }],
  ['moment', { type: ['string', 'null'], format: 'date-time' }],
  ['secret', { type: 'string', writeOnly: true }],
  ['number', { type: ['integer', 'null'], minimum: 1, 'x-unit': 'tokens' }],
  ['switch', { type: 'boolean', default: true }],
  ['choice', { enum: ['low', 'high', null] }],
  ['tags', { type: 'array', items: { type: 'string' } }],
  ['boxes', { type: 'array', items: { enum: ['fast', 'auto'] } }],
  ['rows', { type: 'array', items: { type: 'object', properties: { weight: { type: 'number' } } } }],
  ['rows', { type: 'array', items: { type: 'string', writeOnly: true } }],
  ['map', { type: 'object', additionalProperties: { type: 'string' } }],
  ['group', { type: 'object', properties: {}, anyOf: [{ required: ['requests'] }] }],
  ['json', { type: 'object', additionalProperties: true }],
  ['json', { type: 'string', contentEncoding: 'base64' }],
  ['json', { type: ['string', 'number'] }],
  ['json', { oneOf: [{ type: 'string' }, { type: 'number' }] }],
]

describe('console/form: what a schema becomes', () => {
  for (const [kind, schema] of kinds)
    it(`${JSON.stringify(schema)} is drawn as ${kind}`, () => expect(fieldOf(schema, 'x').kind).to.equal(kind))

  it('keeps the order and the names, and folds what has a default and need not be given', () => {
    const fields = fieldsOf({
      required: ['name'],
      properties: { name: { type: 'string', default: 'a' }, max_bytes: { type: 'integer', default: 5 }, on: {} },
    })
    expect(fields.map(({ path, label, required, advanced }) => [path, label, required, advanced])).to.deep.equal([
      ['name', 'Name', true, false],
      ['max_bytes', 'Max bytes', false, true],
      ['on', 'On', false, false],
    ])
  })

  it('takes null for "not set", and not for an option', () => {
    const field = fieldOf({ enum: ['low', null] }, 'size')
    expect([field.nullable, field.options]).to.deep.equal([true, ['low']])
  })

  it('asks for the constant of a oneOf first, and then for the fields of that branch', () => {
    const branch = (value: string, name: string): Schema => ({
      properties: { kind: { const: value }, [name]: { type: 'string' } },
    })
    const field = fieldOf({ oneOf: [branch('file', 'path'), branch('url', 'address')] }, 'source')
    expect(field.kind).to.equal('variants')
    expect(field.variants.map(({ value, fields }) => [value, fields.map(({ path }) => path)])).to.deep.equal([
      ['file', ['source.path']],
      ['url', ['source.address']],
    ])
  })
})

describe('console/form: the schemas that the gateway serves', () => {
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin()
  })
  after(() => gateway.close())

  /** Every field of a form, with those inside of groups and rows. */
  const deep = (fields: readonly Field[]): readonly Field[] =>
    fields.flatMap((field) => [field, ...deep(field.fields), ...(field.item ? deep([field.item]) : [])])

  /** Entries may be texts or objects, as in `allow_stdio`, which is written in the file. */
  const isMixed = ({ items }: Schema) => Array.isArray(items?.type)

  /** How many properties a schema has, with those of its entries. */
  const count = ({ properties = {}, items = {}, additionalProperties: open }: Schema): number =>
    Object.values(properties).reduce(
      (sum, property) => sum + 1 + count(property),
      Object.keys(items).length > 0 && !isMixed({ items }) ? count(items) : 0,
    ) + (typeof open === 'object' ? count(open) : 0)

  async function served(): Promise<readonly (readonly [string, Schema])[]> {
    const types = (await gateway.asAdmin('GET /api/config/providers/types')).body['data'] as unknown as readonly {
      type: string
      schema: Schema
    }[]
    const listed = (await gateway.asAdmin('GET /api/config/server')).body['data'] as unknown as readonly {
      section: string
    }[]
    const sections = await Promise.all(
      listed.map(async ({ section }) => {
        const { body } = await gateway.asAdmin(`GET /api/config/server/${section}`)
        return [section, body['schema'] as unknown as Schema] as const
      }),
    )
    return [...types.map(({ type, schema }) => [type, schema] as const), ...sections, ['model', modelSchema]]
  }

  it('have a field for every property, and need a text of JSON only for objects of any names', async () => {
    const all = await served()
    expect(all.length).to.be.greaterThan(15)
    for (const [name, schema] of all) {
      const fields = deep(fieldsOf(schema))
      expect(fields.filter(({ path }) => path !== '').length, name).to.equal(count(schema))
      for (const { kind, schema: own, path } of fields)
        if (kind === 'json' && !isMixed(own))
          expect([own.properties, own.type], `${name}: ${path}`).to.deep.equal([undefined, 'object'])
    }
  })

  it('never show a secret as text', async () => {
    for (const [name, schema] of await served())
      for (const { path, kind, schema: own } of deep(fieldsOf(schema)))
        if (own.writeOnly) expect(kind, `${name}: ${path}`).to.equal('secret')
  })
})
