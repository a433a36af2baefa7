import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { apiKey as key, leaks } from './corpus.ts'
import { blockOf, chatChunk, geminiChunk, typed } from './frames.ts'
import type { Frame } from './frames.ts'
import { Rig, protocols, streamOf, wholeOf } from './rig.ts'
import type { Protocol } from './rig.ts'

const it2 = `It is ${key}.`
const halves = [it2.slice(0, 20), it2.slice(20)] as const
const base = { kind: 'secrets', entities: ['api_key'], default: false, message: 'No.' }
const guards = [
  { ...base, name: 'mask', action: 'mask', side: ['output'] },
  { ...base, name: 'deny', action: 'deny', side: ['output'] },
  { ...base, name: 'calls', action: 'mask', side: ['tool_calls'] },
  { ...base, name: 'shadow', action: 'deny', side: ['output'], shadow: true },
  { ...base, name: 'first', action: 'deny', side: ['output'], stream: 'full', entities: ['aws'] },
  { ...base, name: 'last', action: 'deny', side: ['output'], stream: 'full' },
]

/** An answer beside whose text a key stands, whole and streamed. */
interface Answer {
  readonly whole: JsonObject
  readonly frames: readonly Frame[]
}

/** Puts frames before the last ones of an answer. */
const before = (frames: readonly Frame[], last: number, more: readonly Frame[]) => [
  ...frames.slice(0, -last),
  ...more,
  ...frames.slice(-last),
]

const usual = (protocol: Protocol) => ({
  whole: wholeOf[protocol]({ text: ['Hello.'] }),
  frames: streamOf[protocol]({ text: ['Hello.'] }),
})

function chat(more: JsonObject, choice: JsonObject = {}): Answer {
  const { whole, frames } = usual('chat')
  const [one] = whole['choices'] as [JsonObject]
  return {
    whole: { ...whole, choices: [{ ...one, ...choice, message: { ...(one['message'] as JsonObject), ...more } }] },
    frames: before(frames, 3, [chatChunk({ content: ' ', ...more }, choice)]),
  }
}

/** A further block, in the events of a stream as they come. */
function messages(block: JsonObject, deltas: readonly JsonObject[] = [], begun: JsonObject = block): Answer {
  const { whole, frames } = usual('messages')
  return {
    whole: { ...whole, content: [...(whole['content'] as readonly JsonObject[]), block] },
    frames: before(frames, 2, blockOf(1, begun, deltas)),
  }
}

/** A further text of the messages API, with a citation. */
function quoting(citation: JsonObject): Answer {
  const text = 'So.'
  return messages(
    { type: 'text', text, citations: [citation] },
    [
      { type: 'text_delta', text },
      { type: 'citations_delta', citation },
    ],
    { type: 'text', text: '', citations: [] },
  )
}

/** A further item, with events of its own. */
function responses(
  item: JsonObject & { readonly id: string },
  events: readonly (JsonObject & { readonly type: string })[] = [],
  begun: JsonObject = item,
): Answer {
  const { whole, frames } = usual('responses')
  const output = [...(whole['output'] as readonly JsonObject[]), item]
  const at = { output_index: 1, item_id: item.id }
  return {
    whole: { ...whole, output },
    frames: [
      ...frames.slice(0, -1),
      typed({ type: 'response.output_item.added', output_index: 1, item: begun }),
      ...events.map((event) => typed({ ...event, ...at })),
      typed({ type: 'response.output_item.done', output_index: 1, item }),
      typed({ type: 'response.completed', response: { ...whole, output } }),
    ],
  }
}

/** A message of the responses API whose part has more than its text. */
function cited(part: JsonObject, events: readonly (JsonObject & { readonly type: string })[] = []): Answer {
  const text = { type: 'output_text', text: 'So it is.', annotations: [], ...part }
  const item = { id: 'msg_2', type: 'message', role: 'assistant', status: 'completed', content: [text] }
  return responses(
    item,
    [
      { type: 'response.content_part.added', content_index: 0, part: { ...text, text: '', annotations: [] } },
      {
        type: 'response.output_text.delta',
        content_index: 0,
        delta: 'So it is.',
        ...(part['logprobs'] ? { logprobs: part['logprobs'] } : {}),
      },
      ...events.map((event) => ({ content_index: 0, ...event })),
    ],
    { ...item, content: [] },
  )
}

function annotated(annotation: JsonObject): Answer {
  const added = { type: 'response.output_text.annotation.added', annotation_index: 0, annotation }
  return cited({ annotations: [annotation] }, [added])
}

function gemini(parts: readonly JsonObject[], candidate: JsonObject = {}): Answer {
  const text = { text: 'Hello.' }
  const whole = {
    candidates: [{ content: { role: 'model', parts: [text, ...parts] }, index: 0, finishReason: 'STOP', ...candidate }],
    modelVersion: 'm',
    responseId: 'r',
  }
  return {
    whole,
    frames: [
      geminiChunk([text]),
      ...parts.map((part) => geminiChunk([part])),
      geminiChunk([{ text: '' }], { finishReason: 'STOP', ...candidate }),
    ],
  }
}

const probable = (token: string) => ({ token, logprob: -0.1, bytes: [...Buffer.from(token)] })
const measured = [{ ...probable('So'), top_logprobs: [probable(key)] }]
const urlCitation = { url: `https://example.com/?key=${key}`, title: it2, start_index: 0, end_index: 2 }

/** What an upstream of each protocol may tell beside its text. */
const told: Readonly<Record<Protocol, Readonly<Record<string, Answer>>>> = {
  chat: {
    'a citation': chat({ annotations: [{ type: 'url_citation', url_citation: urlCitation }] }),
    'another citation': chat({
      annotations: [{ type: 'file_citation', file_citation: { filename: it2, quote: it2 } }],
    }),
    'log probabilities': chat({}, { logprobs: { content: measured, refusal: null } }),
  },
  messages: {
    'citations of pages': quoting({
      type: 'web_search_result_location',
      url: `https://example.com/${key}`,
      title: it2,
      cited_text: it2,
      encrypted_index: 'x',
    }),
    'citations of documents': quoting({
      type: 'char_location',
      document_index: 0,
      document_title: it2,
      cited_text: it2,
      start_char_index: 0,
      end_char_index: 9,
    }),
    'a search': messages(
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: it2 } },
      [
        { type: 'input_json_delta', partial_json: `{"query":"${halves[0]}` },
        { type: 'input_json_delta', partial_json: `${halves[1]}"}` },
      ],
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    ),
    'results of a search': messages({
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [
        {
          type: 'web_search_result',
          url: `https://example.com/${key}`,
          title: it2,
          encrypted_content: 'x',
          page_age: null,
        },
      ],
    }),
    'the output of code': messages({
      type: 'bash_code_execution_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'bash_code_execution_result', stdout: it2, stderr: it2, return_code: 0, content: [] },
    }),
    'a tool of a server': messages({
      type: 'mcp_tool_use',
      id: 'mcptoolu_1',
      name: 'find',
      server_name: 's',
      input: { q: it2 },
    }),
    'a result of a server': messages({
      type: 'mcp_tool_result',
      tool_use_id: 'mcptoolu_1',
      is_error: false,
      content: [{ type: 'text', text: it2 }],
    }),
    'a compaction': messages(
      { type: 'compaction', content: it2 },
      halves.map((content) => ({ type: 'compaction_delta', content })),
      { type: 'compaction', content: null },
    ),
  },
  responses: {
    'a citation': annotated({ type: 'url_citation', ...urlCitation }),
    'a citation of a file': annotated({ type: 'file_citation', file_id: 'f', filename: it2, index: 3 }),
    'log probabilities': cited({ logprobs: measured }),
    'a search': responses({
      id: 'ws_1',
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: it2, sources: [{ type: 'url', url: `https://example.com/${key}` }] },
    }),
    'results of files': responses({
      id: 'fs_1',
      type: 'file_search_call',
      status: 'completed',
      queries: [it2],
      results: [{ file_id: 'f', filename: it2, text: it2, score: 1 }],
    }),
    code: responses(
      {
        id: 'ci_1',
        type: 'code_interpreter_call',
        status: 'completed',
        container_id: 'c',
        code: it2,
        outputs: [{ type: 'logs', logs: it2 }],
      },
      [
        ...halves.map((delta) => ({ type: 'response.code_interpreter_call_code.delta', delta })),
        { type: 'response.code_interpreter_call_code.done', code: it2 },
      ],
      { id: 'ci_1', type: 'code_interpreter_call', status: 'in_progress', container_id: 'c', code: '', outputs: [] },
    ),
    'a call of a server': responses(
      {
        id: 'mcp_1',
        type: 'mcp_call',
        name: 'find',
        server_label: 's',
        arguments: JSON.stringify({ q: it2 }),
        output: it2,
        error: null,
      },
      [
        ...halves.map((delta) => ({ type: 'response.mcp_call_arguments.delta', delta })),
        { type: 'response.mcp_call_arguments.done', arguments: JSON.stringify({ q: it2 }) },
      ],
      { id: 'mcp_1', type: 'mcp_call', name: 'find', server_label: 's', arguments: '', output: null, error: null },
    ),
    'a command': responses({
      id: 'sh_1',
      type: 'local_shell_call',
      call_id: 'c',
      status: 'completed',
      action: { type: 'exec', command: ['echo', it2], env: {} },
    }),
  },
  gemini: {
    'a search': gemini([], {
      groundingMetadata: {
        webSearchQueries: [it2],
        groundingChunks: [{ web: { uri: `https://example.com/${key}`, title: it2 } }],
        groundingSupports: [{ segment: { startIndex: 0, endIndex: 6, text: halves[1] }, groundingChunkIndices: [0] }],
      },
    }),
    code: gemini([
      { executableCode: { language: 'PYTHON', code: it2 } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: it2 } },
    ]),
    'log probabilities': gemini([], {
      logprobsResult: {
        chosenCandidates: [{ token: 'Hello', logProbability: -0.1 }],
        topCandidates: [{ candidates: [{ token: key, logProbability: -0.1 }] }],
      },
    }),
    'its sources': gemini([], {
      citationMetadata: {
        citationSources: [{ startIndex: 0, endIndex: 3, uri: `https://example.com/${key}`, title: it2 }],
      },
    }),
    'why it ended': gemini([], { finishMessage: it2 }),
  },
}

describe('guards: what an answer tells beside its text', () => {
  const rig = new Rig(() => ({ records: { guards } }))
  const ask = (client: Protocol, model: Protocol, { whole, frames }: Answer, stream: boolean, guard: string) => {
    rig.upstream.answer(stream ? { frames } : { body: whole })
    return rig.ask(client, model, { stream, headers: { 'x-gateway-guards': guard } })
  }

  for (const model of protocols)
    for (const [name, answer] of Object.entries(told[model]))
      for (const stream of [false, true])
        it(`is judged: ${name} of ${model}${stream ? ', in a stream' : ''}`, async () => {
          for (const client of protocols) {
            const masked = await ask(client, model, answer, stream, 'mask')
            expect(masked.status, masked.body).to.equal(200)
            expect(leaks(key, masked.body), `${client} ${masked.body}`).to.equal(false)
            const denied = await ask(client, model, answer, stream, 'deny')
            expect(denied.status, denied.body).to.equal(200)
            expect(leaks(key, denied.body), `${client} ${denied.body}`).to.equal(false)
            const beside = await ask(client, model, answer, stream, 'first, last')
            expect(leaks(key, beside.body), `${client} ${beside.body}`).to.equal(false)
            const isDropped = name === 'log probabilities'
            if (client !== model) continue
            expect(masked.body.includes('[API_KEY]'), masked.body).to.equal(!isDropped)
            for (const { body } of [denied, beside])
              expect(/content_filter|:"refusal"|SAFETY/.test(body), body).to.equal(!isDropped)
          }
        })

  for (const [model, name] of [
    ['messages', 'a tool of a server'],
    ['responses', 'a call of a server'],
    ['responses', 'a command'],
  ] as const)
    for (const stream of [false, true])
      it(`is judged as a call: ${name} of ${model}${stream ? ', in a stream' : ''}`, async () => {
        const { body } = await ask(model, model, told[model][name] as Answer, stream, 'calls')
        expect(leaks(key, body), body).to.equal(false)
        expect(body).to.contain('[API_KEY]')
      })

  for (const model of protocols)
    it(`is judged in shadow: ${model}`, async () => {
      for (const [name, answer] of Object.entries(told[model]))
        for (const stream of [false, true]) {
          if (name === 'log probabilities') continue
          const shown = await ask(model, model, answer, stream, 'shadow')
          expect(shown.body).to.contain(key.slice(-8))
          const [verdict] = await rig.verdictsOf(shown)
          expect(verdict?.['outcome'], `${name} ${String(stream)}`).to.equal('denied')
        }
    })
})
