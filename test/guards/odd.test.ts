import { expect } from 'chai'
import { apiKey as key, leaks } from './corpus.ts'
import { chatChunk, chatDone, frame, typed } from './frames.ts'
import type { Frame } from './frames.ts'
import { Rig, protocols, streamOf } from './rig.ts'
import type { Protocol } from './rig.ts'

const [first, second] = [`It is ${key.slice(0, 12)}`, `${key.slice(12)} now.`] as const
const base = { kind: 'secrets', entities: ['api_key'], default: false, message: 'No.', side: ['output', 'tool_calls'] }
const guards = [
  { ...base, name: 'mask', action: 'mask' },
  { ...base, name: 'deny', action: 'deny' },
  { name: 'names', kind: 'words', words: ['Aurora'], action: 'mask', side: ['output'], default: false },
  { name: 'stops', kind: 'words', words: ['Aurora'], side: ['output'], default: false },
  { name: 'faces', kind: 'words', words: ['😀😀'], whole: false, action: 'mask', side: ['output'], default: false },
]

const usual = (protocol: Protocol, text: readonly string[]) => streamOf[protocol]({ text })

/** A stream into which others are put behind its first text. */
const within = (protocol: Protocol, others: readonly Frame[]): readonly Frame[] => {
  const frames = usual(protocol, [first, second])
  const at = frames.findIndex(({ data }) => data.includes(first)) + 1
  return [...frames.slice(0, at), ...others, ...frames.slice(at)]
}

const call = (index: number, input: string, name?: string) =>
  chatChunk({
    tool_calls: [
      {
        index,
        ...(name ? { id: `call_${index}`, type: 'function' } : {}),
        function: { ...(name ? { name } : {}), arguments: input },
      },
    ],
  })

/** What upstreams do that no client expects. */
const odd: Readonly<Record<string, readonly [Protocol, readonly Frame[]]>> = {
  'empty deltas': [
    'chat',
    within('chat', [chatChunk({ content: '' }), chatChunk({}), chatChunk({ content: '', role: 'assistant' })]),
  ],
  'a chunk of usage in the middle': [
    'chat',
    within('chat', [
      frame({
        id: 'c',
        object: 'chat.completion.chunk',
        choices: [],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    ]),
  ],
  'another choice': ['chat', within('chat', [chatChunk({ content: key }, { index: 1 })])],
  'two ends': [
    'chat',
    [
      ...usual('chat', [first]).slice(0, -2),
      chatChunk({ content: second }),
      chatChunk({}, { finish_reason: 'stop' }),
      chatDone,
      chatChunk({ content: key }),
      chatDone,
    ],
  ],
  'no end': ['chat', usual('chat', [first, second]).slice(0, -3)],
  'a refusal that goes on': [
    'chat',
    [chatChunk({ content: first }), chatChunk({ refusal: second }), chatChunk({}, { finish_reason: 'stop' }), chatDone],
  ],
  'calls beside each other': [
    'chat',
    [
      chatChunk({ role: 'assistant', content: '' }),
      call(0, '{"a":"', 'one'),
      call(1, '{"b":"', 'two'),
      call(0, key.slice(0, 12)),
      call(1, key.slice(0, 20)),
      call(0, `${key.slice(12)}"}`),
      call(1, `${key.slice(20)}"}`),
      chatChunk({}, { finish_reason: 'tool_calls' }),
      chatDone,
    ],
  ],
  'text between calls': [
    'chat',
    [
      chatChunk({ content: first }),
      call(0, '{}', 'one'),
      chatChunk({ content: second }),
      call(1, '{}', 'two'),
      chatChunk({ content: first }),
      chatChunk({ content: second }),
      chatChunk({}, { finish_reason: 'stop' }),
      chatDone,
    ],
  ],
  'a key as the name of an argument': [
    'chat',
    [
      call(0, `{"${key.slice(0, 9)}`, 'one'),
      call(0, `${key.slice(9)}":1}`),
      chatChunk({}, { finish_reason: 'tool_calls' }),
      chatDone,
    ],
  ],
  'escapes in arguments': [
    'chat',
    [
      call(0, `{"a":"${key.slice(0, 9)}\\u00`, 'one'),
      call(0, `${key.charCodeAt(9).toString(16)}${key.slice(10)}"}`),
      chatChunk({}, { finish_reason: 'tool_calls' }),
      chatDone,
    ],
  ],
  'an error that tells the text': [
    'chat',
    [chatChunk({ content: 'Hi' }), frame({ error: { message: `failed at ${key}`, type: 'server_error' } })],
  ],
  pings: [
    'messages',
    within('messages', [
      typed({ type: 'ping' }),
      typed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '' } }),
      typed({ type: 'new_event', text: second }),
    ]),
  ],
  'a block that holds its text at once': [
    'messages',
    [
      ...usual('messages', ['Hi.']).slice(0, -2),
      typed({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: first } }),
      typed({ type: 'content_block_stop', index: 1 }),
      typed({ type: 'content_block_start', index: 2, content_block: { type: 'text', text: second } }),
      typed({ type: 'content_block_stop', index: 2 }),
      ...usual('messages', ['Hi.']).slice(-2),
    ],
  ],
  'blocks at once': [
    'messages',
    [
      ...usual('messages', [first]).slice(0, -3),
      typed({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }),
      typed({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: second } }),
      ...usual('messages', ['x']).slice(-2),
    ],
  ],
  'no end of a block': ['messages', usual('messages', [first, second]).slice(0, -3)],
  'an error with the text': [
    'messages',
    [
      ...usual('messages', ['Hi.']).slice(0, -3),
      typed({ type: 'error', error: { type: 'api_error', message: `at ${key}` } }),
    ],
  ],
  'a text only at the end': [
    'responses',
    usual('responses', [first + second]).filter(({ data }) => !data.includes('output_text.delta')),
  ],
  'a longer text at the end': [
    'responses',
    usual('responses', [first]).map((one) => ({
      ...one,
      data: /\.(done|completed)"/.test(one.data) ? one.data.replaceAll(first, first + second) : one.data,
    })),
  ],
  'a failed response': [
    'responses',
    [
      ...usual('responses', ['Hi.']).slice(0, 4),
      typed({
        type: 'response.failed',
        response: { id: 'r', status: 'failed', error: { code: 'server_error', message: `at ${key}` }, output: [] },
      }),
    ],
  ],
  'another candidate': [
    'gemini',
    within('gemini', [frame({ candidates: [{ index: 1, content: { role: 'model', parts: [{ text: key }] } }] })]),
  ],
  'thoughts between': [
    'gemini',
    within('gemini', [
      frame({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: '', thought: true }] } }] }),
    ]),
  ],
  'a reason for its failure': [
    'gemini',
    [
      ...usual('gemini', [first]).slice(0, 1),
      frame({
        candidates: [
          {
            index: 0,
            content: { role: 'model', parts: [{ text: second }] },
            finishReason: 'MALFORMED_FUNCTION_CALL',
            finishMessage: `at ${key}`,
          },
        ],
      }),
    ],
  ],
}

describe('guards: odd streams', () => {
  const rig = new Rig(() => ({ records: { guards } }))

  for (const [name, [model, frames]] of Object.entries(odd))
    it(`leak nothing: ${name} of ${model}`, async () => {
      for (const client of protocols)
        for (const guard of ['mask', 'deny'])
          for (const stream of [true, false]) {
            rig.upstream.answer({ frames })
            const { body, text } = await rig.ask(client, model, { stream, headers: { 'x-gateway-guards': guard } })
            const all = `${client} ${guard} ${String(stream)} ${body}`
            expect(leaks(key, body) || leaks(key, text), all).to.equal(false)
          }
    })

  it('leak no character that is cut in two', async () => {
    const [high, low] = ['😀'.charAt(0), '😀'.charAt(1)]
    for (const client of protocols) {
      rig.upstream.answer({ frames: usual('chat', [`a😀${high}`, '', low, high, `${low}😀z`]) })
      const { text, body } = await rig.ask(client, 'chat', { stream: true, headers: { 'x-gateway-guards': 'faces' } })
      expect(text.toWellFormed(), body).to.match(/^a(\[FACES\])+z$/)
    }
  })

  it('tell nothing in the message of a failure', async () => {
    const broken = [
      chatChunk({ content: 'Hi' }),
      frame({ error: { message: 'failed at Aurora', type: 'server_error' } }),
    ]
    for (const client of protocols)
      for (const guard of ['names', 'stops']) {
        rig.upstream.answer({ frames: broken })
        const { body } = await rig.ask(client, 'chat', { stream: true, headers: { 'x-gateway-guards': guard } })
        expect(body).not.to.contain('Aurora')
        expect(body).to.contain(guard === 'names' ? 'failed at [NAMES]' : 'The content was blocked.')
      }
  })
})
