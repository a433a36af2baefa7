import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { chatAnswer } from '../../service/streams.ts'
import { redis } from '../../support/services.ts'
import { until } from '../../support/until.ts'
import { say, startRouting, threeModels } from './rig.ts'
import type { Routing, RoutingOptions } from './rig.ts'

/** An answer of which the input was read from a cache. */
const cached = (tokens: number) => ({
  body: {
    ...chatAnswer,
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 4,
      total_tokens: 1_004,
      prompt_tokens_details: { cached_tokens: tokens },
    },
  },
})

describe('routing/continuity', function () {
  let rig: Routing
  afterEach(() => rig.close())

  async function start(context: Mocha.Context, options: RoutingOptions = {}) {
    const { url } = await redis(context)
    rig = await startRouting({ key_value: { url }, ...options })
  }
  const conversation = { routing: { conversation: 'ours' } }
  const hard = (complexity: number) => ({ ...say(`complexity ${complexity}`), ...conversation })
  /** A step of an agent whose task has this complexity. */
  const step = (complexity: number) => ({
    ...hard(complexity),
    messages: [
      ...hard(complexity).messages,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'write_file', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'Done.' },
    ] satisfies JsonObject[],
  })
  /** Waits until the store knows what served the conversation last. */
  const remembered = (id: unknown, model: string) =>
    until(async () => {
      const { conversations } = rig.gateway.engine.live.current.views.of(['conversations']) as {
        conversations: { recall(id: unknown, what: string): Promise<{ value?: string }> }
      }
      return ((await conversations.recall(id, 'last_model')).value ?? '').includes(`"model":"${model}"`)
    })
  const asked = async (body: object) => {
    const { routing } = await rig.ask(body)
    await remembered(routing['conversation'], routing['served'] as string)
    return routing
  }

  it('keeps the steps of an agent with the model that began them, unless they become too hard', async function () {
    await start(this)
    expect((await asked(hard(0.95)))['chosen']).to.equal('large')
    const easier = await asked(step(0.1))
    expect(easier).to.deep.include({ chosen: 'large', incumbent: 'large', notes: ['sticky=large'] })
    await rig.close()
    await start(this)
    expect((await asked(hard(0.1)))['chosen']).to.equal('small')
    const harder = await asked(step(0.95))
    expect(harder['notes']).to.deep.equal(['sticky=broken:tier'])
    expect(harder['chosen']).to.equal('large')
    // Within these steps, what the model was chosen for only rises.
    expect((await asked(step(0.4)))['chosen']).to.equal('large')
    expect((await asked(step(0.95)))['notes']).to.deep.equal(['sticky=large'])
  })

  it('moves on when a gate has removed the model', async function () {
    await start(this)
    expect((await asked(hard(0.95)))['chosen']).to.equal('large')
    const routing = await asked({ ...step(0.5), routing: { ...conversation.routing, deny: ['large'] } })
    expect(routing['notes']).to.deep.equal(['sticky=broken:gate'])
    expect(routing['chosen']).not.to.equal('large')
  })

  it('costs the cache that a switch loses', async function () {
    const twins = threeModels.slice(0, 2).map((model, index) => ({
      ...model,
      quality_tier: 'balanced',
      pricing: { input: 1 + index, output: 1, cache_read: 0.01 },
    }))
    for (const tokens of [0, 900]) {
      await start(this, {
        models: twins,
        routing: { exploration: { enabled: false }, continuity: { bonus: 0 }, experience: { implicit: false } },
      })
      rig.upstream.answer(cached(tokens))
      const long = (more: object = {}) => ({ ...say('complexity 0.5 '.repeat(300)), ...conversation, ...more })
      // The time until answers begin is known of both.
      for (const model of ['small', 'mid']) await asked(long({ routing: { conversation: model, allow: [model] } }))
      const first = await asked(long({ routing: { ...conversation.routing, allow: ['mid'] } }))
      expect(first['chosen']).to.equal('mid')
      // The other model is cheaper, but has nothing in its cache.
      const { chosen, estimate, incumbent } = await asked(long())
      expect([incumbent, chosen]).to.deep.equal(['mid', tokens === 0 ? 'small' : 'mid'])
      const { input, output, cost } = estimate as {
        readonly input: number
        readonly output: number
        readonly cost: number
      }
      const perToken = tokens === 0 ? 1 : 0.1 * 2 + 0.9 * 0.01
      expect(cost).to.be.closeTo((input * perToken + output) / 1e6, 1e-9)
      await rig.close()
    }
    await start(this)
  })

  it('takes the model that served after a failure for the one to stay with', async function () {
    await start(this, { server_config: { resilience: { retries: { wait: '1ms' } } } })
    rig.upstream.answer({ status: 500, body: {} }, cached(0))
    const { chosen, served } = await asked(hard(0.5))
    expect(served).not.to.equal(chosen)
    expect((await asked(step(0.5)))['incumbent']).to.equal(served)
  })
})
