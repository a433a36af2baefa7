import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { FrameDecoder, fold } from '../../../engine/kit.ts'
import { json, text } from '../../golden/files.ts'
import { addressed, cases, pairs, settings, streamed } from '../../golden/pairs.ts'
import type { Client, Pair } from '../../golden/pairs.ts'
import { streamOf, wholeOf } from '../../golden/session.ts'
import type { Generating } from '../../golden/upstreams.ts'
import chat from '../../../plugins/protocols/chat/codec.ts'
import gemini from '../../../plugins/protocols/gemini/codec.ts'
import messages from '../../../plugins/protocols/messages/codec.ts'
import responses from '../../../plugins/responses/codec.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { copyPipelines } from '../../support/pipelines.ts'
import type { Pipelines } from '../../support/pipelines.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

const codecs = { chat, messages, responses, gemini } as Record<Client, Generating>
const plugin = join(import.meta.dirname, 'cache.ts')

const steps = /\n +- inline-files\b[^]*?- call\b/
const cached = `
        - cache.find
        - switch:
            - when: { answer: false }
              do: [translate, call, cache.keep: { ttl: 10m }]`

const other = { name: 'other', key: 'sk-other-0123456789abcdef0123456789' }

describe('an exact cache of answers', () => {
  let upstream: ScriptedUpstream
  let pipelines: Pipelines
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    pipelines = await copyPipelines()
    await pipelines.edit('generate.yaml', steps, cached)
    await pipelines.edit('generate.yaml', /inputs: .*/, '$&\nwithout: [breaker]')
    const { providers, models } = settings(upstream.url)
    const priced = models.map((model) => ({ ...model, pricing: { input: 1, output: 1 } }))
    gateway = await startGateway({
      providers,
      models: priced,
      api_keys: [other],
      plugins: [plugin],
      pipelines: pipelines.folder,
    })
  })
  after(async () => {
    await gateway.close()
    await pipelines.remove()
    await upstream.close()
  })

  it('takes a plugin of 60 lines', () => {
    expect(readFileSync(plugin, 'utf8').trimEnd().split('\n').length).to.be.at.most(60)
  })

  const script = ({ protocol }: Pair, name: string, stream: boolean) =>
    upstream.answer(stream ? streamOf(protocol, name) : wholeOf(protocol, name))
  const bodies: Record<Client, (word: string) => JsonObject> = {
    chat: (content) => ({ messages: [{ role: 'user', content }] }),
    messages: (content) => ({ max_tokens: 99, messages: [{ role: 'user', content }] }),
    responses: (content) => ({ input: [{ role: 'user', content }] }),
    gemini: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  }
  async function ask(client: Client, body: JsonObject, key = gateway.key): Promise<string> {
    const request = addressed(client, body)
    const response = await gateway.post(request.path, request.body, { authorization: `Bearer ${key}` })
    const got = await response.text()
    expect(response.status, got).to.equal(200)
    return got
  }
  const last = async () => (await gateway.rows()).at(-1)
  /** Asks until it is answered from the cache, which is written to behind the answer's back. */
  async function hit(client: Client, body: JsonObject): Promise<string> {
    for (;;) {
      const got = await ask(client, body)
      if ((await last())?.metadata.includes('"cache":"hit"')) return got
    }
  }
  /** What is said, whatever the protocol writes around it. */
  const spoken = (client: Client, stream: boolean, got: string) => {
    const codec = codecs[client]
    const decoder = new FrameDecoder()
    const reader = codec.events.parser()
    const read = () =>
      fold([...decoder.push(Buffer.from(got)).flatMap((frame) => [...reader.parse(frame)]), ...reader.end()])
    const { items, stop, usage } = stream ? read() : codec.reply.parse(JSON.parse(got) as JsonObject)
    const texts = items.map((item) => {
      if (item.type === 'message') return item.content.map((part) => 'text' in part && part.text)
      if (item.type === 'reasoning') return item.parts.map((part) => part.text)
      return item.type === 'call' ? [item.name, item.callId, item.input] : item.type
    })
    // What was only sealed stands where each protocol has a place for it.
    return { texts: texts.filter((said) => said.length > 0), stop, usage }
  }

  for (const client of ['chat', 'messages', 'responses', 'gemini'] as const)
    for (const pair of pairs[client].filter(({ requestsOnly, name }) => !requestsOnly && name !== 'native-chat'))
      for (const name of cases[client].filter((one) => one !== 'length'))
        for (const stream of [false, true])
          it(`says the same again: ${client} to ${pair.name}, ${name}, ${stream ? 'streamed' : 'whole'}`, async () => {
            const given = json(`${client}/${name}.json`)
            const [first] = (Array.isArray(given) ? given : [given]) as readonly JsonObject[]
            const body = {
              ...first,
              model: pair.name,
              user: `${client} ${name} ${String(stream)}`,
              ...(stream ? streamed[client] : {}),
            }
            script(pair, name, stream)
            const before = await ask(client, body)
            const after = await hit(client, body)
            expect(spoken(client, stream, after)).to.deep.equal(spoken(client, stream, before))
          })

  it('costs nothing, and shows the client what the answer once took', async () => {
    const body = { ...bodies.chat('What does it cost?'), model: 'compatible' }
    script(pairs.chat[0] as Pair, 'refusal', false)
    const before = JSON.parse(await ask('chat', body)) as JsonObject
    expect((await last())?.cost_micros).to.be.above(0)
    const after = JSON.parse(await hit('chat', body)) as JsonObject
    expect(after['usage']).to.deep.include(before['usage'])
    expect(after['id']).to.not.equal(before['id'])
    expect(await last()).to.deep.include({
      cost_micros: 0,
      input_tokens: 0,
      output_tokens: 0,
      status: 200,
      model: 'compatible',
    })
    const asked = upstream.requests.length
    await ask('chat', body)
    expect(upstream.requests).to.have.length(asked)
  })

  it('serves clients of other protocols, streamed or whole, that ask the same', async () => {
    script(pairs.chat[0] as Pair, 'tools', false)
    const model = 'compatible'
    await hit('chat', { ...bodies.chat('The same?'), model, max_tokens: 99 })
    const asked = upstream.requests.length
    for (const stream of [false, true]) {
      const streamed = stream ? { stream } : {}
      const got = [
        spoken('chat', stream, await ask('chat', { ...bodies.chat('The same?'), model, max_tokens: 99, ...streamed })),
        spoken('messages', stream, await ask('messages', { ...bodies.messages('The same?'), model, ...streamed })),
        spoken(
          'responses',
          stream,
          await ask('responses', { ...bodies.responses('The same?'), model, max_output_tokens: 99, ...streamed }),
        ),
      ]
      for (const { texts } of got)
        expect(texts).to.deep.equal([
          ['Let me look.'],
          ['weather', 'call_a', '{"city":"Zürich"}'],
          ['time', 'call_b', '{}'],
        ])
    }
    expect(upstream.requests).to.have.length(asked)
  })

  it('is for one API key, one model and one question', async () => {
    script(pairs.chat[0] as Pair, 'refusal', false)
    const body = { ...bodies.chat('Mine?'), model: 'compatible' }
    await hit('chat', body)
    const asked = upstream.requests.length
    await ask('chat', body, other.key)
    await ask('chat', { ...body, model: 'other-compatible' })
    await ask('chat', { ...body, temperature: 0 })
    expect(upstream.requests).to.have.length(asked + 3)
  })

  it('keeps nothing that broke off or was cut', async () => {
    const body = { ...bodies.chat('Whole?'), model: 'compatible', stream: true }
    for (const answer of ['length', 'refusal'])
      for (const ending of ['end', 'reset'] as const) {
        if (answer === 'refusal' && ending === 'end') continue
        const frames = text(`answers/${answer}.chat.frames.txt`)
        const half = ending === 'end' ? frames : frames.slice(0, frames.length / 2)
        upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: [half], ending })
        await (await gateway.post('/v1/chat/completions', body)).text()
        expect((await last())?.metadata).to.include('"cache":"miss"')
      }
    const { query } = gateway.engine.database
    const before = await query.selectFrom('key_values').select('key').execute()
    script(pairs.chat[0] as Pair, 'refusal', true)
    await hit('chat', body)
    const after = await query.selectFrom('key_values').select('key').execute()
    expect(after).to.have.length(before.length + 1)
  })

  it('keeps a conversation of stored responses going', async () => {
    const script = (one: string) => upstream.answer({ body: json(`answers/${one}.chat.json`) })
    const turn = { ...bodies.responses('Stored?'), model: 'compatible', store: true }
    script('refusal')
    await hit('responses', turn)
    const got = JSON.parse(await ask('responses', turn)) as { id: string }
    script('search')
    const next = { ...bodies.responses('And then?'), model: 'compatible', previous_response_id: got.id }
    await ask('responses', next)
    expect(upstream.requests.at(-1)?.body.toString()).to.include('Stored?').and.include('I cannot help with that.')
  })
})
