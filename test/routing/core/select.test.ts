import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { chatAnswer, chatFrames } from '../../service/streams.ts'
import { say, startRouting, threeModels } from './rig.ts'
import type { Routing, RoutingOptions } from './rig.ts'

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
const schema = { type: 'json_schema', json_schema: { name: 'one', schema: { type: 'object', properties: {} } } }
const broken = { status: 500, body: { error: { message: 'broken' } } }
/** Not exactly rounded, as products of binary numbers are not. */
const usd = (amount: number) => Number(amount.toPrecision(9))

describe('routing/select', () => {
  let rig: Routing
  afterEach(() => rig.close())
  const start = async (options: RoutingOptions = {}) => {
    rig = await startRouting(options)
  }
  const hard = (complexity: number | string, model = 'auto') => say(`complexity ${complexity}`, model)

  it('chooses by complexity, mode and cost', async () => {
    await start()
    const chosen: Record<string, unknown> = {}
    for (const mode of ['fast', 'auto', 'best'])
      for (const complexity of [0.1, 0.5, 0.95])
        chosen[`${mode} ${complexity}`] = (await rig.ask(hard(complexity, mode))).routing['chosen']
    expect(chosen).to.deep.equal({
      'fast 0.1': 'small',
      'fast 0.5': 'small',
      'fast 0.95': 'mid',
      'auto 0.1': 'small',
      'auto 0.5': 'mid',
      'auto 0.95': 'large',
      'best 0.1': 'large',
      'best 0.5': 'large',
      'best 0.95': 'large',
    })
    // The provider is asked for what was chosen, and the client's bytes stay as they are otherwise.
    expect(rig.asked.at(-1)).to.equal('large')
    const { body } = rig.upstream.requests.at(-1) ?? {}
    expect(JSON.parse(String(body))).to.deep.equal({ ...hard(0.95), model: 'large' })
  })

  it('compares models by what a better one gains, and keeps the tier of the complexity', async () => {
    await start({ routing: { diagnostics: true } })
    const [gaining, hardly] = [await rig.ask(hard('0.9 benefit 0.95')), await rig.ask(hard('0.9 benefit 0.1'))]
    expect([gaining, hardly].map(({ routing }) => routing['chosen'])).to.deep.equal(['large', 'small'])
    for (const { routing, headers, metadata } of [gaining, hardly]) {
      expect([routing['tier'], routing['complexity'], metadata['routing_complexity']]).to.deep.equal([
        'COMPLEX',
        0.9,
        0.9,
      ])
      expect(headers.get('x-gateway-tier')).to.equal('COMPLEX')
    }
    expect(gaining.headers.get('x-gateway-reason')).to.equal('tier=COMPLEX | structural=0.9 | chosen=large')
    expect([gaining, hardly].map(({ routing }) => routing['benefit'])).to.deep.equal([0.95, 0.1])
    expect(hardly.routing['ensemble']).to.deep.equal({ complexity: 0.9, tier: 'COMPLEX' })
    const { weights } = hardly.routing['diagnostics'] as { readonly weights: JsonObject }
    expect(weights).to.deep.equal({ quality: 0.678, gate: 0.6, need: 0 })
    // Signals that give one number count with it for both.
    expect((await rig.ask(hard(0.95))).routing).to.include({ complexity: 0.95, benefit: 0.95, chosen: 'large' })
  })

  it('lifts the benefit into the tier of a floor, and lowers it into that of a cap', async () => {
    await start({ models: threeModels.map((model) => ({ ...model, supports_images: true })) })
    const seen = async (body: object) => {
      const { tier, complexity, benefit, ensemble } = (await rig.ask(body)).routing
      return [tier, complexity, benefit, (ensemble as JsonObject)['benefit']]
    }
    const shown = (text: string) => say([{ type: 'text', text }, image])
    expect(await seen(shown('complexity 0.1 benefit 0.2'))).to.deep.equal(['MEDIUM', 0.33, 0.33, 0.2])
    expect(await seen(shown('complexity 0.1 benefit 0.9'))).to.deep.equal(['MEDIUM', 0.33, 0.669, 0.9])
    expect(await seen(shown('complexity 0.4 benefit 0.2'))).to.deep.equal(['MEDIUM', 0.4, 0.2, undefined])
    const reading = { messages: steps.of('0.9 benefit 0.8', 'read_file', 'read_file', 'read_file') }
    expect(await seen(reading)).to.deep.equal(['MEDIUM', 0.669, 0.669, 0.8])
  })

  it('applies floors and caps, which a setting may switch off', async () => {
    const models = threeModels.map((model) => ({ ...model, supports_images: true }))
    await start({ models })
    const simple = hard(0.1).messages
    const cases: readonly [object, string, readonly string[]][] = [
      [{ messages: simple }, 'SIMPLE', []],
      [{ messages: [...simple, ...say([image]).messages] }, 'MEDIUM', ['floor=vision:MEDIUM']],
      [{ messages: simple, response_format: schema }, 'MEDIUM', ['floor=structured_output:MEDIUM']],
      [{ messages: simple, response_format: { type: 'json_object' } }, 'SIMPLE', []],
      [
        { ...hard(0.9), messages: steps('read_file', 'read_file', 'read_file') },
        'MEDIUM',
        ['cap=routine_success:MEDIUM'],
      ],
      [{ messages: steps('write_file', 'read_file') }, 'COMPLEX', []],
      [{ messages: steps.of(0.1, 'write_file', 'run_tests') }, 'MEDIUM', ['floor=final_verification:MEDIUM']],
      [{ messages: steps.of(0.1, 'write_file', 'run_tests', 'look') }, 'SIMPLE', []],
      [{ messages: steps.of(0.1, 'read_file', 'run_tests') }, 'SIMPLE', []],
    ]
    for (const [body, tier, notes] of cases) {
      const { routing, headers } = await rig.ask(body)
      expect([routing['tier'], routing['notes']], JSON.stringify(body)).to.deep.equal([tier, notes])
      expect(headers.get('x-gateway-tier')).to.equal(tier)
    }
    await rig.close()
    const none = { vision: 'none', structured_output: 'COMPLEX' }
    await start({ models, routing: { floors: none, caps: { routine_success: 'none' } } })
    const routine = { ...hard(0.9), messages: steps('read_file', 'read_file', 'read_file') }
    expect((await rig.ask(routine)).routing).to.deep.include({ tier: 'COMPLEX', notes: [] })
    expect((await rig.ask({ messages: [...simple, ...say([image]).messages] })).routing['tier']).to.equal('SIMPLE')
    const lifted = (await rig.ask({ messages: simple, response_format: schema })).routing
    expect(lifted).to.deep.include({ tier: 'COMPLEX', complexity: 0.67, ensemble: { complexity: 0.1, tier: 'SIMPLE' } })
    await rig.close()
    await start({ models, routing: { floors: { vision: null }, caps: { routine_success: null } } })
    expect((await rig.ask({ messages: [...simple, ...say([image]).messages] })).routing['tier']).to.equal('MEDIUM')
    expect((await rig.ask(routine)).routing['tier']).to.equal('MEDIUM')
  })

  /** An agent whose task has the complexity 0.9, after calls of these tools that worked. */
  const steps = Object.assign((...tools: readonly string[]) => stepsOf(0.9, ...tools), { of: stepsOf })

  function stepsOf(complexity: number | string, ...tools: readonly string[]): readonly JsonObject[] {
    const calls = tools.flatMap((name, index): readonly JsonObject[] => {
      const call = { id: `call_${index}`, type: 'function', function: { name, arguments: `{"at":${index}}` } }
      return [
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: `call_${index}`, content: 'Done.' },
      ]
    })
    return [...hard(complexity).messages, ...calls]
  }

  it('asks the next model of the list after a failure, never one beyond it', async () => {
    const resilience = { retries: { wait: '1ms' }, breaker: { enabled: false } }
    await start({
      models: [
        ...threeModels.map((model) => ({ ...model, fallbacks: ['outside'] })),
        { name: 'outside', provider: 'far', upstream_model: 'outside' },
      ],
      server_config: { resilience },
    })
    rig.upstream.answer(broken, { body: chatAnswer })
    const { status, headers, metadata, routing } = await rig.ask(hard(0.5))
    expect([status, headers.get('x-gateway-model')]).to.deep.equal([200, rig.asked[1]])
    expect(rig.asked).to.deep.equal((routing['candidates'] as readonly string[]).slice(0, 2))
    expect(routing['chosen']).to.equal(rig.asked[0])
    expect([routing['served'], metadata['resolved_model']]).to.deep.equal([rig.asked[1], rig.asked[1]])
    rig.upstream.answer(broken)
    const failed = await rig.ask(hard(0.5))
    expect(failed.status).to.equal(502)
    expect(rig.asked.slice(2)).to.have.members(['small', 'mid', 'large'])
    expect(failed.routing).to.deep.include({ served: null, actual: null })
    expect(failed.metadata['resolved_model']).to.equal(rig.asked.at(-1))
  })

  it('asks a provider whose circuit is open last', async () => {
    await start({
      server_config: { resilience: { retries: { tries: 1 }, breaker: { failures: 1, open: '1h', open_max: '1h' } } },
    })
    rig.upstream.answer(broken, { body: chatAnswer })
    const first = await rig.ask(hard(0.5))
    expect([first.status, rig.asked[0]]).to.deep.equal([502, 'mid'])
    const { status, routing } = await rig.ask(hard(0.5))
    expect(status).to.equal(200)
    expect((routing['candidates'] as readonly string[]).at(-1)).to.equal('mid')
    expect(routing['notes']).to.deep.equal(['circuit=far'])
  })

  it('predicts costs, and compares them with a baseline before and after', async () => {
    await start({ routing: { baseline_model: 'small' } })
    const { metadata, routing } = await rig.ask(hard(0.5))
    const estimate = routing['estimate'] as Record<string, number>
    expect(routing['estimate']).to.deep.include({ output: 600, baseline: 'small' })
    const cost = ((estimate['input'] ?? 0) + 600 * 4) / 1e6
    expect([estimate['cost'], estimate['baseline_cost']].map((one) => usd(one ?? 0))).to.deep.equal([
      usd(cost),
      usd(cost / 10),
    ])
    expect(metadata['routing_cost_estimate']).to.equal(estimate['cost'])
    // It is dearer than the baseline.
    expect(usd(Number(metadata['routing_savings']))).to.equal(usd(-0.9 * cost))
    // 9 tokens of input and 4 of output, rounded to micro-USD.
    expect(routing['actual']).to.deep.equal({
      cost: 0.000025,
      baseline_cost: 0.000003,
      judge_cost: 0,
      savings: -0.000022,
    })
    const [row] = await rig.gateway.rows()
    expect([row?.savings_micros, row?.tier, row?.model]).to.deep.equal([-22, 'MEDIUM', 'mid'])
    await rig.close()
    await start()
    expect((await rig.ask(hard(0.5))).routing['estimate']).to.deep.include({ baseline: 'large' })
    await rig.close()
    await start({ models: threeModels.map((model) => ({ ...model, pricing: undefined })) })
    const free = await rig.ask(hard(0.5))
    expect(free.metadata).to.deep.include({ routing_cost_estimate: null, routing_savings: null })
    expect(free.routing['actual']).to.deep.equal({ cost: null, baseline_cost: null, judge_cost: 0, savings: null })
  })

  it('predicts no more output than the client allows, and what the model used to answer', async () => {
    await start({ models: threeModels.slice(1, 2), routing: { exploration: { enabled: true } } })
    const output = async (body: object) => ((await rig.ask(body)).routing['estimate'] as JsonObject)['output']
    expect(await output({ ...hard(0.5), max_tokens: 50 })).to.equal(50)
    expect(await output(hard(0.1))).to.equal(200)
    // One answer of a conversation counts, so equal asks are one.
    for (let count = 0; count < 5; count++) await rig.ask(hard(`0.5, question ${count}`))
    // The answers of the upstream have 4 tokens.
    expect(await output(hard(0.5))).to.equal(4)
  })

  it('leaves nothing of routing in the rows of models that are named', async () => {
    await start()
    const { metadata, headers } = await rig.ask(say('Hello', 'small'))
    expect(Object.keys(metadata).filter((name) => /rout|resolved/.test(name))).to.deep.equal([])
    expect(headers.get('x-gateway-tier')).to.equal(null)
  })

  it('routes streams and messages, too', async () => {
    await start()
    rig.upstream.answer({ frames: chatFrames('Hello') })
    const body = { ...hard(0.5), stream: true }
    const streamed = await rig.gateway.post('/v1/chat/completions', body)
    expect(await streamed.text()).to.include('Hello')
    expect(streamed.headers.get('x-gateway-tier')).to.equal('MEDIUM')
    rig.upstream.answer({ body: chatAnswer })
    const answer = await rig.gateway.post('/v1/messages', { ...hard(0.9, 'Best'), max_tokens: 10 })
    expect([answer.status, answer.headers.get('x-gateway-model')]).to.deep.equal([200, 'large'])
    const rows = await rig.gateway.rows(2)
    for (const { metadata } of rows) expect((JSON.parse(metadata) as JsonObject)['routing']).to.include({ error: null })
    expect(rows.map(({ requested }) => requested)).to.deep.equal(['auto', 'Best'])
  })
})
