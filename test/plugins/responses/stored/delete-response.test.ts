import { expect } from 'chai'
import type { Host, Ingress, KeyValue, Scope } from '../../../../engine/index.ts'
import deleteResponse from '../../../../plugins/responses/stored/delete-response.ts'
import { readResponse, writeResponse } from '../../../../plugins/responses/stored/record.ts'
import type { StoredResponse } from '../../../../plugins/responses/stored/record.ts'
import { made, memory, recordWith } from './kept.ts'

const id = 'resp_0199c82cc0007abc8def0123456789ab'
const exchange = '0199c82c-c000-7abc-8def-0123456789ab'

describe('the stage "delete-response"', () => {
  const run = async (record: StoredResponse, wrap: (keyValue: KeyValue) => KeyValue = (same) => same) => {
    const { keyValue } = memory()
    await writeResponse(keyValue, record)
    const cancelled: string[] = []
    const jobs = { cancel: async (job: string) => void cancelled.push(job) }
    const stage = deleteResponse.build({}, { keyValue: wrap(keyValue), jobs, keep: made } as unknown as Host)
    const ingress = { params: { response_id: id } } as unknown as Ingress
    const { reply } = await stage({ ingress, principal: { kind: 'key' as const, id: 'key-a', name: 'a' } }, {} as Scope)
    expect(reply.body).to.deep.equal({ kind: 'json', value: { id, object: 'response', deleted: true } })
    return { left: (await readResponse(keyValue, id))?.record, cancelled }
  }
  const response = (status: string) => ({ id, object: 'response', status, output: [] })

  it('ends the job of a response in progress, and has none to end for any other', async () => {
    const running = await run(recordWith({ background: true, response: response('in_progress') }))
    expect(running).to.deep.equal({ left: undefined, cancelled: [exchange] })
    const ended = await run(recordWith({ background: true, response: response('completed') }))
    expect(ended).to.deep.equal({ left: undefined, cancelled: [] })
  })

  it('deletes what a response has become meanwhile', async () => {
    const record = recordWith({ held: true, response: response('in_progress') })
    let raced = false
    const racing = (keyValue: KeyValue): KeyValue => ({
      ...keyValue,
      async set(...asked) {
        if (!raced) await writeResponse(keyValue, { ...record, response: response('completed') })
        raced = true
        return keyValue.set(...asked)
      },
    })
    const { left } = await run(record, racing)
    expect(left).to.deep.include({ deleted: true, input: [] })
  })
})
