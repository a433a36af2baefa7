import { expect } from 'chai'
import type { KeyValue } from '../../../../engine/index.ts'
import { deleteResponse } from '../../../../plugins/responses/stored/chain.ts'
import { saveResponse } from '../../../../plugins/responses/stored/save-response.ts'
import { findResponse, readResponse, responseKey, writeResponse } from '../../../../plugins/responses/stored/record.ts'
import type { WholeResponse } from '../../../../plugins/responses/stored/record.ts'
import { memory, recordWith, said } from './kept.ts'

const day = 24 * 60 * 60 * 1000

/** A record as it is read, but for its time. */
const stored = (fields: Partial<WholeResponse> = {}) => {
  const { before: _, ...record } = recordWith(fields)
  return record
}
const read = async (keyValue: KeyValue) => {
  const { until, ...record } = (await readResponse(keyValue, 'resp_1'))?.record ?? stored()
  expect(until).to.be.within(Date.now(), Date.now() + day)
  return record
}

describe('a stored response', () => {
  it('is kept for 24 hours and read as it was', async () => {
    const { keyValue, writes } = memory()
    expect(await writeResponse(keyValue, recordWith())).to.equal(undefined)
    expect(writes).to.deep.equal([{ key: 'response:resp_1', ttl: day, version: undefined }])
    expect(await read(keyValue)).to.deep.equal(stored())
  })

  it('is compressed', async () => {
    const { keyValue, writes, values } = memory()
    const record = recordWith({ input: [{ id: 'msg_0', type: 'message', content: 'x'.repeat(100_000) }] })
    expect(await writeResponse(keyValue, record, { version: null })).to.equal(undefined)
    expect(writes).to.deep.equal([{ key: 'response:resp_1', ttl: day, version: null }])
    expect(values.get('response:resp_1')?.value.length).to.be.below(1000)
    expect(await read(keyValue)).to.deep.equal(stored(record))
  })

  it('does not exist for another key', async () => {
    const { keyValue } = memory()
    await writeResponse(keyValue, recordWith())
    expect((await findResponse(keyValue, 'resp_1', 'key-a'))?.version).to.equal('1')
    expect(await findResponse(keyValue, 'resp_1', 'key-b')).to.equal(undefined)
  })

  for (const id of ['', '__proto__:x', 'resp_1\n', 'a/b', 'a b', 'ä', '../x', '%00', 'x'.repeat(257)])
    it(`is never looked for by ${JSON.stringify(id.slice(0, 20))}`, async () => {
      const { keyValue, reads } = memory()
      expect(responseKey(id)).to.equal(undefined)
      expect(await readResponse(keyValue, id)).to.equal(undefined)
      expect(reads).to.deep.equal([])
    })

  it('is not kept without an id that can name it', async () => {
    const { keyValue, writes } = memory()
    expect(await writeResponse(keyValue, recordWith({ response: { id: 'a b' } }))).to.equal('no id')
    expect(await writeResponse(keyValue, recordWith({ response: {} }))).to.equal('no id')
    expect(writes).to.deep.equal([])
  })

  it('gives way to a newer one of its key, and to none of another', async () => {
    const { keyValue } = memory()
    expect(await saveResponse(keyValue, recordWith())).to.equal(undefined)
    expect(await saveResponse(keyValue, recordWith({ keyId: 'key-b' }))).to.equal('taken')
    expect(await saveResponse(keyValue, recordWith({ held: true }))).to.equal(undefined)
    expect(await read(keyValue)).to.deep.equal(stored({ held: true }))
  })

  it('that is not kept leaves no way to its items', async () => {
    const { keyValue, values } = memory()
    await saveResponse(keyValue, recordWith())
    const output = [said('Bye', 'msg_2')]
    const other = recordWith({ keyId: 'key-b', response: { id: 'resp_1', output } })
    expect(await saveResponse(keyValue, other)).to.equal('taken')
    expect([...values.keys()]).to.deep.equal(['response:resp_1', 'item:msg_1'])
  })

  it('is gone once it is deleted; of one that its provider holds a mark stays', async () => {
    const { keyValue, values } = memory()
    await writeResponse(keyValue, recordWith())
    const found = await findResponse(keyValue, 'resp_1', 'key-a')
    expect(found && (await deleteResponse(keyValue, found))).to.equal(true)
    expect(values.size).to.equal(0)

    await writeResponse(keyValue, recordWith({ held: true }))
    const held = await findResponse(keyValue, 'resp_1', 'key-a')
    expect(held && (await deleteResponse(keyValue, held))).to.equal(true)
    expect(await findResponse(keyValue, 'resp_1', 'key-a')).to.equal(undefined)
    const mark = (await readResponse(keyValue, 'resp_1'))?.record
    expect(mark).to.deep.include({ deleted: true, response: { id: 'resp_1' }, input: [] })
  })

  it('is not deleted by who has seen an older version of it', async () => {
    const { keyValue } = memory()
    await writeResponse(keyValue, recordWith({ held: true }))
    const found = await findResponse(keyValue, 'resp_1', 'key-a')
    await writeResponse(keyValue, recordWith({ held: true, partial: true }))
    expect(found && (await deleteResponse(keyValue, found))).to.equal(false)
    expect((await findResponse(keyValue, 'resp_1', 'key-a'))?.record.partial).to.equal(true)
  })
})
