import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { conforms } from '../conformance/responses/check.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import { says, servedBy } from './background.ts'
import { asked } from './stored-upstreams.ts'

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 'v']))
const tool = { type: 'function', name: 'weather' }

/** Bodies at a limit, and beyond it with the place that the refusal names. */
const limits: readonly { name: string; at: readonly JsonObject[]; beyond: readonly [JsonObject, string][] }[] = [
  {
    name: 'max_output_tokens is at least 1',
    at: [{ max_output_tokens: 1 }, { max_output_tokens: null }],
    beyond: [
      [{ max_output_tokens: 0 }, 'max_output_tokens'],
      [{ max_output_tokens: -1 }, 'max_output_tokens'],
      [{ max_output_tokens: 1.5 }, 'max_output_tokens'],
      [{ max_output_tokens: '5' }, 'max_output_tokens'],
    ],
  },
  {
    name: 'top_logprobs is 0 to 20',
    at: [{ top_logprobs: 0 }, { top_logprobs: 20 }],
    beyond: [
      [{ top_logprobs: -1 }, 'top_logprobs'],
      [{ top_logprobs: 21 }, 'top_logprobs'],
    ],
  },
  {
    name: 'metadata has at most 16 pairs of 64 and 512 characters',
    at: [
      { metadata: pairs(16) },
      { metadata: { ['k'.repeat(64)]: 'v'.repeat(512) } },
      { metadata: { ['😀'.repeat(64)]: '😀'.repeat(512) } },
      { metadata: {} },
      { metadata: null },
    ],
    beyond: [
      [{ metadata: pairs(17) }, 'metadata'],
      [{ metadata: { ['k'.repeat(65)]: 'v' } }, 'metadata'],
      [{ metadata: { key: 'v'.repeat(513) } }, 'metadata.key'],
      [{ metadata: { key: 1 } }, 'metadata.key'],
    ],
  },
  {
    name: 'temperature is 0 to 2 and top_p 0 to 1',
    at: [
      { temperature: 0, top_p: 0 },
      { temperature: 2, top_p: 1 },
    ],
    beyond: [
      [{ temperature: 2.1 }, 'temperature'],
      [{ temperature: -0.1 }, 'temperature'],
      [{ top_p: 1.01 }, 'top_p'],
    ],
  },
  {
    name: 'max_tool_calls is at least 1',
    at: [{ max_tool_calls: 1 }],
    beyond: [[{ max_tool_calls: 0 }, 'max_tool_calls']],
  },
  {
    name: 'truncation is auto or disabled',
    at: [{ truncation: 'auto' }, { truncation: 'disabled' }, { truncation: null }],
    beyond: [[{ truncation: 'some' }, 'truncation']],
  },
  {
    name: 'include holds any words',
    at: [{ include: ['brand.new'] }, { include: [] }, { include: null }],
    beyond: [[{ include: [1] }, 'include[0]']],
  },
  {
    name: 'stream_options may ask for obfuscation, and not for usage',
    at: [{ stream_options: { include_obfuscation: true } }, { stream_options: null }],
    beyond: [[{ stream_options: { include_usage: true } }, 'stream_options.include_usage']],
  },
  {
    name: 'tools have a type, and those that are called a name',
    at: [{ tools: [tool, { type: 'custom', name: 'x' }, { type: 'brand_new' }] }, { tools: [] }, { tools: null }],
    beyond: [
      [{ tools: [{}] }, 'tools[0].type'],
      [{ tools: [tool, { type: 'function' }] }, 'tools[1].name'],
      [{ tools: [{ type: 'namespace', name: 'a', tools: [{ type: 'custom' }] }] }, 'tools[0].tools[0].name'],
    ],
  },
  {
    name: 'tool_choice is a word or an object',
    at: [
      { tool_choice: 'auto' },
      { tool_choice: 'none' },
      { tools: [tool], tool_choice: 'required' },
      { tools: [tool], tool_choice: { type: 'function', name: 'weather' } },
      { tools: [tool], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [tool] } },
      { tool_choice: { type: 'brand_new' } },
    ],
    beyond: [
      [{ tool_choice: 'maybe' }, 'tool_choice'],
      [{ tool_choice: 5 }, 'tool_choice'],
    ],
  },
  {
    name: 'input is a text or a list of items of any type',
    at: [
      { input: '' },
      { input: [] },
      { input: [{ type: 'brand_new', id: 5, call_id: null, role: 3 }, { type: 7 }, {}] },
      { input: [{ role: 'critic', content: 'x' }] },
    ],
    beyond: [
      [{ input: 5 }, 'input'],
      [{ input: ['x'] }, 'input[0]'],
      [{ input: null }, 'input'],
    ],
  },
  {
    name: 'a json_schema has a schema',
    at: [{ text: { format: { type: 'json_schema', name: 'x', schema: {} } } }],
    beyond: [[{ text: { format: { type: 'json_schema', name: 'x' } } }, 'text.format.schema']],
  },
]

describe('the limits of a responses request', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway()
  })
  after(() => gateway.close())

  for (const { name, at, beyond } of limits)
    it(name, async () => {
      for (const body of at) {
        const response = await gateway.post('/v1/responses', { model: 'echo', input: 'hello', ...body })
        const answer = (await response.json()) as JsonObject
        expect(response.status, JSON.stringify(answer)).to.equal(200)
        conforms(answer)
        const [field, value] = Object.entries(body)[0] as [string, unknown]
        if (value !== null && field in answer && field !== 'tools') expect(answer[field]).to.deep.equal(value)
      }
      for (const [body, param] of beyond) {
        const response = await gateway.post('/v1/responses', { model: 'echo', input: 'hello', ...body })
        const answer = (await response.json()) as { error: JsonObject }
        expect(response.status, JSON.stringify(body).slice(0, 100)).to.equal(400)
        expect(answer.error['param']).to.equal(param)
        expect(answer.error).to.have.all.keys('message', 'type', 'param', 'code')
        expect(answer.error['type']).to.equal('invalid_request_error')
      }
    })

  it('model and input must be there', async () => {
    for (const [body, param] of [
      [{ input: 'hello' }, 'model'],
      [{ model: 'echo' }, 'input'],
      [{ model: '', input: 'hello' }, 'model'],
    ] as const) {
      const response = await gateway.post('/v1/responses', body)
      expect(response.status).to.equal(400)
      expect(((await response.json()) as { error: JsonObject }).error['param']).to.equal(param)
    }
  })
})

describe('what only a provider of responses holds', () => {
  for (const kind of ['chat', 'messages'] as const)
    it(`is not sent to a provider that speaks ${kind}, and named in x-gateway-losses`, async () => {
      const upstream = await scriptedUpstream()
      const gateway = await startGateway(servedBy(upstream))
      upstream.answer(says(kind, 'Well, hello.'))
      const body = { model: kind, input: 'Hello?', conversation: 'conv_1', prompt: { id: 'pmpt_1' } }
      const response = await gateway.post('/v1/responses', body)
      expect(response.status).to.equal(200)
      expect((response.headers.get('x-gateway-losses') ?? '').split(', ')).to.include.members([
        'conversation',
        'prompt',
      ])
      expect(asked(await upstream.received())).to.not.have.any.keys('conversation', 'prompt')
      await gateway.close()
      await upstream.close()
    })
})
