import { expect } from 'chai'
import type OpenAI from 'openai'
import type { JsonObject } from '../../engine/index.ts'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { message, nativeAnswer, refused } from './stored-upstreams.ts'

const stranger = 'sk-stranger-0123456789abcdef0123456789abcdef'

/** One item of each kind that vendors answer with. */
const everything: readonly JsonObject[] = [
  { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'so' }] },
  { id: 'rs_2', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
  { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } },
  { id: 'fs_1', type: 'file_search_call', status: 'completed', queries: ['x'], results: null },
  { id: 'ci_1', type: 'code_interpreter_call', status: 'completed', code: '1', container_id: 'c', outputs: [] },
  { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'AA==' },
  { id: 'mcp_1', type: 'mcp_call', server_label: 's', name: 'n', arguments: '{}', output: 'o', status: 'completed' },
  { id: 'mcpl_1', type: 'mcp_list_tools', server_label: 's', tools: [] },
  { id: 'lsh_1', type: 'local_shell_call', call_id: 'call_3', status: 'completed', action: { type: 'exec' } },
  { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}', status: 'completed' },
  { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_2', name: 'g', input: 'free' },
  {
    ...message('msg_1', 'Done [1]'),
    content: [
      {
        type: 'output_text',
        text: 'Done [1]',
        annotations: [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 5, end_index: 8 }],
        logprobs: [],
      },
      { type: 'refusal', refusal: 'No more.' },
    ],
  },
]

describe('stored responses', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  let client: OpenAI
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'vendor', type: 'native', base_url: upstream.url, api_key: 'key-v' },
      ],
      models: [
        { name: 'echo', provider: 'echo' },
        { name: 'vendor', provider: 'vendor' },
      ],
      api_keys: [{ name: 'stranger', key: stranger }],
    })
    client = openai(gateway)
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const status = async (path: string, key = gateway.key, method = 'GET') => {
    const response = await fetch(gateway.url + path, { method, headers: { authorization: `Bearer ${key}` } })
    const { error } = (await response.json()) as { error?: { code: string } }
    return [response.status, error?.code]
  }
  const unknown = [404, 'response_not_found']

  it('are given back as they were, and say so in the log', async () => {
    const made = await client.responses.create({ model: 'echo', input: 'Hello', metadata: { a: 'b' } })
    const { output_text: _made, _request_id: _one, ...whole } = made as typeof made & { _request_id: string }
    const { output_text, _request_id, ...kept } = (await client.responses.retrieve(made.id)) as typeof made & {
      _request_id: string
    }
    expect(kept).to.deep.equal(whole)
    expect(output_text).to.equal('Hello')
    const row = (await gateway.rows()).at(-1)
    expect(row).to.include({ id: _request_id, type: 'stored-responses', status: 200, attempts: 0 })
    for (const prefix of ['', '/v1', '/v1/v1'])
      expect(await status(`${prefix}/responses/${made.id}/`), prefix).to.deep.equal([200, undefined])
  })

  it('are kept from a stream before its client has read the end', async () => {
    const events = await client.responses.create({ model: 'echo', input: 'Hello', stream: true })
    for await (const event of events) {
      if (event.type !== 'response.completed') continue
      const { output_text: _text, ...kept } = await client.responses.retrieve(event.response.id)
      const { _request_id: _id, ...whole } = kept as typeof kept & { _request_id: string }
      expect(whole).to.deep.equal(event.response)
      return
    }
    expect.fail('the stream did not end')
  })

  it('are replayed to the strict accumulator of the official client, every kind of item', async () => {
    const answer = nativeAnswer('resp_everything', everything)
    upstream.answer({ body: answer })
    await client.responses.create({ model: 'vendor', input: 'Hello' })
    const final = await client.responses.stream({ response_id: 'resp_everything' }).finalResponse()
    const outputs = final.output.map((item) => {
      const { parsed_arguments: _parsed, ...rest } = item as unknown as JsonObject
      const content = rest['content']
      if (!Array.isArray(content)) return rest
      return { ...rest, content: content.map(({ parsed: _part, ...part }: JsonObject) => part) }
    })
    expect(outputs).to.deep.equal(everything)
    expect(final.status).to.equal('completed')
  })

  it('are replayed from a place on', async () => {
    const { id } = await client.responses.create({ model: 'echo', input: 'Hello' })
    const events = await client.responses.retrieve(id, { stream: true, starting_after: 5 })
    const seen: [number, string][] = []
    for await (const { sequence_number, type } of events) seen.push([sequence_number, type])
    expect(seen).to.deep.equal([
      [6, 'response.content_part.done'],
      [7, 'response.output_item.done'],
      [8, 'response.completed'],
    ])
    const text = await fetch(`${gateway.url}/v1/responses/${id}?stream=true&starting_after=100`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    expect(text.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8')
    expect(await text.text()).to.equal('data: [DONE]\n\n')
    expect(await status(`/v1/responses/${id}?stream=true&starting_after=x`)).to.deep.equal([400, 'invalid_value'])
  })

  it('end with their deletion', async () => {
    const { id } = await client.responses.create({ model: 'echo', input: 'Hello' })
    const response = await fetch(`${gateway.url}/v1/responses/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    expect(await response.json()).to.deep.equal({ id, object: 'response', deleted: true })
    expect(await status(`/v1/responses/${id}`)).to.deep.equal(unknown)
    expect(await status(`/v1/responses/${id}`, gateway.key, 'DELETE')).to.deep.equal(unknown)
    const second = await client.responses.create({ model: 'echo', input: 'Hello' })
    await client.responses.delete(second.id)
    expect(await status(`/v1/responses/${second.id}/input_items`)).to.deep.equal(unknown)
  })

  it('do not exist for another key, nor under any other name', async () => {
    const { id } = await client.responses.create({ model: 'echo', input: 'Hello' })
    for (const path of [`/v1/responses/${id}`, `/v1/responses/${id}/input_items`])
      expect(await status(path, stranger), path).to.deep.equal(unknown)
    expect(await status(`/v1/responses/${id}`, stranger, 'DELETE')).to.deep.equal(unknown)
    for (const name of ['resp_none', 'compact', '%2e%2e', 'a%2Fb', '%00', 'x'.repeat(5000), '__proto__', '%', 'ä b'])
      expect((await status(`/v1/responses/${name}`))[0], name).to.equal(404)
    expect(await status(`/v1/responses/${id}`)).to.deep.equal([200, undefined])
  })

  it('do not come of requests that are not to be stored, and not of errors', async () => {
    const { id } = await client.responses.create({ model: 'echo', input: 'Hello', store: false })
    expect(await status(`/v1/responses/${id}`)).to.deep.equal(unknown)
    upstream.answer(refused(400, { message: 'no', type: 'invalid_request_error', param: null, code: null }))
    const failed = await gateway.post('/v1/responses', { model: 'vendor', input: 'Hello' })
    const missing = `resp_${String(failed.headers.get('x-request-id')).replaceAll('-', '')}`
    expect([failed.status, await status(`/v1/responses/${missing}`)]).to.deep.equal([400, unknown])
  })

  it('of streams that failed say how', async () => {
    const created = { type: 'response.created', sequence_number: 0, response: nativeAnswer('resp_broken', []) }
    upstream.answer({ frames: [{ event: created.type, data: created }] })
    const text = await (await gateway.post('/v1/responses', { model: 'vendor', input: 'x', stream: true })).text()
    expect(text).to.match(/event: error\n.*\n\nevent: response.failed\n.*\n\ndata: \[DONE\]\n\n$/)
    const kept = await client.responses.retrieve('resp_broken')
    expect(kept.status).to.equal('failed')
    expect(kept.error?.code).to.equal('server_error')
    const previous = { model: 'echo', input: 'on', previous_response_id: 'resp_broken' }
    const next = await gateway.post('/v1/responses', previous)
    const { error } = (await next.json()) as { error: JsonObject }
    expect([next.status, error]).to.deep.equal([
      400,
      {
        message: 'The previous response with id "resp_broken" cannot be continued: its status is failed.',
        type: 'invalid_request_error',
        param: 'previous_response_id',
        code: 'invalid_value',
      },
    ])
  })

  it('say what they answered, a page at a time, the chain included', async () => {
    const one = await client.responses.create({ model: 'echo', input: 'one' })
    const two = await client.responses.create({
      model: 'echo',
      previous_response_id: one.id,
      input: [
        { role: 'developer', content: 'two' },
        { type: 'message', role: 'user', id: 'msg_mine', content: [{ type: 'input_text', text: 'three' }] },
      ] as OpenAI.Responses.ResponseInput,
    })
    const text = (item: OpenAI.Responses.ResponseItem) =>
      item.type === 'message' && item.content.map((part) => 'text' in part && part.text).join()
    const all: OpenAI.Responses.ResponseItem[] = []
    for await (const item of client.responses.inputItems.list(two.id, { limit: 1, order: 'asc' })) all.push(item)
    expect(all.map(text)).to.deep.equal(['one', 'one', 'two', 'three'])
    expect(all.map(({ id }) => id))
      .to.have.lengthOf(4)
      .and.include('msg_mine')
    expect(all.every(({ id }) => /^msg_\w+$/.test(id ?? ''))).to.equal(true)
    expect(all[2]).to.deep.include({ type: 'message', role: 'developer', status: 'completed' })
    const newest = await client.responses.inputItems.list(two.id, { limit: 2 })
    expect(newest.data.map(text)).to.deep.equal(['three', 'two'])
    expect(newest.has_more).to.equal(true)
    const raw = await fetch(`${gateway.url}/v1/responses/${two.id}/input_items?limit=2`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    const { data: _data, ...page } = (await raw.json()) as JsonObject
    expect(page).to.deep.equal({ object: 'list', first_id: 'msg_mine', last_id: all[2]?.id, has_more: true })
    const rest = await newest.getNextPage()
    expect([rest.data.map(text), rest.has_more]).to.deep.equal([['one', 'one'], false])
  })

  it('list twenty on a page unless told otherwise, under every path', async () => {
    const input = Array.from({ length: 21 }, (_, at) => ({ role: 'user' as const, content: `${at}` }))
    const { id } = await client.responses.create({ model: 'echo', input })
    for (const prefix of ['', '/v1', '/v1/v1']) {
      const response = await fetch(`${gateway.url}${prefix}/responses/${id}/input_items`, {
        headers: { authorization: `Bearer ${gateway.key}` },
      })
      const { data, has_more } = (await response.json()) as { data: JsonObject[]; has_more: boolean }
      const texts = data.map(({ content }) => (content as JsonObject[])[0]?.['text'])
      expect([texts, has_more], prefix).to.deep.equal([Array.from({ length: 20 }, (_, at) => `${20 - at}`), true])
    }
  })

  it('that were not made in the background are not cancelled, under any path', async () => {
    const { id } = await client.responses.create({ model: 'echo', input: 'Hello' })
    for (const prefix of ['', '/v1', '/v1/v1']) {
      const path = `${prefix}/responses/${id}/cancel`
      expect(await status(path, gateway.key, 'POST'), path).to.deep.equal([409, 'response_not_cancellable'])
    }
  })

  it('list no more than a page may have, and take no cursor of another list', async () => {
    const { id } = await client.responses.create({ model: 'echo', input: 'one' })
    const list = `/v1/responses/${id}/input_items`
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'limit=', 'order=up', 'after=msg_none'])
      expect(await status(`${list}?${query}`), query).to.deep.equal([400, 'invalid_value'])
    for (const query of ['limit=1', 'limit=100', 'order=asc', 'include[]=anything', 'include=x'])
      expect(await status(`${list}?${query}`), query).to.deep.equal([200, undefined])
  })
})
