import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import type { Host, JsonObject, KeyValue, Outcome, Reply, Scope, Slots } from '../../../../engine/index.ts'
import { readResponse, recordLimit, writeResponse } from '../../../../plugins/responses/stored/record.ts'
import settle from '../../../../plugins/responses/stored/settle-response.ts'
import { memory, recordWith, said, unguarded } from './kept.ts'

const begun = (input: readonly JsonObject[] = []) =>
  recordWith({ background: true, input, response: { id: 'resp_1', status: 'in_progress', output: [] } })
const completed = (text = 'Hello', id = 'msg_1') => ({ id: 'resp_2', status: 'completed', output: [said(text, id)] })
const outcome: Outcome = { status: 200, result: 'completed', duration: 1, bytes: 0 }
const tooLarge = { code: 'server_error', message: 'The response is too large to be kept.' }

describe('the stage "settle-response"', () => {
  const run = async (keyValue: KeyValue, value: JsonObject, more: Partial<Slots> = {}) => {
    const notes: unknown[] = []
    const log = { info: () => undefined }
    const stage = settle.build({}, { keyValue, log } as unknown as Host, unguarded)
    const scope = { id: 'exchange', note: (...note: unknown[]) => notes.push(note) } as unknown as Scope
    const reply: Reply = { status: 200, headers: {}, body: { kind: 'json', value } }
    await stage({ outcome, reply, job: { id: 'exchange', input: { response: 'resp_1' } }, ...more }, scope)
    return notes
  }
  const keeping = async (record = begun()) => {
    const store = memory()
    await writeResponse(store.keyValue, record)
    await store.keyValue.set('pending:resp_1', Buffer.from('all of it'), { ttl: 1000 })
    const read = async () => (await readResponse(store.keyValue, 'resp_1'))?.record
    return { ...store, read }
  }

  it('writes the end, makes its items findable and forgets the request', async () => {
    const { keyValue, values, read } = await keeping()
    expect(await run(keyValue, completed())).to.deep.equal([])
    const { response } = (await read()) ?? {}
    expect(response).to.deep.include({ ...completed(), id: 'resp_1' })
    expect([...values.keys()]).to.have.members(['response:resp_1', 'item:msg_1'])
  })

  it('does not take its own writing for that of another when the store fails after it', async () => {
    const { keyValue, values, read } = await keeping()
    let failures = 1
    const flaky: KeyValue = {
      ...keyValue,
      set: (key, ...rest) =>
        key.startsWith('item:') && failures-- > 0
          ? Promise.reject(new GatewayError('store_unavailable'))
          : keyValue.set(key, ...rest),
    }
    expect(await run(flaky, completed())).to.deep.equal([])
    expect((await read())?.response).to.include({ status: 'completed' })
    expect(values.has('item:msg_1')).to.equal(true)
  })

  it('says what became of the response before, and leaves it', async () => {
    const cancelled = begun()
    const { keyValue, read } = await keeping({ ...cancelled, response: { ...cancelled.response, status: 'cancelled' } })
    expect(await run(keyValue, completed())).to.deep.equal([['refused', 'cancelled']])
    expect((await read())?.response).to.include({ status: 'cancelled' })
    expect(await run(memory().keyValue, completed())).to.deep.equal([['refused', 'deleted']])
  })

  it('fails a response that is too large to be kept, with its input where that fits', async () => {
    const huge = completed('x'.repeat(recordLimit))
    const { keyValue, read } = await keeping(begun([said('Hi')]))
    await run(keyValue, huge)
    expect((await read())?.response).to.deep.include({ id: 'resp_1', status: 'failed', error: tooLarge })
    expect((await read())?.input).to.deep.equal([said('Hi')])
    // Enough for a response in progress, and not for one that says why it failed.
    const room = recordLimit - Buffer.byteLength(JSON.stringify(begun([said('')]))) - 60
    const full = await keeping(begun([said('y'.repeat(room))]))
    await run(full.keyValue, huge)
    expect((await full.read())?.response).to.deep.include({ status: 'failed', error: tooLarge })
    expect((await full.read())?.input).to.deep.equal([])
  })

  it('looks again when somebody was faster while it found out that the response is too large', async () => {
    const { keyValue, read } = await keeping()
    const cancelled = { ...begun(), response: { id: 'resp_1', status: 'cancelled' } }
    let raced = false
    const racing: KeyValue = {
      ...keyValue,
      async set(...asked) {
        if (!raced) await writeResponse(keyValue, cancelled)
        raced = true
        return keyValue.set(...asked)
      },
    }
    expect(await run(racing, completed('x'.repeat(recordLimit)))).to.deep.equal([['refused', 'cancelled']])
    expect((await read())?.response).to.include({ status: 'cancelled' })
  })
})
