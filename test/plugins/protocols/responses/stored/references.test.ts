import { expect } from 'chai'
import { GatewayError } from '../../../../../engine/index.ts'
import { keep } from '../../../../../plugins/protocols/responses/stored/keep.ts'
import { deleteResponse, findResponse } from '../../../../../plugins/protocols/responses/stored/record.ts'
import { referredBy, resolveReferences } from '../../../../../plugins/protocols/responses/stored/references.ts'
import { bareId } from '../exchange.ts'
import { memory, recordWith, said } from './kept.ts'

const day = 24 * 60 * 60 * 1000

describe('a reference to an item', () => {
  it('is told by its type, or by having nothing but an id', () => {
    expect(referredBy({ type: 'item_reference', id: 'a' })).to.equal('a')
    expect(referredBy({ id: 'a' })).to.equal('a')
    expect(referredBy({ type: null, id: 'a' })).to.equal('a')
    expect(referredBy({ role: 'user', content: 'x', id: 'a' })).to.equal(undefined)
    expect(referredBy({ type: 'function_call', id: 'a' })).to.equal(undefined)
    expect(referredBy({ type: 'item_reference' })).to.equal(undefined)
  })

  it('needs no index where the id says which response it is of', async () => {
    const { keyValue, writes } = memory()
    const item = said('Hello', `msg_${bareId}0000`)
    const input = [{ id: `msg_${bareId}i0000`, type: 'message' }]
    await keep(keyValue, recordWith({ response: { id: `resp_${bareId}`, output: [item] }, input }))
    expect(writes.map(({ key }) => key)).to.deep.equal([`response:resp_${bareId}`])
    const references = [{ id: input[0]?.id ?? '' }, { id: `msg_${bareId}0000` }]
    const { items, missing } = await resolveReferences(references, { records: [], keyValue, keyId: 'key-a' })
    expect([items, missing]).to.deep.equal([[input[0], item], undefined])
  })

  it('is found by the index of its key alone', async () => {
    const { keyValue, writes } = memory()
    await keep(keyValue, recordWith({ held: true }))
    expect(writes.find(({ key }) => key.startsWith('item:'))).to.deep.equal({
      key: 'item:key-a:msg_1',
      ttl: day,
      version: undefined,
    })
    const references = [{ type: 'item_reference', id: 'msg_1' }]
    const mine = await resolveReferences(references, { records: [], keyValue, keyId: 'key-a' })
    expect(mine).to.deep.equal({ items: [said('Hello')], holders: ['acme/think'] })
    const theirs = await resolveReferences(references, { records: [], keyValue, keyId: 'key-b' })
    expect([theirs.items, theirs.holders, theirs.missing?.failure.param]).to.deep.equal([references, [], 'input[0].id'])
  })

  it('reads the store once for all that one conversation holds', async () => {
    const { keyValue, reads } = memory()
    await keep(keyValue, recordWith({ input: [said('a', 'msg_a'), said('b', 'msg_b')] }))
    const ids = ['msg_a', 'msg_b', 'msg_1']
    const places = { records: [], keyValue, keyId: 'key-a' }
    const { items } = await resolveReferences(
      ids.map((id) => ({ id })),
      places,
    )
    expect(items.map(({ id }) => id)).to.deep.equal(ids)
    expect(reads).to.deep.equal(['item:key-a:msg_1', 'response:resp_1'])
    reads.length = 0
    const near = await resolveReferences(
      ids.map((id) => ({ id })),
      { ...places, records: [recordWith()] },
    )
    expect(near.items[2]).to.deep.equal(said('Hello'))
    expect(reads).to.deep.equal(['item:key-a:msg_b', 'item:key-a:msg_a'])
  })

  it('reads no more than so many', async () => {
    const { keyValue, reads } = memory()
    const many = Array.from({ length: 100 }, (_, index) => ({ id: `msg_x${index}` }))
    await resolveReferences(many, { records: [], keyValue, keyId: 'key-a' })
    expect(reads).to.have.lengthOf(16)
  })

  it('to what was deleted is no reason to ask a provider', async () => {
    const { keyValue } = memory()
    await keep(keyValue, recordWith({ held: true }))
    const found = await findResponse(keyValue, 'resp_1', 'key-a')
    if (found) await deleteResponse(keyValue, found)
    const error: unknown = await resolveReferences([{ id: 'msg_1' }], { records: [], keyValue, keyId: 'key-a' }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(GatewayError).and.have.property('message', "Item with id 'msg_1' not found.")
  })
})
