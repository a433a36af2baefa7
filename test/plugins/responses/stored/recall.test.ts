import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import type { Envelope, Host, Ingress, JsonObject } from '../../../../engine/index.ts'
import recall from '../../../../plugins/responses/stored/recall.ts'
import { sizeOf, writeResponse } from '../../../../plugins/responses/stored/record.ts'
import type { StoredResponse } from '../../../../plugins/responses/stored/record.ts'
import { conversationLimit } from '../../../../plugins/responses/stored/room.ts'
import { made, memory, recordWith, said, unguarded } from './kept.ts'

/** The body that the stage makes of one of `length` bytes, where `record` is stored, or the last one on the socket. */
async function recalled(body: JsonObject, record: StoredResponse, length: number, where: 'stored' | 'near') {
  const { keyValue } = memory()
  if (where === 'stored') await writeResponse(keyValue, record)
  const session = new Map(where === 'near' ? [['responses.last', record]] : [])
  const request = { body, raw: { size: length }, with: (change: object) => ({ ...request, ...change }) } as Envelope
  const slots = {
    ingress: { session } as unknown as Ingress,
    principal: { kind: 'key' as const, id: 'key-a', name: 'a' },
    request,
  }
  const given = await recall.build({}, { keyValue, keep: made } as unknown as Host, unguarded)(slots, {} as never)
  return given.request.body
}

describe('the stage "recall"', () => {
  const question = { role: 'user', content: 'And?' }
  const next = { model: 'm', previous_response_id: 'resp_1', input: [question] }

  it('completes a conversation up to so many bytes', async () => {
    const record = recordWith({ input: [said('a'.repeat(1000), 'msg_0')] })
    const whole = { model: 'm', input: [...record.input, said('Hello'), question] }
    for (const where of ['stored', 'near'] as const) {
      const first = await recalled(next, record, 100, where)
      expect(first).to.deep.equal(whole)
      const size = sizeOf(record)
      expect(size).to.be.within(1000, 3000)
      expect(await recalled(next, record, conversationLimit - size, where)).to.deep.equal(whole)
      const error: unknown = await recalled(next, record, conversationLimit - size + 1, where).catch((e: unknown) => e)
      expect(error).to.be.instanceOf(GatewayError)
      expect((error as GatewayError).failure).to.include({ status: 413, code: 'request_too_large', param: 'input' })
    }
  })

  it('refuses no body for its own size', async () => {
    const body = { model: 'm', input: [{ type: 'compaction', encrypted_content: 'of another' }] }
    expect(await recalled(body, recordWith(), 2 * conversationLimit, 'stored')).to.equal(body)
  })

  it('does not ask again for a compaction that was asked for before', async () => {
    const record = recordWith({ input: [said('One.', 'msg_0'), { id: 'item_1', type: 'compaction_trigger' }] })
    const { input } = await recalled(next, record, 100, 'stored')
    expect(input).to.deep.equal([said('One.', 'msg_0'), said('Hello'), question])
    const again = await recalled({ ...next, input: [{ type: 'compaction_trigger' }] }, record, 100, 'stored')
    expect(again['input']).to.deep.equal([said('One.', 'msg_0'), said('Hello'), { type: 'compaction_trigger' }])
  })
})
