import { Agent, request } from 'node:http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { GatewayError } from '../../engine/index.ts'
import type { GenerateRequest, Json, JsonObject, ModelRecord, PrintTarget } from '../../engine/index.ts'
import responses from '../../plugins/protocols/responses/codec.ts'
import { upstreams } from '../golden/upstreams.ts'
import { startGateway } from '../support/gateway.ts'
import type { Gateway } from '../support/gateway.ts'

const count = 10_000
const batch = 32

const word = fc.constantFrom(
  '',
  'a',
  'auto',
  'required',
  'json_schema',
  '__proto__',
  'constructor',
  '☃😀',
  'x'.repeat(70),
)
const odd: fc.Arbitrary<Json> = fc.oneof(
  word,
  fc.constantFrom(null, true, false, 0, -1, 1.5, 20, 21, 2 ** 53, 1e308),
  fc.constantFrom<Json>([], {}, [[]], [null], { type: null }, { type: 'function' }, { a: { b: [{}] } }),
)
/** A value of its kind, or now and then one that is not. */
const mostly = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | Json> =>
  fc.oneof({ weight: 80, arbitrary }, { weight: 1, arbitrary: odd })
const some = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] })

const partTypes = (
  'input_text output_text refusal input_image input_file input_audio input_video encrypted_content ' +
  'summary_text reasoning_text'
).split(' ')
const itemTypes = (
  'message function_call function_call_output custom_tool_call custom_tool_call_output reasoning ' +
  'web_search_call image_generation_call local_shell_call local_shell_call_output tool_search_call ' +
  'tool_search_output agent_message additional_tools brand_new'
).split(' ')

const part = some({
  type: mostly(fc.constantFrom(...partTypes)),
  text: mostly(word),
  refusal: mostly(word),
  image_url: mostly(fc.constantFrom('data:image/png;base64,AAAA', 'https://host.invalid/a.png', 'data:,x', 'data:')),
  file_data: mostly(fc.constantFrom('data:application/pdf;base64,AAAA', 'AAAA')),
  file_id: mostly(word),
  detail: mostly(word),
  audio_data: mostly(word),
  input_audio: mostly(some({ data: mostly(word), format: mostly(word) })),
  annotations: mostly(fc.array(some({ type: mostly(word), url: mostly(word), start_index: odd }), { maxLength: 2 })),
  logprobs: odd,
})
const content = mostly(fc.oneof(word, fc.array(mostly(part), { maxLength: 3 })))
const id = mostly(fc.constantFrom('call_1', 'call_2', 'a b', ''))
const toolRef = some({
  type: mostly(fc.constantFrom('function', 'custom', 'mcp')),
  name: mostly(word),
  namespace: odd,
})
const tool: fc.Arbitrary<unknown> = some({
  type: mostly(fc.constantFrom('function', 'custom', 'web_search', 'namespace', 'tool_search', 'mcp', 'brand_new')),
  name: mostly(fc.constantFrom('look', 'patch', 'a__look', 'ä')),
  description: mostly(word),
  parameters: mostly(fc.constantFrom<Json>({ type: 'object', properties: { city: { type: 'string' } } }, {}, null)),
  strict: mostly(fc.boolean()),
  format: mostly(some({ type: mostly(word), syntax: mostly(word), definition: mostly(word) })),
  tools: mostly(fc.array(mostly(some({ type: fc.constant('function'), name: mostly(word) })), { maxLength: 2 })),
})
const tools = mostly(fc.array(mostly(tool), { maxLength: 3 }))
const item = some({
  type: mostly(fc.constantFrom(...itemTypes)),
  role: mostly(fc.constantFrom('user', 'assistant', 'system', 'developer', 'critic')),
  content,
  id: mostly(word),
  call_id: id,
  name: mostly(fc.constantFrom('look', 'patch', 'a__look')),
  namespace: mostly(word),
  arguments: mostly(fc.constantFrom('{}', '', '[', '{"input":"x"}')),
  input: mostly(word),
  output: content,
  action: mostly(some({ command: mostly(fc.array(mostly(word))) })),
  summary: content,
  encrypted_content: mostly(fc.constantFrom('AAAA', 'gw1.', 'gw1.e30', 'gw1.eyJvcmlnaW4iOiJhIiwidmFsdWUiOnt9fQ')),
  tools,
  status: odd,
})
const body = some({
  model: fc.oneof({ weight: 19, arbitrary: fc.constant('echo') }, { weight: 1, arbitrary: odd }),
  input: mostly(fc.oneof(word, fc.array(mostly(item), { maxLength: 5 }))),
  instructions: mostly(fc.oneof(word, fc.array(mostly(item), { maxLength: 2 }))),
  stream: mostly(fc.boolean()),
  stream_options: mostly(some({ include_obfuscation: mostly(fc.boolean()), include_usage: odd })),
  store: mostly(fc.boolean()),
  include: mostly(fc.array(mostly(fc.constantFrom('reasoning.encrypted_content', 'message.output_text.logprobs')))),
  truncation: mostly(fc.constantFrom('auto', 'disabled')),
  max_output_tokens: mostly(fc.constantFrom(1, 2, 1000)),
  max_tool_calls: mostly(fc.constantFrom(1, 9)),
  temperature: mostly(fc.constantFrom(0, 1, 2)),
  top_p: mostly(fc.constantFrom(0, 1)),
  top_logprobs: mostly(fc.constantFrom(0, 20)),
  reasoning: mostly(some({ effort: mostly(word), summary: mostly(word), mode: mostly(word), context: mostly(word) })),
  text: mostly(
    some({
      format: mostly(
        some({
          type: mostly(fc.constantFrom('text', 'json_object', 'json_schema')),
          name: mostly(word),
          schema: mostly(fc.constantFrom<Json>({}, { type: 'object', properties: { a: { type: 'string' } } })),
        }),
      ),
      verbosity: mostly(word),
    }),
  ),
  tools,
  tool_choice: mostly(
    fc.oneof(
      fc.constantFrom('auto', 'none', 'required'),
      toolRef,
      some({ type: fc.constant('allowed_tools'), mode: mostly(word), tools: mostly(fc.array(mostly(toolRef))) }),
    ),
  ),
  parallel_tool_calls: mostly(fc.boolean()),
  metadata: mostly(fc.dictionary(word, mostly(word), { maxKeys: 3 })),
  service_tier: mostly(word),
  safety_identifier: mostly(word),
  prompt_cache_key: mostly(word),
  user: mostly(word),
  conversation: mostly(word),
  prompt: mostly(some({ id: odd })),
  routing: mostly(some({ max_cost: odd })),
  whatever: odd,
})

describe('generated bodies of responses', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await startGateway()
  })
  after(() => gateway.close())

  it(`${count} of them: an answer or a refusal that says where, never an error of the gateway's own`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: batch })
    const bodies = fc.sample(body, { numRuns: count, seed: 20_261_121 })
    const statuses = new Map<number, number>()
    for (let at = 0; at < count; at += batch) {
      const answers = await Promise.all(
        bodies.slice(at, at + batch).map(async (one) => {
          const text = JSON.stringify({ model: 'echo', input: 'hello', ...(one as JsonObject) })
          return { text, ...(await post(gateway, agent, text)) }
        }),
      )
      for (const { text, status, answer } of answers) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === 200) continue
        expect(status, `${text}\n${answer}`).to.be.oneOf([400, 404])
        const { error } = JSON.parse(answer) as { error: JsonObject }
        expect(error, text).to.have.all.keys('message', 'type', 'param', 'code')
      }
    }
    agent.destroy()
    // Both sides of the line are well populated.
    expect(statuses.get(200)).to.be.greaterThan(count / 10)
    expect(statuses.get(400)).to.be.greaterThan(count / 10)
    expect(gateway.lines.filter((line) => line.includes('internal_error'))).to.deep.equal([])
  }).timeout(60_000)

  it('that can be read can be printed for every upstream, or are refused', () => {
    let printed = 0
    for (const one of fc.sample(body, { numRuns: 3000, seed: 20_261_122 })) {
      const given = { model: 'echo', input: 'hello', ...(one as JsonObject) }
      if (!valid(given)) continue
      for (const { name, codec, traits } of upstreams)
        try {
          const request = responses.request?.parse(given) as GenerateRequest
          const target = {
            model: 'm',
            record,
            offer: { operation: 'generate', protocol: codec.protocol, traits },
            origin: 'o/m',
          }
          JSON.stringify(codec.request.print(request, target as PrintTarget))
          printed++
        } catch (error) {
          if (!(error instanceof GatewayError)) expect.fail(`${name}: ${String(error)}\n${JSON.stringify(given)}`)
          expect(error.failure.status, name).to.equal(400)
        }
    }
    expect(printed).to.be.greaterThan(1000)
  }).timeout(60_000)
})

const valid = new Ajv2020({ strict: false, ownProperties: true }).compile(responses.schema)
const record: ModelRecord = {
  name: 'm',
  provider: 'p',
  upstream_model: 'm',
  aliases: [],
  supports_images: true,
  supports_tools: true,
  supports_mapeval: false,
  supports_realtime: false,
  auto_eligible: false,
  fallbacks: [],
}

function post({ url, key }: Gateway, agent: Agent, body: string): Promise<{ status: number; answer: string }> {
  return new Promise((resolve, reject) => {
    const asking = request(`${url}/v1/responses`, {
      agent,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    asking.on('error', reject)
    asking.on('response', (response) => {
      response.toArray().then((chunks) => {
        resolve({ status: response.statusCode ?? 0, answer: Buffer.concat(chunks as Buffer[]).toString() })
      }, reject)
    })
    asking.end(body)
  })
}
