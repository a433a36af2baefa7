import { expect } from 'chai'
import { pino } from 'pino'
import { openRedisKeyValue } from '../../engine/store/key-value-redis.ts'
import { readResponse, writeResponse } from '../../plugins/responses/stored/record.ts'
import { openai } from '../support/clients.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { client, ended, says, startBackground } from './background.ts'

const other = 'sk-test-ffffffffffffffffffffffffffffffff'

describe('cancelling a response', function () {
  let service: Service
  let upstream: ScriptedUpstream
  let owner: RunningGateway
  let opened: RunningGateway[]
  before(async function () {
    service = await redis(this)
  })
  after(() => service?.stop())
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    opened = []
    owner = await start()
  })
  afterEach(async () => {
    await Promise.all(opened.map((gateway) => gateway.close()))
    await upstream.close()
  })

  const start = async () => {
    const gateway = await startBackground(upstream, service.url, { api_keys: [{ name: 'other', key: other }] })
    opened.push(gateway)
    return gateway
  }
  const begin = (input = 'Take your time.') =>
    openai(owner).responses.create({ model: 'chat', input, background: true })
  /** A response whose provider does not answer. */
  const begun = async () => {
    upstream.answer({ silent: true })
    const before = upstream.requests.length
    const response = await begin()
    await upstream.received(before + 1)
    return response
  }
  const completed = async () => {
    upstream.answer(says('chat', 'Done.'))
    return ended(openai(owner), (await begin()).id)
  }
  const cancel = (gateway: RunningGateway, id: string, key = gateway.key) =>
    fetch(`${gateway.url}/v1/responses/${id}/cancel`, { method: 'POST', headers: { authorization: `Bearer ${key}` } })
  const rowWhere = (gateway: RunningGateway, code: string) => gateway.row(({ error }) => error === code)

  it('stops it from another process, and answers it every time', async () => {
    const { id } = await begun()
    const far = await start()
    const first = await client(far).responses.cancel(id)
    expect(first).to.deep.include({ id, status: 'cancelled', output: [], usage: null, error: null, background: true })
    await upstream.closed()
    const second = await client(far).responses.cancel(id)
    expect(second).to.deep.equal(first)
    expect(await client(owner).responses.retrieve(id)).to.deep.equal({ ...first, output_text: '' })
    const row = await rowWhere(owner, 'cancelled')
    expect(row).to.include({ type: 'responses', requested: 'chat', result: 'failed' })
    expect(row.key_id).to.be.a('string')
  })

  it('stops it in its own process', async () => {
    const { id } = await begun()
    expect(await openai(owner).responses.cancel(id)).to.include({ status: 'cancelled' })
    await upstream.closed()
  })

  it('comes with its deletion', async () => {
    const { id } = await begun()
    const far = await start()
    await client(far).responses.delete(id)
    await upstream.closed()
    expect(await rowWhere(owner, 'cancelled')).to.include({ requested: 'chat' })
    expect((await cancel(owner, id)).status).to.equal(404)
  })

  it('keeps one from beginning that still waits', async () => {
    upstream.answer({ silent: true })
    const busy = await Promise.all(Array.from({ length: 64 }, () => begin()))
    await upstream.received(64)
    const waiting = await begin('Me too.')
    expect(await openai(owner).responses.cancel(waiting.id)).to.include({ status: 'cancelled' })
    expect(await rowWhere(owner, 'cancelled')).to.include({ requested: 'chat', model: null, input_tokens: 0 })
    await Promise.all(busy.map(({ id }) => openai(owner).responses.cancel(id)))
    await upstream.closed()
    upstream.answer(says('chat', 'Done.'))
    await ended(openai(owner), (await begin('Next.')).id)
    expect(upstream.requests.filter(({ body }) => body.includes('Me too.'))).to.have.length(0)
  })

  it('is refused for one that has ended, or that its client waited for', async () => {
    const waitedFor = await (async () => {
      upstream.answer(says('chat', 'Done.'))
      return openai(owner).responses.create({ model: 'chat', input: 'Now.' })
    })()
    upstream.answer(says('chat', 'Once', true))
    const incomplete = await ended(openai(owner), (await begin()).id)
    upstream.answer({ status: 400, body: { error: { message: 'No.' } } })
    const failed = await ended(openai(owner), (await begin()).id)
    const done = await completed()
    const reasons = await Promise.all(
      [waitedFor, incomplete, failed, done].map(async ({ id }) => {
        const response = await cancel(owner, id)
        const { error } = (await response.json()) as { error: { code: string; message: string } }
        return [response.status, response.headers.get('x-should-retry'), error.code, error.message]
      }),
    )
    const ofStatus = (status: string) => `Cannot cancel a response that has ended: its status is ${status}.`
    const synchronous = 'Cannot cancel a synchronous response: only one made with "background": true can be cancelled.'
    expect(reasons).to.deep.equal(
      [synchronous, ...['incomplete', 'failed', 'completed'].map(ofStatus)].map((message) => [
        409,
        'false',
        'response_not_cancellable',
        message,
      ]),
    )
    expect(await openai(owner).responses.retrieve(done.id)).to.include({ status: 'completed' })
  })

  it('knows no response of another key, and none that never was', async () => {
    const { id } = await begun()
    const answers = await Promise.all([cancel(owner, id, other), cancel(owner, 'resp_nobody')])
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.map(({ status }) => status)).to.deep.equal([404, 404])
    expect(bodies[0]?.replace(id, '')).to.equal(bodies[1]?.replace('resp_nobody', ''))
    expect(await openai(owner).responses.retrieve(id)).to.include({ status: 'in_progress' })
    expect(await openai(owner).responses.cancel(id)).to.include({ status: 'cancelled' })
  })

  it('and its completion: exactly one of them counts', async () => {
    upstream.answer(says('chat', 'Done.'))
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const { id } = await begin()
        const { status } = await cancel(owner, id)
        const final = await ended(openai(owner), id)
        return { status, final: final.status, again: (await cancel(owner, id)).status }
      }),
    )
    for (const { status, final, again } of outcomes) {
      expect([200, 409]).to.include(status)
      expect(final).to.equal(status === 200 ? 'cancelled' : 'completed')
      expect(again).to.equal(status)
    }
  })

  it('stands against a process that did not hear of it: what that writes is refused', async () => {
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await asked
      return says('chat', 'Too late.')
    })
    const { id } = await begin()
    await upstream.received()
    const store = await openRedisKeyValue(service.url, pino({ level: 'silent' }))
    const found = await readResponse(store, id)
    if (!found) throw new Error('the response is not there')
    const { record, version } = found
    await writeResponse(store, { ...record, response: { ...record.response, status: 'cancelled' } }, { version })
    answer()
    await until(() => owner.lines.some((line) => line.includes('came too late')))
    expect(await openai(owner).responses.retrieve(id)).to.deep.include({ status: 'cancelled', output: [] })
    const row = await owner.row(({ type, model }) => type === 'responses' && model === 'chat')
    expect(JSON.parse(row.metadata)).to.include({ refused: 'cancelled' })
    expect(row).to.include({ input_tokens: 11, output_tokens: 7 })
    await store.close()
  })
})
