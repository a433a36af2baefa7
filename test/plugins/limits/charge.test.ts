import { expect } from 'chai'
import { Redis } from 'ioredis'
import { WebSocket } from 'ws'
import type { Limits } from '../../../plugins/limits/limits.ts'
import { chatAnswer } from '../../service/streams.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { keysOf } from '../../support/keys.ts'
import { copyPipelines } from '../../support/pipelines.ts'
import { redis as startRedis } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

const secret = 'sk-limited-0123456789abcdef0123456789abcdef'
const input = 'Hello'

/** USD of one answer: 13 tokens at 100 USD per million. */
const cost = 0.0013

describe('plugins/limits/charge', function () {
  this.timeout(300_000)

  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  const start = async (limits: object, settings: GatewaySettings = {}) => {
    gateway = await startGateway({
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far', pricing: { input: 100, output: 100 } }],
      api_keys: [{ name: 'limited', key: secret, ...limits }],
      ...settings,
    })
  }
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  const limitsOf = () => gateway.engine.live.current.views.of(['limits'])['limits'] as Limits
  const budget = { usd: 1, period: 'month' } as const
  const state = (kind: 'key' | 'member' = 'key', id = 'file:limited') => limitsOf().budgetOf({ kind, id }, budget)
  const post = (path: string, body: object, key = secret) =>
    gateway.post(path, body, { authorization: `Bearer ${key}` })

  it('counts each turn of a socket as a request, and charges it', async () => {
    await start({ rate_limit: { requests: 2, concurrency: 1, period: '30d' }, budget })
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    const frames: { type: string; error?: { code: string } }[] = []
    socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as (typeof frames)[number]))
    await new Promise((resolve) => socket.once('open', resolve))
    for (const turn of [1, 2]) {
      socket.send(JSON.stringify({ type: 'response.create', model: 'm', input, max_output_tokens: 10 }))
      await until(() => frames.filter(({ type }) => type === 'response.completed').length === turn)
    }
    await gateway.rows(2)
    await until(async () => (await state()).spent === 2 * cost)
    socket.send(JSON.stringify({ type: 'response.create', model: 'm', input, max_output_tokens: 10 }))
    await until(() => frames.some(({ type }) => type === 'error'))
    expect(frames.at(-1)?.error?.code).to.equal('rate_limit_exceeded')
    socket.close()
  })

  it('counts a response in the background once, holds for it until its run has ended, and charges that', async function () {
    const service = await startRedis(this)
    const limits = { rate_limit: { requests: 5, tokens: 10_000, concurrency: 1, period: '30d' }, budget }
    await start(limits, { key_value: { url: service.url } })
    const go = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await go.promise
      return { body: chatAnswer }
    })
    const body = { model: 'm', input, max_output_tokens: 10 }
    const answer = await post('/v1/responses', { ...body, background: true })
    expect(answer.headers.get('x-ratelimit-remaining-requests')).to.equal('4')
    const { id } = (await answer.json()) as { id: string }
    await until(() => upstream.requests.length === 1)
    // It has the only place, and money.
    expect((await post('/v1/responses', body)).status).to.equal(429)
    const held = await state()
    expect(held.held).to.be.within(0.001, 0.002)
    expect(held.spent).to.equal(0)
    go.resolve()
    const status = async () => {
      const response = await fetch(`${gateway.url}/v1/responses/${id}`, {
        headers: { authorization: `Bearer ${secret}` },
      })
      return ((await response.json()) as { status: string }).status
    }
    await until(async () => (await status()) === 'completed')
    await until(async () => (await state()).held === 0)
    expect((await state()).spent).to.equal(cost)
    const [row] = (await gateway.rows(2)).filter(({ status: code }) => code === 200)
    expect((JSON.parse(row?.metadata ?? '') as { charged: unknown }).charged).to.deep.equal([
      { bucket: 'key', usd: cost },
    ])
    upstream.answer({ body: chatAnswer })
    let next: Response | undefined
    await until(async () => (next = await post('/v1/responses', body)).status === 200)
    // 13 tokens were used in the background; the refused requests took nothing.
    expect(next?.headers.get('x-ratelimit-remaining-requests')).to.equal('3')
    expect(Number(next?.headers.get('x-ratelimit-remaining-tokens'))).to.be.within(9_960, 9_980)
  })

  it('charges a response in the background whose row was written before its run', async function () {
    const service = await startRedis(this)
    const pipelines = await copyPipelines()
    const later = /switch:\n +- when: \{ job: false \}.*\n +do: \[record-routing, (\{.*\})\]/
    await pipelines.edit('responses.yaml', later, 'record-routing\n  - $1')
    await start({ budget }, { pipelines: pipelines.folder, key_value: { url: service.url } })
    await post('/v1/responses', { model: 'm', input, max_output_tokens: 10, background: true })
    const charges = () => gateway.engine.database.rows<{ micros: number }>('select micros from limits_ledger')
    await until(async () => (await charges()).length > 0)
    expect(await charges()).to.deep.equal([{ micros: cost * 1_000_000 }])
    expect(await gateway.rows()).to.have.length(1)
    await pipelines.remove()
  })

  it('leaves what a response in the background holds to the process that makes it', async function () {
    const service = await startRedis(this)
    const limits = { rate_limit: { concurrency: 1 } }
    await start(limits, { key_value: { url: service.url } })
    const asking = gateway
    await start(limits, { key_value: { url: service.url } })
    const making = gateway
    try {
      const authorization = { authorization: `Bearer ${secret}` }
      const body = { model: 'm', input, max_output_tokens: 10, background: true }
      const made = (path: string) => fetch(`${asking.url}${path}`, { headers: authorization })
      // Whoever is idle for longest makes the next one.
      while ((await making.rows()).length === 0) {
        let id: string | undefined
        await until(async () => {
          const answer = (await (await asking.post('/v1/responses', body, authorization)).json()) as { id?: string }
          return (id = answer.id) !== undefined
        })
        const status = async () => ((await (await made(`/v1/responses/${id}`)).json()) as { status: string }).status
        await until(async () => (await status()) === 'completed')
      }
      const redis = new Redis(service.url)
      await redis.flushall()
      redis.disconnect()
      // Puts back what the process holds that asked for it.
      const plain = await asking.post('/v1/responses', { ...body, background: false }, authorization)
      expect(plain.status).to.equal(200)
    } finally {
      await asking.close()
    }
  })

  it('frees what a cancelled response in the background holds', async function () {
    const service = await startRedis(this)
    await start({ rate_limit: { concurrency: 1 }, budget }, { key_value: { url: service.url } })
    upstream.answer(() => new Promise(() => undefined))
    const body = { model: 'm', input, max_output_tokens: 10 }
    const { id } = (await (await post('/v1/responses', { ...body, background: true })).json()) as { id: string }
    await until(() => upstream.requests.length === 1)
    expect((await post(`/v1/responses/${id}/cancel`, {})).status).to.equal(200)
    await until(async () => (await state()).held === 0)
    upstream.answer({ body: chatAnswer })
    await until(async () => (await post('/v1/responses', body)).status === 200)
  })

  it('charges the input of a run whose process was lost, and frees its place', async function () {
    const service = await startRedis(this)
    await start({ rate_limit: { concurrency: 1 }, budget }, { key_value: { url: service.url } })
    upstream.answer(() => new Promise(() => undefined))
    const body = { model: 'm', input, max_output_tokens: 10 }
    await (await post('/v1/responses', { ...body, background: true })).json()
    await until(() => upstream.requests.length === 1)
    const { counting, charges } = limitsOf()
    const hold = (await state()).held
    const redis = new Redis(service.url)
    const [exchange = ''] = await redis.hkeys('sluice:{limits}:holds:key:file:limited')
    redis.disconnect()
    const principal = { kind: 'key', id: 'file:limited', name: 'limited' } as const
    const budgets = [{ kind: 'key', bucket: 'key:file:limited', title: '', budget }] as const
    const { micros, estimated } = await charges.chargeLost({ id: exchange, at: Date.now(), principal }, budgets, true)
    expect(estimated).to.equal(true)
    expect(micros / 1e6).to.be.within(0.0001, hold - 0.0009)
    expect(await state()).to.include({ held: 0, spent: micros / 1e6 })
    expect(await charges.chargeLost({ id: exchange, at: Date.now(), principal }, budgets, true)).to.include({
      micros: 0,
    })
    await counting.give({ id: exchange, rates: [], places: ['key:file:limited'] }, 'usual')
    upstream.answer({ body: chatAnswer })
    expect((await post('/v1/responses', body)).status).to.equal(200)
  })

  it('charges the input of a request whose client left before the answer began, and keeps its tokens', async () => {
    await start({ rate_limit: { tokens: 1_000, concurrency: 1, period: '30d' }, budget })
    upstream.answer(() => new Promise(() => undefined))
    const leaving = new AbortController()
    const body = { model: 'm', messages: [{ role: 'user', content: input }], max_tokens: 10 }
    const asked = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).catch(() => undefined)
    await until(() => upstream.requests.length === 1)
    const hold = (await state()).held
    leaving.abort()
    await asked
    const [row] = await gateway.rows(1)
    await until(async () => (await state()).held === 0)
    const { spent } = await state()
    expect(spent).to.be.within(0.0001, hold - 0.0009)
    expect(row?.metadata).to.include('"charged_by":"estimate"')
    upstream.answer({ body: chatAnswer })
    const next = await post('/v1/chat/completions', body)
    expect(next.status).to.equal(200)
    // Input and maximum of the first request, and what the second one used.
    expect(Number(next.headers.get('x-ratelimit-remaining-tokens'))).to.be.below(1_000 - 2 * 10)
  })

  it('binds all keys of a member by what the member may use', async () => {
    await start({})
    const member = {
      id: 'm-1',
      username: 'ada',
      role: 'viewer' as const,
      disabled: 0,
      must_change_password: 0,
      models: null,
      budget: JSON.stringify({ usd: 0.002, period: 'month' }),
      rate_limit: JSON.stringify({ requests: 4, period: '30d' }),
      tracing: 0,
      password: '',
      session_version: 1,
      version: 1,
      created_at: 1,
      last_login_at: null,
    }
    await tablesOf(gateway.engine.database).insertInto('members').values(member).execute()
    await tablesOf(gateway.engine.database)
      .updateTable('members_state')
      .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
      .execute()
    const members = gateway.engine.live.current.views.of(['members'])['members'] as { find(id: string): unknown }
    await until(() => members.find('m-1') !== undefined)
    const keys = []
    for (const name of ['one', 'two']) keys.push((await keysOf(gateway.engine).create({ name, owner: 'm-1' })).text)
    const [one = '', two = ''] = keys
    const body = { model: 'm', messages: [{ role: 'user', content: input }], max_tokens: 10 }
    const first = await post('/v1/chat/completions', body, one)
    expect(first.headers.get('x-ratelimit-remaining-requests')).to.equal('3')
    const second = await post('/v1/chat/completions', body, two)
    expect(second.headers.get('x-ratelimit-remaining-requests')).to.equal('2')
    await gateway.rows(2)
    const refused = await post('/v1/chat/completions', body, one)
    expect([refused.status, refused.headers.get('x-gateway-limit')]).to.deep.equal([429, 'member'])
    expect(((await refused.json()) as { error: { message: string } }).error.message).to.match(
      /^The member "ada" has used up its budget of 0\.002 USD this month\./,
    )
    expect((await state('member', 'm-1')).spent).to.equal(2 * cost)
  })
})
