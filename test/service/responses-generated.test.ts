import { Agent, request } from 'node:http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { GatewayError } from '../../engine/index.ts'
import type { GenerateRequest, Json, JsonObject, ModelRecord, PrintTarget } from '../../engine/index.ts'
import responses from '../../plugins/responses/codec.ts'
import { upstreams } from '../golden/upstreams.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'

const count = 10_000
const continued = 2_000
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
  name: mostly(fc.constantFrom('look', 'patch')),
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
const loose = some({
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
/** Without an id and a name a call says nothing and is refused, so most have them. */
const item = fc
  .tuple(loose, fc.nat(7))
  .map(([one, nothing]) => (nothing === 0 ? one : { call_id: 'call_1', name: 'look', ...one }))
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
      { weight: 4, arbitrary: fc.constantFrom('auto', 'none', 'required') },
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
  routing: mostly(some({ max_cost: mostly(fc.constantFrom(0.5, 20)) })),
  whatever: odd,
})

/** What an earlier exchange has left, for bodies to go on from. */
interface Left {
  readonly responses: readonly string[]
  readonly items: readonly string[]
  /** `encrypted_content` of a compaction that was made here. */
  readonly own: string
}

const outputTypes = (
  'function_call_output custom_tool_call_output local_shell_call_output shell_call_output ' +
  'apply_patch_call_output computer_call_output tool_search_output mcp_approval_response'
).split(' ')

/** Bodies that go on from what is there, from what is not, and from what somebody has changed. */
function goingOn({ responses: made, items, own }: Left) {
  const known = (...names: readonly string[]) =>
    fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: spoiled(names) })
  const reference = some({
    type: mostly(fc.constantFrom('item_reference', null)),
    id: mostly(fc.oneof({ weight: 8, arbitrary: known(...items) }, { weight: 1, arbitrary: word })),
  })
  const compaction = some({
    type: mostly(fc.constantFrom('compaction', 'compaction', 'compaction_trigger', 'compaction_summary')),
    id: mostly(word),
    encrypted_content: mostly(
      fc.oneof(
        { weight: 8, arbitrary: known(own) },
        { weight: 1, arbitrary: fc.constantFrom('gAAAA-of-a-vendor', 'gw1c.', 'gw1c.AAAA', '') },
      ),
    ),
  })
  const output = some({
    type: mostly(fc.constantFrom(...outputTypes)),
    call_id: mostly(fc.constantFrom('call_1', 'call_2', 'call_none')),
    output: content,
    tools,
    status: odd,
  })
  const followed = fc.oneof(
    { weight: 3, arbitrary: fc.record({ role: fc.constant('user'), content: word }) },
    { weight: 1, arbitrary: reference },
    { weight: 1, arbitrary: compaction },
    { weight: 1, arbitrary: output },
    { weight: 1, arbitrary: item },
  )
  return some({
    previous_response_id: mostly(
      fc.oneof({ weight: 6, arbitrary: known(...made) }, { weight: 1, arbitrary: fc.constantFrom('resp_none', '') }),
    ),
    input: mostly(fc.oneof(word, fc.array(mostly(followed), { maxLength: 4 }))),
    background: mostly(fc.constantFrom(false, false, false, false, true, null)),
    store: mostly(fc.boolean()),
    stream: mostly(fc.boolean()),
    conversation: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: odd }),
  })
}

/** A text of several, with an end cut off, a character changed, or repeated. */
function spoiled(texts: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...texts), fc.nat(), fc.constantFrom('cut', 'changed', 'twice'))
    .map(([given, at, how]) => {
      const place = at % given.length
      if (how === 'twice') return given + given
      return given.slice(0, place) + (how === 'cut' ? '' : `~${given.slice(place + 1)}`)
    })
}

describe('generated bodies of responses', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      models: [{ name: 'echo', provider: 'echo', pricing: { input: 0, output: 0 } }],
    })
  })
  after(() => gateway.close())

  it(`${count} of them: an answer or a refusal that says where, never an error of the gateway's own`, async function () {
    this.timeout(600_000)
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
  })

  it(`${continued} of them that go on: the same, and what needs a store that is not there says so`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: batch })
    const ask = async (fields: JsonObject, path?: string) => {
      const { status, answer } = await post(gateway, agent, JSON.stringify({ model: 'echo', ...fields }), path)
      expect(status, answer).to.equal(200)
      return JSON.parse(answer) as { readonly id: string; readonly output: readonly JsonObject[] }
    }
    const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}', id: 'fc_mine' }
    const first = await ask({ input: 'hello' })
    const second = await ask({ input: 'again', previous_response_id: first.id })
    const calling = await ask({ input: ['call_1', 'call_2'].map((call_id) => ({ ...call, call_id })) })
    const passing = await ask({ input: 'hello', store: false })
    const packed = await ask({ input: [{ role: 'user', content: 'hello' }, call] }, '/v1/responses/compact')
    const own = packed.output.at(-1)?.['encrypted_content'] as string
    expect(own).to.match(/^gw1c\./)
    const bodies = fc.sample(
      goingOn({
        responses: [first.id, second.id, calling.id, passing.id],
        items: ['fc_mine', ...[first, second, packed].flatMap(({ output }) => output.map(({ id }) => id as string))],
        own,
      }),
      { numRuns: continued, seed: 20_261_123 },
    )
    const codes = new Map<string, number>()
    for (let at = 0; at < continued; at += batch) {
      const answers = await Promise.all(
        bodies.slice(at, at + batch).map(async (one) => {
          const text = JSON.stringify({ model: 'echo', input: 'hello', ...(one as JsonObject) })
          return { text, ...(await post(gateway, agent, text)) }
        }),
      )
      for (const { text, status, answer } of answers) {
        const error = status === 200 ? undefined : (JSON.parse(answer) as { error: JsonObject }).error
        if (error) {
          expect(status, `${text}\n${answer}`).to.be.oneOf([400, 404, 503])
          expect(error, text).to.have.all.keys('message', 'type', 'param', 'code')
          expect(status === 503, text).to.equal(error['code'] === 'redis_not_available')
        }
        const code = error ? ((error['code'] as string | null) ?? 'null') : 'none'
        codes.set(code, (codes.get(code) ?? 0) + 1)
      }
    }
    agent.destroy()
    for (const code of [
      'none',
      'previous_response_not_found',
      'invalid_encrypted_content',
      'redis_not_available',
      'invalid_value',
    ])
      expect(codes.get(code), code).to.be.greaterThan(20)
    expect(gateway.lines.filter((line) => line.includes('internal_error'))).to.deep.equal([])
  })

  it('that can be read can be printed for every upstream, or are refused', () => {
    let printed = 0
    for (const one of fc.sample(body, { numRuns: 5000, seed: 20_261_122 })) {
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
  })
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

function post(
  { url, key }: RunningGateway,
  agent: Agent,
  body: string,
  path = '/v1/responses',
): Promise<{ status: number; answer: string }> {
  return new Promise((resolve, reject) => {
    const asking = request(url + path, {
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
