import { expect } from 'chai'
import { Redis } from 'ioredis'
import { asText } from '../../../engine/kit.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { chatAnswer } from '../../service/streams.ts'
import { redis } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { say, startRouting } from '../core/rig.ts'
import type { Routed, Routing, RoutingOptions } from '../core/rig.ts'

/** Two models of one level. One costs nearly three times as much, but a tenth for input that it has in its cache. */
const models = [
  { name: 'dear', pricing: { input: 4, output: 0.1, cache_read: 0.4 } },
  { name: 'cheap', pricing: { input: 1.5, output: 0.1 } },
].map((model) => ({ ...model, provider: 'far', quality_tier: 'balanced', auto_eligible: true, supports_tools: true }))

/** An answer that has read a share of its input from the cache. */
const cachedAnswer = (share: number) => ({
  ...chatAnswer,
  usage: {
    prompt_tokens: 1000,
    completion_tokens: 10,
    total_tokens: 1010,
    prompt_tokens_details: { cached_tokens: 1000 * share },
  },
})

const long = (text: string) => `${text} ${'and so on '.repeat(400)}`
const user = (content: string) => ({ role: 'user', content })
const assistant = { role: 'assistant', content: 'Yes.' }
const call = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
}
const result = { role: 'tool', tool_call_id: 'call_1', content: 'done' }
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
const only = (model: string) => ({ routing: { allow: [model] } })

describe('a conversation', () => {
  let store: Service
  let client: Redis
  let gateways: Routing[] = []
  before(async function () {
    store = await redis(this)
    client = new Redis(store.url)
  })
  after(() => client.disconnect())
  afterEach(async () => {
    await Promise.all(gateways.map((one) => one.close()))
    gateways = []
  })

  const start = async (routing: object = {}, isShared = true, options: RoutingOptions = {}): Promise<Routing> => {
    const shared = isShared ? { key_value: { url: store.url } } : {}
    const started = await startRouting({
      models,
      ...shared,
      ...options,
      routing: { continuity: { bonus: 0 }, ...routing },
    })
    started.upstream.answer({ body: cachedAnswer(0) })
    gateways.push(started)
    return started
  }
  const keyOf = ({ routing }: Routed) => `sluice:kv:routing:conv:${asText(routing['conversation'])}:last_model`
  const keptOf = async (answer: Routed) => {
    await until(async () => (await client.exists(keyOf(answer))) === 1)
    return JSON.parse((await client.hget(keyOf(answer), 'value')) ?? '') as unknown
  }
  /** A first turn with `dear`, which has the share of the input in its cache then. */
  const begin = async (gateway: Routing, text: string, share: number) => {
    gateway.upstream.answer({ body: cachedAnswer(share) })
    const first = await gateway.ask({ ...say(long(text)), ...only('dear') })
    expect(first.routing['served']).to.equal('dear')
    await keptOf(first)
    return first
  }
  const isUnknown = ({ routing }: Pick<Routed, 'routing'>) =>
    (routing['notes'] as readonly string[]).includes('continuity=unavailable')
  /** The last answer of a conversation; of one that begins otherwise, where a busy machine gave no time to the store. */
  const inTime = async (text: string, converse: (text: string) => Promise<Routed>): Promise<Routed> => {
    const answer = await converse(text)
    return isUnknown(answer) ? inTime(`${text}.`, converse) : answer
  }
  const next = (text: string) => ({ model: 'auto', messages: [user(long(text)), assistant, user('Go on.')] })

  it('is kept for 30 minutes after each answer, by the hash of its key and its beginning', async () => {
    const gateway = await start()
    const first = await begin(gateway, 'kept', 0.5)
    expect(first.routing['conversation']).to.match(/^[0-9a-f]{64}$/)
    const { complexity, tier } = first.routing
    expect(await keptOf(first)).to.deep.equal({ model: 'dear', complexity, tier, cached: 0.5, turns: 1 })
    expect(await client.pttl(keyOf(first))).to.be.within(1_000_000, 1_800_000)
    await client.pexpire(keyOf(first), 60_000)
    const second = await gateway.ask({ ...next('kept'), ...only('dear') })
    expect(second.routing).to.include({ conversation: first.routing['conversation'] })
    await until(async () => (await client.pttl(keyOf(first))) > 1_000_000)
    const third = () => gateway.ask({ ...next('kept'), ...only('dear') })
    await until(async () => (await third()).routing['incumbent'] === 'dear')
  })

  it('stays with a model whose cache is worth more than the other one saves, in every process', async () => {
    const [one, other] = [await start(), await start()]
    const after = async (text: string, share: number) => {
      await begin(one, text, share)
      return other.ask(next(text))
    }
    const warm = await inTime('warm', (text) => after(text, 0.9))
    expect(warm.routing).to.include({ chosen: 'dear', incumbent: 'dear' })
    const cold = await inTime('cold', (text) => after(text, 0))
    expect(cold.routing).to.include({ chosen: 'cheap', incumbent: 'dear' })
    // 90 % of the input at a tenth of the price, as predicted.
    const costs = [warm, cold].map(
      ({ routing }) =>
        routing['estimate'] as { readonly input: number; readonly output: number; readonly cost: number },
    )
    for (const [index, perToken] of [4 * 0.1 + 0.4 * 0.9, 1.5].entries()) {
      const { input, output, cost } = costs[index] ?? { input: 0, output: 0, cost: 0 }
      expect(cost).to.be.closeTo((input * perToken + output * 0.1) / 1e6, 1e-9)
    }
  })

  it('gets the bonus of its model', async () => {
    const gateway = await start({ continuity: { bonus: 0.3 } })
    const second = await inTime('bonus', async (text) => {
      await begin(gateway, text, 0)
      return gateway.ask(next(text))
    })
    expect(second.routing).to.include({ chosen: 'dear' })
  })

  it('stays with its model while an agent works, whatever that costs', async () => {
    const [one, other] = [await start(), await start()]
    const step = async (text: string, more: object = {}) => {
      await begin(one, text, 0)
      return other.ask({ model: 'auto', tools, messages: [user(long(text)), call, result], ...more })
    }
    const stuck = await inTime('steps', step)
    expect(stuck.routing).to.include({ chosen: 'dear' })
    expect(stuck.routing['notes']).to.include('sticky=dear')
    const moved = await inTime('further steps', (text) => step(text, only('cheap')))
    expect(moved.routing).to.include({ chosen: 'cheap' })
    expect(moved.routing['notes']).to.include('sticky=broken:gate')
  })

  it('goes on with the model that served it in place of another one', async () => {
    const gateway = await start()
    gateway.upstream.answer({ status: 500, body: {} }, { body: cachedAnswer(0) })
    const first = await gateway.ask({ ...say(long('fallback')) })
    expect(first.routing).to.include({ chosen: 'cheap', served: 'dear' })
    expect(await keptOf(first)).to.include({ model: 'dear' })
  })

  it('is that of the API key, and of the name that the client gives it', async () => {
    const gateway = await start()
    const conversation = async (body: object, headers: Record<string, string> = {}) =>
      (await gateway.ask({ ...say('Hi'), ...body }, headers)).routing['conversation']
    const named = await conversation({ routing: { conversation: 'n' } })
    const ids = [
      named,
      await conversation({}, { 'x-conversation-id': 'n' }),
      await conversation({ prompt_cache_key: 'n' }),
      await conversation({}),
      await conversation({ messages: [user('Ho')] }),
    ]
    expect(new Set(ids).size).to.equal(5)
    const both = { routing: { conversation: 'n' }, prompt_cache_key: 'm' }
    expect(await conversation(both, { 'x-conversation-id': 'm' })).to.equal(named)
    expect(await conversation({ prompt_cache_key: 'm' }, { 'x-conversation-id': 'n' })).to.equal(ids[1])
  })

  it('is a chain of responses before it is a key of the cache', async () => {
    const gateway = await start()
    let rows = 0
    const respond = async (body: object) => {
      const answer = await gateway.gateway.post('/v1/responses', { model: 'auto', ...body })
      expect(answer.status).to.equal(200)
      const { id } = (await answer.json()) as { readonly id: string }
      const row = (await gateway.gateway.rows(++rows)).at(-1)
      const { routing } = JSON.parse(row?.metadata ?? '') as { readonly routing: JsonObject }
      return { id, routing, conversation: routing['conversation'] }
    }
    const shared = { prompt_cache_key: 'shared' }
    const [one, other] = [await respond({ input: 'One', ...shared }), await respond({ input: 'Other', ...shared })]
    expect(one.conversation).not.to.equal(other.conversation)
    const goOn = () => respond({ input: 'Go on.', previous_response_id: one.id, ...shared })
    let second = await goOn()
    while (isUnknown(second)) second = await goOn()
    const third = await respond({ input: 'Go on.', previous_response_id: second.id })
    expect([second.conversation, third.conversation]).to.deep.equal([one.conversation, one.conversation])
    expect(second.routing['incumbent']).to.equal(one.routing['served'])
    // What is not stored is no chain.
    const loose = await respond({ input: 'One', store: false, ...shared })
    expect((await respond({ input: 'Other', store: false, ...shared })).conversation).to.equal(loose.conversation)
    expect(loose.conversation).not.to.equal(one.conversation)
  })

  it('goes on after a response in the background, which learns from the next turn', async () => {
    const gateway = await start({ experience: { implicit: true } })
    gateway.upstream.answer({ body: cachedAnswer(0.5) })
    const respond = async (body: object) => {
      const answer = await gateway.gateway.post('/v1/responses', { model: 'auto', ...body })
      return (await answer.json()) as { readonly id: string }
    }
    const { id } = await respond({ input: 'Begin.', background: true })
    const row = await gateway.gateway.row(({ type, metadata }) => type === 'responses' && metadata.includes('"served"'))
    const { routing } = JSON.parse(row.metadata) as { readonly routing: JsonObject }
    const { conversation, complexity, tier, served } = routing
    const kept = `sluice:kv:routing:conv:${asText(conversation)}:last_model`
    await until(async () => (await client.exists(kept)) === 1)
    expect(JSON.parse((await client.hget(kept, 'value')) ?? '')).to.deep.equal({
      model: served,
      complexity,
      tier,
      cached: 0.5,
      turns: 1,
    })
    await respond({ input: 'Go on.', previous_response_id: id })
    const next = await gateway.gateway.row((one) => one.id !== row.id && one.metadata.includes('"served"'))
    expect(next.metadata).to.include(`"incumbent":"${asText(served)}"`)
    const rewards = () =>
      tablesOf(gateway.gateway.engine.database).selectFrom('experience_rewards').selectAll().execute()
    await until(async () => (await rewards()).length > 0)
    const [learned, ...others] = await rewards()
    expect(others).to.deep.equal([])
    expect(learned).to.include({
      decision: row.id,
      source: 'implicit:next_turn',
      model: served,
      reward: 1,
      weight: 0.25,
    })
  })

  it('takes part in judging what refers back to it, in every process', async () => {
    const [one, other] = [await start({}, true, { plugins: [] }), await start({}, true, { plugins: [] })]
    let complexity: unknown
    const second = await inTime('refers back', async (conversation) => {
      const first = await one.ask({ ...say('Prove it.'), routing: { conversation, hint: 'COMPLEX' } })
      expect(first.routing).to.include({ tier: 'COMPLEX' })
      await keptOf(first)
      ;({ complexity } = first.routing)
      return other.ask({ routing: { conversation }, messages: [user('Prove it.'), assistant, user('continue')] })
    })
    expect(second.routing).to.have.nested.property('features.facts.refers_back', true)
    expect(second.routing).to.have.nested.property('features.facts.previous.age', 1)
    expect(second.routing)
      .to.have.nested.property('features.facts.previous.complexity')
      .that.is.closeTo(Number(complexity), 1e-6)
    const apart = await other.ask({ messages: [user('Prove it.'), assistant, user('continue')] })
    expect(second.routing['complexity']).to.be.above(apart.routing['complexity'] as number)
  })

  it('is chosen for anew without a shared store', async () => {
    const gateway = await start({}, false)
    gateway.upstream.answer({ body: cachedAnswer(0.9) })
    const first = await gateway.ask({ ...say(long('alone')), ...only('dear') })
    expect(first.routing['conversation']).to.match(/^[0-9a-f]{64}$/)
    const second = await gateway.ask(next('alone'))
    expect(second.routing).to.include({ chosen: 'cheap', incumbent: null })
    expect(second.routing['notes']).to.not.include('continuity=unavailable')
  })

  it('is chosen for anew while the store does not answer, and goes on when it is back', async function () {
    if (store.pid === undefined) return this.skip()
    const gateway = await start()
    await begin(gateway, 'away', 0.9)
    process.kill(store.pid, 'SIGSTOP')
    try {
      const alone = await gateway.ask(next('away'))
      expect(alone.status).to.equal(200)
      expect(alone.routing).to.include({ chosen: 'cheap', incumbent: null })
      expect(alone.routing['notes']).to.include('continuity=unavailable')
    } finally {
      process.kill(store.pid, 'SIGCONT')
    }
    await until(async () => (await gateway.ask(next('away'))).routing['incumbent'] !== null)
  })
})
