import { expect } from 'chai'
import fc from 'fast-check'
import { isObject } from '../../engine/kit.ts'
import type { Json } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, chatFrames, messagesAnswer, messagesFrames, responsesAnswer, responsesFrames } from './streams.ts'
import type { ScriptedFrame } from './streams.ts'

/** Always the same bodies: a failure here must be one everywhere. */
const runs = { seed: 20_261_121, numRuns: 150 }

/** Everything that the schemas know, so that a wrong value can stand in each place. */
const chat: Json = {
  messages: [
    { role: 'system', content: 'be brief' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image_url', image_url: { url: 'https://host/a.png', detail: 'low' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
        { id: 'c2', type: 'custom', custom: { name: 'g', input: 'x' } },
      ],
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'gw1.e30', index: 0 }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'one' },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
    { role: 'user', name: 'me', content: 'go on' },
  ],
  tools: [
    { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true } },
    { type: 'custom', custom: { name: 'g', format: { type: 'text' } } },
  ],
  tool_choice: { type: 'function', function: { name: 'f' } },
  parallel_tool_calls: false,
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
  temperature: 1,
  top_p: 0.5,
  stop: ['x'],
  max_completion_tokens: 50,
  reasoning_effort: 'low',
  metadata: { a: 'b' },
  stream_options: { include_usage: true },
  user: 'u',
}

const messages: Json = {
  max_tokens: 5000,
  system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
        { type: 'document', source: { type: 'url', url: 'https://host/a.pdf' }, title: 't' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'redacted_thinking', data: 'gw1.e30' },
        { type: 'text', text: 'so' },
        { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content: [{ type: 'text', text: 'no' }] }],
    },
  ],
  tools: [
    { name: 'f', description: 'd', input_schema: { type: 'object' } },
    { type: 'web_search_20250305', name: 'web_search' },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 2000 },
  output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
  metadata: { user_id: 'u' },
  stop_sequences: ['x'],
  service_tier: 'auto',
}

/** Values that stand nowhere by right. */
const strange: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1e21,
  '',
  'gw1.%%%',
  '\ud800',
  'data:;base64,',
  'a\nb\r\0é\u{1f9a5}',
  [],
  [null],
  [[]],
  {},
  { type: null },
  { type: 'text' },
  { type: '__proto__' },
  { role: 'constructor', content: {} },
  JSON.parse('{"__proto__":{"polluted":true}}') as Json,
]

type Path = readonly (string | number)[]

function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [
    path,
    ...Object.entries(value).flatMap(([key, inner]) =>
      pathsOf(inner as Json, [...path, Array.isArray(value) ? Number(key) : key]),
    ),
  ]
}

/** A copy with what stands at `path` replaced, or removed. */
function withAt(value: Json, path: Path, replacement: Json | undefined): Json {
  const copy = structuredClone(value) as { [key: string]: Json }
  const last = path.at(-1)
  if (last === undefined) return replacement ?? null
  const parent = path
    .slice(0, -1)
    .reduce<{ [key: string]: Json }>((at, key) => at[key] as { [key: string]: Json }, copy)
  if (replacement !== undefined) parent[last] = replacement
  else if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else delete parent[last]
  return copy
}

/** A body with up to three places where something strange stands. */
function mutated(body: Json): fc.Arbitrary<Json> {
  const places = pathsOf(body).filter(({ length }) => length > 0)
  const change = fc.record({ path: fc.constantFrom(...places), value: fc.constantFrom(...strange, undefined) })
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) =>
    changes.reduce((value, { path, value: replacement }) => {
      // An earlier change may have taken away what this one goes through.
      const reachable = path
        .slice(0, -1)
        .reduce<Json | undefined>(
          (at, key) => (typeof at === 'object' && at !== null ? (at as { [key: string]: Json })[key] : undefined),
          value,
        )
      return typeof reachable === 'object' && reachable !== null ? withAt(value, path, replacement) : value
    }, body),
  )
}

describe('strange bodies', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_key: 'upstream-key' }
    gateway = await startGateway({
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'family', type: 'compatible', ...at },
        { name: 'vendor', type: 'native', ...at },
        { name: 'other', type: 'messages', ...at },
      ],
      models: [
        { name: 'echo', provider: 'echo' },
        { name: 'chat', provider: 'family' },
        { name: 'responses', provider: 'vendor', protocols: ['responses'] },
        { name: 'messages', provider: 'other' },
      ],
    })
  })
  after(async () => {
    const rows = await gateway.rows()
    expect(
      rows
        .filter(({ error, status }) => error === 'internal_error' || error === 'stage_failed' || status === 500)
        .map(({ error, metadata }) => [error, metadata]),
    ).to.deep.equal([])
    expect(gateway.lines.filter((line) => /"level":(50|60)/.test(line))).to.deep.equal([])
    expect(Object.keys(Object.prototype)).to.deep.equal([])
    await gateway.close()
    await upstream.close()
  })

  const wholes: Record<string, Json> = { chat: chatAnswer, responses: responsesAnswer, messages: messagesAnswer }
  const sent = async (path: string, model: string, body: Json) => {
    const response = await gateway.post(path, isObject(body) ? { ...body, model } : body)
    return { status: response.status, text: await response.text() }
  }

  for (const model of ['echo', 'chat', 'responses', 'messages'])
    for (const [path, body] of [
      ['/v1/chat/completions', chat],
      ['/v1/messages', messages],
    ] as const) {
      it(`of requests to ${path} for a model of ${model} are answered or refused, never more`, async function () {
        upstream.answer({ body: wholes[model] ?? {} })
        await fc.assert(
          fc.asyncProperty(mutated(body), async (given) => {
            const { status, text } = await sent(path, model, given)
            expect(status, text).to.be.oneOf([200, 400, 404])
          }),
          runs,
        )
      })
    }

  const streamed: Record<string, readonly ScriptedFrame[]> = {
    chat: chatFrames('a', 'b'),
    responses: responsesFrames('a', 'b'),
    messages: messagesFrames('a', 'b'),
  }
  for (const [model, frames] of Object.entries(streamed))
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      it(`of answers of a provider of ${model} end in an answer or an error at ${path}`, async function () {
        const [whole = null] = [wholes[model]]
        const request = { max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] }
        await fc.assert(
          fc.asyncProperty(mutated(whole), async (body) => {
            upstream.answer({ body })
            const { status, text } = await sent(path, model, request)
            expect(status, text).to.be.oneOf([200, 400, 502])
            if (status !== 200) expect(text).to.include('"error"')
          }),
          { ...runs, numRuns: 60 },
        )
        const texts = frames.map((frame) => (typeof frame === 'string' ? frame : frame.data))
        await fc.assert(
          fc.asyncProperty(mutated(texts as Json), async (changed) => {
            if (!Array.isArray(changed)) return
            const named = changed.map((data) => {
              const type = typeof data === 'object' && data !== null && 'type' in data ? data.type : undefined
              return typeof type === 'string' && model !== 'chat' && /^[\w.]+$/.test(type)
                ? { event: type, data }
                : { data }
            })
            upstream.answer({ frames: named })
            const { status, text } = await sent(path, model, { ...request, stream: true })
            expect(status, text).to.be.oneOf([200, 400, 404, 429, 502])
            if (status === 200) expect(text).to.match(/\[DONE\]|"finish_reason":"|message_stop|"error"/)
          }),
          { ...runs, numRuns: 60 },
        )
      })
    }
})
