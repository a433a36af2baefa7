import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import type { Envelope, Host, Jobs, KeyValue, Scope, Services } from '../../../../engine/index.ts'
import background from '../../../../plugins/responses/stored/background.ts'
import { bareId, exchangeId } from '../exchange.ts'
import { memory, unguarded } from './kept.ts'

const away = new GatewayError('store_unavailable')

describe('the stage "background"', () => {
  const body = { model: 'think', input: 'Hi', background: true }
  const request = { model: 'think', headers: {}, body, sent: body, background: true } as unknown as Envelope
  const run = async (keyValue: KeyValue, add: Jobs['add']) => {
    const host = { keyValue: { ...keyValue, shared: true }, jobs: { add }, log: { warn: () => undefined } }
    const traces = { contextFor: () => undefined } as unknown as Services['traces']
    const stage = background.build({ pipeline: 'later' }, host as unknown as Host, { ...unguarded, traces })
    const principal = { kind: 'key' as const, id: 'key-a', name: 'a' }
    return stage({ request, candidates: [], principal }, { id: exchangeId } as Scope)
  }
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: Error) => error,
    )

  it('keeps the response and its request, and has the job done', async () => {
    const { keyValue, values } = memory()
    const added: unknown[] = []
    await run(keyValue, async (...job) => void added.push(job))
    expect(added).to.deep.equal([['later', { id: exchangeId, input: { response: `resp_${bareId}` } }]])
    expect([...values.keys()]).to.have.members([`response:resp_${bareId}`, `pending:resp_${bareId}`])
  })

  it('says that the store is not available when that fails, and leaves nothing in it', async () => {
    for (const failing of ['pending', 'response', 'job']) {
      const { keyValue, values } = memory()
      const set: KeyValue['set'] = (key, ...rest) =>
        key.startsWith(failing) ? Promise.reject(away) : keyValue.set(key, ...rest)
      const refused = await refusal(run({ ...keyValue, set }, () => Promise.reject(away)))
      expect(refused).to.include({ code: 'redis_not_available', cause: away })
      expect(refused).to.have.nested.property('failure.status', 503)
      expect(refused).to.have.nested.property('failure.shouldRetry', false)
      expect([...values.keys()]).to.deep.equal([])
    }
  })

  it('leaves nothing in the store when anything else fails, either', async () => {
    const { keyValue, values } = memory()
    const mistake = new Error('a mistake')
    expect(await refusal(run(keyValue, () => Promise.reject(mistake)))).to.equal(mistake)
    expect([...values.keys()]).to.deep.equal([])
  })
})
