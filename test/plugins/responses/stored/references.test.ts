import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import { saveResponse } from '../../../../plugins/responses/stored/save-response.ts'
import { deleteResponse } from '../../../../plugins/responses/stored/chain.ts'
import { findResponse, sizeOf } from '../../../../plugins/responses/stored/record.ts'
import { referredBy, resolveReferences } from '../../../../plugins/responses/stored/references.ts'
import { Room, conversationLimit } from '../../../../plugins/responses/stored/room.ts'
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
    await saveResponse(keyValue, recordWith({ response: { id: `resp_${bareId}`, output: [item] }, input }))
    expect(writes.map(({ key }) => key)).to.deep.equal([`response:resp_${bareId}`])
    const references = [{ id: input[0]?.id ?? '' }, { id: `msg_${bareId}0000` }]
    const { items, missing } = await resolveReferences(references, {
      records: [],
      keyValue,
      owner: 'key-a',
      room: new Room(0),
    })
    expect([items, missing]).to.deep.equal([[input[0], item], undefined])
  })

  it('is found by an id as long as vendors make them', async () => {
    const { keyValue, reads } = memory()
    const id = `msg_${bareId}05438e46b5f69a3b`
    await saveResponse(
      keyValue,
      recordWith({ response: { id: `resp_${bareId}05438e46b5f69a3c`, output: [said('Hello', id)] } }),
    )
    const places = { records: [], keyValue, owner: 'key-a', room: new Room(0) }
    expect((await resolveReferences([{ id }], places)).items).to.deep.equal([said('Hello', id)])
    expect(reads).to.deep.equal([`item:${id}`, `response:resp_${bareId}05438e46b5f69a3c`])
    // Not what it seems to be: no response was made here under the id it names.
    const alike = `msg_${bareId}0000`
    await saveResponse(keyValue, recordWith({ response: { id: 'resp_2', output: [said('Bye', alike)] } }))
    expect((await resolveReferences([{ id: alike }], places)).items).to.deep.equal([said('Bye', alike)])
  })

  it('is found by its own key alone, and nobody is asked for it for another', async () => {
    const { keyValue, writes } = memory()
    await saveResponse(keyValue, recordWith({ held: true }))
    expect(writes.find(({ key }) => key.startsWith('item:'))).to.deep.equal({
      key: 'item:msg_1',
      ttl: day,
      version: null,
    })
    const references = [{ type: 'item_reference', id: 'msg_1' }]
    const mine = await resolveReferences(references, { records: [], keyValue, owner: 'key-a', room: new Room(0) })
    expect(mine).to.deep.equal({ items: [said('Hello')], holders: ['acme/think'], tokens: new Set() })
    const minted = said('Hello', `msg_${bareId}0000`)
    await saveResponse(keyValue, recordWith({ response: { id: `resp_${bareId}`, output: [minted] } }))
    for (const id of ['msg_1', `msg_${bareId}0000`]) {
      const places = { records: [], keyValue, owner: 'key-b', room: new Room(0) }
      const error: unknown = await resolveReferences([{ id }], places).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(GatewayError).and.have.property('message', `Item with id '${id}' not found.`)
    }
    // Some providers give everybody the same ids: each key finds its own.
    await saveResponse(keyValue, recordWith({ keyId: 'key-b', response: { id: 'resp_2', output: [said('Bye')] } }))
    const places = { records: [], keyValue, owner: 'key-a', room: new Room(0) }
    expect(await resolveReferences(references, places)).to.deep.equal(mine)
    const theirs = await resolveReferences(references, { ...places, owner: 'key-b' })
    expect(theirs.items).to.deep.equal([said('Bye')])
    // The newest one with an id that its key has again does.
    await saveResponse(keyValue, recordWith({ response: { id: 'resp_3', output: [said('Again')] } }))
    expect((await resolveReferences(references, places)).items).to.deep.equal([said('Again')])
  })

  it('reads the store once for all that one conversation holds', async () => {
    const { keyValue, reads } = memory()
    await saveResponse(keyValue, recordWith({ input: [said('a', 'msg_a'), said('b', 'msg_b')] }))
    const ids = ['msg_a', 'msg_b', 'msg_1']
    const places = { records: [], keyValue, owner: 'key-a', room: new Room(0) }
    const { items } = await resolveReferences(
      ids.map((id) => ({ id })),
      places,
    )
    expect(items.map(({ id }) => id)).to.deep.equal(ids)
    expect(reads).to.deep.equal(['item:msg_1', 'response:resp_1'])
    reads.length = 0
    const near = await resolveReferences(
      ids.map((id) => ({ id })),
      { ...places, records: [recordWith()] },
    )
    expect(near.items[2]).to.deep.equal(said('Hello'))
    expect(reads).to.deep.equal(['item:msg_b', 'item:msg_a'])
  })

  it('finds each of many that are of different responses, but not any number of them', async () => {
    const { keyValue, reads } = memory()
    const places = { records: [], keyValue, owner: 'key-a', room: new Room(0) }
    const items = Array.from({ length: 40 }, (_, index) => said(`${index}`, `msg_${index}`))
    for (const [index, item] of items.entries())
      await saveResponse(keyValue, recordWith({ response: { id: `resp_${index}`, output: [item] } }))
    const references = items.map(({ id }) => ({ id: id ?? null }))
    expect((await resolveReferences(references, places)).items).to.deep.equal(items)
    reads.length = 0
    const many = Array.from({ length: 2000 }, (_, index) => ({ id: `msg_x${index}` }))
    const error: unknown = await resolveReferences(many, { ...places, room: new Room(0) }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error)
      .to.be.instanceOf(GatewayError)
      .and.have.property('message', 'There are too many references to items of different responses.')
    expect((error as GatewayError).failure).to.deep.include({ status: 413, code: 'request_too_large', param: 'input' })
    expect(reads).to.have.lengthOf(1025)
  })

  it('takes up its place each time, and there is room for so much', async () => {
    const { keyValue } = memory()
    const item = said('a'.repeat(1000), 'msg_1')
    const record = recordWith({ response: { id: 'resp_1', output: [item] } })
    const size = Buffer.byteLength(JSON.stringify(item))
    const refer = (times: number, left: number) => {
      const references = Array.from({ length: times }, () => ({ id: 'msg_1' }))
      const room = new Room(conversationLimit - left)
      return resolveReferences(references, { records: [record], keyValue, owner: 'key-a', room })
    }
    expect((await refer(5, 5 * size)).items).to.deep.equal([item, item, item, item, item])
    const error: unknown = await refer(5, 5 * size - 1).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(GatewayError)
    expect((error as GatewayError).failure).to.deep.include({ status: 413, code: 'request_too_large', param: 'input' })
  })

  it('has no further conversation read after long ones', async () => {
    const { keyValue, reads } = memory()
    const long = [said('x'.repeat(100_000), 'msg_long')]
    const records = ['a', 'b', 'c'].map((name) =>
      recordWith({ response: { id: `resp_${name}`, output: [said(name, `msg_${name}`)] }, input: long }),
    )
    for (const record of records) await saveResponse(keyValue, record)
    const [one] = records
    const read = async (left: number) => {
      reads.length = 0
      const references = ['a', 'b', 'c'].map((name) => ({ id: `msg_${name}` }))
      const room = new Room(conversationLimit - left)
      const found = await resolveReferences(references, { records: [], keyValue, owner: 'key-a', room }).then(
        ({ items }) => items.filter(({ type }) => type === 'message').length,
        (error: unknown) => (error as GatewayError).code,
      )
      return [found, reads.filter((key) => key.startsWith('response:'))]
    }
    const all = ['response:resp_c', 'response:resp_b', 'response:resp_a']
    const size = (one ? sizeOf(one) : 0) + 64 * 1024
    expect(await read(2 * size)).to.deep.equal([3, all])
    expect(await read(2 * size - 1)).to.deep.equal(['request_too_large', all.slice(0, 2)])
  })

  it('to what was deleted is no reason to ask a provider', async () => {
    const { keyValue } = memory()
    await saveResponse(keyValue, recordWith({ held: true }))
    const found = await findResponse(keyValue, 'resp_1', 'key-a')
    if (found) await deleteResponse(keyValue, found)
    const error: unknown = await resolveReferences([{ id: 'msg_1' }], {
      records: [],
      keyValue,
      owner: 'key-a',
      room: new Room(0),
    }).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(GatewayError).and.have.property('message', "Item with id 'msg_1' not found.")
  })
})
