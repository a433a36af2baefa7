import type Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import type OpenAI from 'openai'
import { isObject, unpackSeal } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { framesOf } from '../golden/files.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'

const weather = { functionCall: { id: 'call_1', name: 'weather', args: { city: 'Oslo' } } }
const declared = { name: 'weather', parametersJsonSchema: { type: 'object' } }

/** An answer of Gemini, whole or as a stream with a chunk for each part. */
function gemini(stream: boolean, ...parts: readonly object[]): Script {
  const said = (list: readonly object[], finishReason?: string) =>
    ({
      candidates: [{ content: { role: 'model', parts: list }, index: 0, ...(finishReason ? { finishReason } : {}) }],
    }) as JsonObject
  if (!stream) return { body: said(parts, 'STOP') }
  return { frames: [...parts.map((part) => said([part])), said([{ text: '' }], 'STOP')].map((data) => ({ data })) }
}

/** A streamed answer in the messages protocol. */
function claude(...blocks: readonly JsonObject[]): Script {
  const frame = (type: string, data: object) => ({ event: type, data: { type, ...data } })
  const message = { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } }
  const content = blocks.flatMap((content_block, index) => [
    frame('content_block_start', { index, content_block }),
    frame('content_block_stop', { index }),
  ])
  const end = frame('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } })
  return { frames: [frame('message_start', { message }), ...content, end, frame('message_stop', {})] }
}

describe('reasoning between protocols', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  let messages: Anthropic
  let responses: OpenAI['responses']
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'google', type: 'gemini', base_url: `${upstream.url}/v1beta`, api_key: 'k' },
        { name: 'vendor', type: 'messages', base_url: upstream.url, api_key: 'k' },
        { name: 'compatible', type: 'compatible', base_url: upstream.url, api_key: 'k' },
        { name: 'native', type: 'native', base_url: upstream.url, api_key: 'k' },
        { name: 'azure', type: 'azure', base_url: `${upstream.url}/openai/v1`, api_key: 'k' },
      ],
      models: [
        { name: 'gemini', provider: 'google', upstream_model: 'gemini-3-pro' },
        { name: 'claude', provider: 'vendor', upstream_model: 'claude-x' },
        { name: 'deep', provider: 'compatible', upstream_model: 'deep-x' },
        { name: 'gpt', provider: 'native', protocols: ['responses'] },
        { name: 'old', provider: 'native', protocols: ['responses'] },
        { name: 'deployed', provider: 'azure', protocols: ['responses'] },
      ],
    })
    messages = anthropic(gateway)
    responses = openai(gateway).responses
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const asked = () => JSON.parse(String(upstream.requests.at(-1)?.body)) as JsonObject

  describe('for clients of messages', () => {
    const hello = { role: 'user' as const, content: 'hello' }
    const ask = (stream: boolean) => {
      const body = { model: 'gemini', max_tokens: 50, messages: [hello] }
      return stream ? messages.messages.stream(body).finalMessage() : messages.messages.create(body)
    }
    const thought = { text: 'I look it up.', thought: true }
    const answers = {
      'a text that is signed': [thought, { text: 'Cold.' }, { text: '', thoughtSignature: 'c2lnMQ==' }],
      'a text without a signature': [thought, { text: 'Cold.' }],
      'a call without a signature': [thought, weather],
      'a call that is signed': [thought, { ...weather, thoughtSignature: 'c2lnMQ==' }],
      nothing: [thought],
    }

    for (const [what, parts] of Object.entries(answers)) {
      for (const stream of [false, true]) {
        it(`signs a thought of Gemini before ${what}, ${stream ? 'streamed' : 'whole'}`, async () => {
          upstream.answer(gemini(stream, ...parts))
          const { content } = await ask(stream)
          const [block] = content
          expect(block).to.include({ type: 'thinking', thinking: 'I look it up.' })
          expect(unpackSeal(block?.type === 'thinking' ? block.signature : '')?.origin).to.equal('google/gemini')
        })
      }
    }

    for (const model of ['gemini', 'deep', 'claude']) {
      it(`drops thinking whose signature the client left out, and says so: ${model}`, async () => {
        upstream.answer(
          { gemini: gemini(false, { text: 'Hi' }), claude: claude({ type: 'text', text: 'Hi' }) }[model] ?? {
            body: { choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] },
          },
        )
        const content = [
          { type: 'thinking', thinking: 'secret plan' },
          { type: 'redacted_thinking' },
          { type: 'text', text: 'Hello.' },
        ]
        const turns = [
          hello,
          { role: 'assistant', content },
          { role: 'assistant', content: content.slice(0, 1) },
          hello,
        ]
        const answer = await gateway.post('/v1/messages', {
          model,
          max_tokens: 50,
          messages: turns,
          stream: model === 'claude',
        })
        expect(answer.status, await answer.text()).to.equal(200)
        expect(JSON.stringify(asked())).to.contain('Hello.').and.not.to.contain('secret plan')
        expect(answer.headers.get('x-gateway-losses')).to.contain('reasoning')
      })
    }
  })

  describe('for clients of responses', () => {
    for (const stream of [false, true]) {
      for (const thoughts of [[], [{ text: 'Plan.', thought: true }]]) {
        const titled = `${thoughts.length > 0 ? 'with' : 'without'} thoughts, ${stream ? 'streamed' : 'whole'}`
        it(`keeps the signature of a text of Gemini with the message, ${titled}`, async () => {
          upstream.answer(gemini(stream, ...thoughts, { text: 'Cold.' }, { text: '', thoughtSignature: 'c2lnMQ==' }))
          const body = { model: 'gemini', input: 'hello', store: false }
          const { output } = stream ? await responses.stream(body).finalResponse() : await responses.create(body)
          expect(output.map(({ type }) => type)).to.deep.equal([...thoughts.map(() => 'reasoning'), 'message'])
          upstream.answer(gemini(false, { text: 'Hi' }))
          const input = [
            { role: 'user' as const, content: 'hello' },
            ...output,
            { role: 'user' as const, content: 'on' },
          ]
          await responses.create({ ...body, input: input as OpenAI.Responses.ResponseInput })
          const turn = (asked()['contents'] as JsonObject[])[1]
          expect(turn).to.deep.equal({
            role: 'model',
            parts: [{ text: 'Cold.' }, { text: '', thoughtSignature: 'c2lnMQ==' }],
          })
        })
      }
    }

    it('keeps it for a response that follows one', async () => {
      upstream.answer(gemini(false, { text: 'Cold.', thoughtSignature: 'c2lnMQ==' }))
      const { id } = await responses.create({ model: 'gemini', input: 'hello' })
      await responses.create({ model: 'gemini', input: 'on', previous_response_id: id })
      expect(JSON.stringify(asked())).to.contain('"thoughtSignature":"c2lnMQ=="')
    })
  })

  describe('that a vendor of responses seals', () => {
    const model = { native: 'gpt', azure: 'deployed' }
    const sealed = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAA/1==' }
    const said = {
      id: 'msg_1',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'say "encrypted_content":"gAAAA/1=="', annotations: [] }],
    }
    const compaction = { id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAA/2==' }
    const response = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      metadata: { encrypted_content: 'gAAAA/1==' },
      output: [sealed, said, compaction],
    }
    const event = (type: string, sequence_number: number, fields: JsonObject) => ({
      event: type,
      data: { type, sequence_number, ...fields },
    })
    const answer = (stream: boolean): Script =>
      stream
        ? {
            frames: [
              event('response.created', 0, { response: { ...response, status: 'in_progress', output: [] } }),
              event('response.output_item.added', 1, {
                output_index: 0,
                item: { ...sealed, encrypted_content: 'part' },
              }),
              event('response.output_item.done', 2, { output_index: 0, item: sealed }),
              event('response.completed', 3, { response }),
            ],
          }
        : { body: response }
    const ask = async (body: JsonObject) => {
      const reply = await gateway.post('/v1/responses', body)
      const said = await reply.text()
      expect(reply.status, said).to.equal(200)
      return { said, losses: reply.headers.get('x-gateway-losses') }
    }

    for (const [provider, name] of Object.entries(model)) {
      for (const stream of [false, true]) {
        it(`goes on with the conversation that the gateway keeps: ${provider}, ${stream ? 'streamed' : 'whole'}`, async () => {
          upstream.answer(answer(stream))
          const first = await ask({ model: name, input: 'hello', stream })
          expect(asked()).to.deep.include({ include: ['reasoning.encrypted_content'] })
          const items = first.said.matchAll(/"encrypted_content":"([^"]*)"/g)
          // The metadata, in as many events as have it, and the compaction are no reasoning.
          expect(new Set(Array.from(items, ([, value]) => value))).to.deep.equal(new Set(['gAAAA/1==', 'gAAAA/2==']))
          expect(first.said).to.not.contain('"encrypted_content":"part"')
          expect(first.said.match(/"type":"reasoning"[^{}]*encrypted/)).to.equal(null)
          expect(first.said).to.contain(JSON.stringify(said).slice(1, -1))
          const stored = await fetch(`${gateway.url}/v1/responses/resp_1`, {
            headers: { authorization: `Bearer ${gateway.key}` },
          })
          expect(await stored.text()).to.not.contain('"type":"reasoning","summary":[],"encrypted_content"')
          upstream.answer({ body: { ...response, id: 'resp_2' } })
          const second = await ask({ model: name, input: 'on', previous_response_id: 'resp_1' })
          const [, thought] = asked()['input'] as JsonObject[]
          expect(thought).to.deep.include({ type: 'reasoning', encrypted_content: 'gAAAA/1==' })
          expect(asked()).to.deep.include({ include: ['reasoning.encrypted_content'] })
          expect(second.losses ?? '').to.not.contain('reasoning')
        })
      }
    }

    for (const more of [{ store: false }, { include: ['reasoning.encrypted_content'] }]) {
      for (const stream of [false, true]) {
        it(`is shown to a client with ${JSON.stringify(more)}, ${stream ? 'streamed' : 'whole'}`, async () => {
          upstream.answer(answer(stream))
          const { said: shown } = await ask({ model: 'gpt', input: 'hello', stream, ...more })
          expect(shown).to.contain(JSON.stringify(sealed))
        })
      }
    }

    it('is not asked of a model that refuses it, nor where nothing is to be reasoned', async () => {
      const message = 'Encrypted content is not supported with this model.'
      const refusal = { error: { message, type: 'invalid_request_error', param: 'include', code: null } }
      upstream.answer({ status: 400, body: refusal }, { body: { ...response, output: [said] } })
      const before = upstream.requests.length
      await ask({ model: 'old', input: 'hello' })
      await ask({ model: 'old', input: 'hello' })
      const sent = upstream.requests.slice(before).map(({ body }) => JSON.parse(String(body)) as JsonObject)
      expect(sent.map(({ include }) => include !== undefined)).to.deep.equal([true, false, false])
      for (const more of [{ reasoning: { effort: 'none' } }, { store: false }]) {
        await ask({ model: 'gpt', input: 'hello', ...more })
        expect(asked()).to.not.have.property('include')
      }
    })
  })

  describe('for clients of gemini', () => {
    const thinking = { type: 'thinking', thinking: 'I look it up.', signature: 'sig/1==' }
    const redacted = { type: 'redacted_thinking', data: 'RED/1==' }
    const text = { type: 'text', text: 'Let me look.' }
    const call = { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } }
    const second = { type: 'thinking', thinking: 'And the other.', signature: 'sig/2==' }
    const answers: Record<string, readonly JsonObject[]> = {
      'thinking and a call': [thinking, call],
      'thinking and a text': [thinking, text],
      'thinking, a text and a call': [thinking, text, call],
      'a text, thinking and a call': [text, thinking, call],
      'two kinds of thinking, a text and a call': [thinking, redacted, text, call],
      'thinking, a call, thinking and a call': [thinking, call, second, { ...call, id: 'call_2' }],
    }
    const user = { role: 'user', parts: [{ text: 'weather?' }] }
    const stream = (body: object) =>
      gateway.post('/v1beta/models/claude:streamGenerateContent?alt=sse', {
        tools: [{ functionDeclarations: [declared] }],
        ...body,
      })

    /** The turn as Gemini CLI keeps it: no thoughts, nothing that is empty, and the texts of a turn in the first one. */
    const kept = (body: string): JsonObject[] => {
      const chunks = framesOf(body).flatMap(({ data }) => (isObject(data) ? partsOf(data) : []))
      const parts: JsonObject[] = []
      for (const part of chunks.filter(({ thought, text: said }) => thought !== true && said !== '')) {
        const last = parts.at(-1)
        if (typeof last?.['text'] === 'string' && typeof part['text'] === 'string')
          parts[parts.length - 1] = { ...last, text: last['text'] + part['text'] }
        else parts.push(part)
      }
      return parts
    }

    for (const [what, blocks] of Object.entries(answers)) {
      it(`gets reasoning back from a client that drops thoughts: ${what}`, async () => {
        upstream.answer(claude(...blocks))
        const answer = await stream({
          contents: [user],
          generationConfig: { thinkingConfig: { includeThoughts: true } },
        })
        const parts = kept(await answer.text())
        const signed = parts.filter(({ functionCall }) => functionCall !== undefined)
        for (const part of signed) expect(part['thoughtSignature']).to.be.a('string')
        const results = blocks
          .filter(({ type }) => type === 'tool_use')
          .map(({ id }) => ({ functionResponse: { id: id ?? null, name: 'weather', response: { result: 'cold' } } }))
        const next = results.length > 0 ? { role: 'user', parts: results } : user
        await stream({ contents: [user, { role: 'model', parts }, next] })
        const back = (asked()['messages'] as JsonObject[]).filter(({ role }) => role === 'assistant')
        expect(back.flatMap(({ content }) => content as Json[])).to.deep.equal(blocks)
      })
    }
  })
})

function partsOf({ candidates }: JsonObject): readonly JsonObject[] {
  const [candidate] = candidates as JsonObject[]
  const content = candidate?.['content'] as { readonly parts: JsonObject[] } | undefined
  return content?.parts ?? []
}
