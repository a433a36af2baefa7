import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { JsonObject } from '../../../engine/index.ts'
import { json, text } from '../../golden/files.ts'
import { addressed, cases, clients, pairs, settings, streamed } from '../../golden/pairs.ts'
import { nativeAnswer, message, chatSaying, messagesSaying } from '../../service/stored-upstreams.ts'
import { chatFrames, messagesFrames, responsesFrames } from '../../service/streams.ts'
import { streamOf, wholeOf } from '../../golden/session.ts'
import { openSession } from '../../service/responses-session.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import type { Pipelines } from '../../support/pipelines.ts'
import { redis } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../../support/upstream.ts'
import { databaseOf, maskingPipelines, opened, spelled } from './everywhere.ts'

/** Words of the requests and answers that the golden exchanges consist of, and one of our own. */
const words = [
  'hunter2',
  'both cities',
  'Let me look',
  'help with',
  'sunny',
  'Zürich',
  'Grüß Gott',
  'animal',
  'One, two',
  'do harm',
  'Rome',
  'Cats',
]
const plugin = join(import.meta.dirname, '..', '..', '..', 'docs', 'recipes', 'mask.ts')

function hidden(where: string, said: string) {
  for (const word of words)
    if (spelled(said).includes(word)) expect.fail(`"${word}" is to be seen in ${where}: ${said}`)
}

describe('masking', () => {
  let upstream: ScriptedUpstream
  let pipelines: Pipelines
  before(async () => {
    upstream = await scriptedUpstream()
    pipelines = await maskingPipelines(words)
    // The addresses in the cases are nobody's: files stay what they are.
    await pipelines.edit('generate.yaml', '- inline-files', '#')
  })
  after(async () => {
    await pipelines.remove()
    await upstream.close()
  })

  it('takes a plugin of 45 lines', () => {
    expect(readFileSync(plugin, 'utf8').trimEnd().split('\n').length).to.be.at.most(45)
  })

  describe('of every exchange', () => {
    let gateway: RunningGateway
    before(async () => {
      gateway = await startGateway({ ...settings(upstream.url), plugins: [plugin], pipelines: pipelines.folder })
    })
    after(async () => {
      hidden('the database', await databaseOf(gateway))
      hidden('the log', gateway.lines.join('\n'))
      await gateway.close()
    })

    for (const client of clients)
      for (const pair of pairs[client].filter(({ requestsOnly }) => !requestsOnly))
        for (const name of cases[client])
          for (const stream of [false, true])
            it(`${client} to ${pair.name}: ${name}, ${stream ? 'streamed' : 'whole'}`, async () => {
              upstream.answer((stream ? streamOf : wholeOf)(pair.protocol, name))
              const given = json(`${client}/${name}.json`)
              const [first] = (Array.isArray(given) ? given : [given]) as readonly JsonObject[]
              const said = {
                ...first,
                model: pair.name,
                metadata: { user_id: 'hunter2' },
                store: client === 'responses',
              }
              const { store, ...others } = said
              const body = {
                ...others,
                ...(client === 'messages' ? {} : { store }),
                ...(stream ? streamed[client] : {}),
              }
              const sent = addressed(client, body)
              const response = await gateway.post(sent.path, sent.body)
              const got = await response.text()
              expect(response.status, got).to.equal(200)
              hidden('the answer', got)
              hidden('the request', upstream.requests.at(-1)?.body.toString() ?? '')
              expect(got.length).to.be.above(100)
            })
  })

  const models = ['responses', 'chat', 'messages'] as const
  type Kind = (typeof models)[number]
  const served = () => {
    const at = { base_url: upstream.url, api_key: 'k' }
    return {
      plugins: [plugin],
      pipelines: pipelines.folder,
      providers: [
        { name: 'responses', type: 'native', ...at, conversations: 'vendor' },
        { name: 'chat', type: 'compatible', ...at },
        { name: 'messages', type: 'messages', ...at },
      ],
      models: models.map((name) => ({
        name,
        provider: name,
        protocols: name === 'messages' ? [name, 'count-tokens'] : [name],
      })),
    }
  }
  /** An answer that says the word, cut in the middle of it where it is streamed. */
  const says = (kind: Kind, stream: boolean): Script => {
    const [before, after] = ['I know: hun', 'ter2!']
    if (stream)
      return { frames: { responses: responsesFrames, chat: chatFrames, messages: messagesFrames }[kind](before, after) }
    const whole = before + after
    if (kind === 'responses')
      return {
        body: nativeAnswer('resp_theirs', [message('msg_theirs', whole)], { instructions: 'Never say hunter2.' }),
      }
    return kind === 'chat' ? chatSaying(whole) : messagesSaying(whole)
  }
  const asking = { input: 'My word is hunter2.', instructions: 'Never say hunter2.', metadata: { word: 'hunter2' } }
  const get = async (gateway: RunningGateway, path: string) =>
    (await fetch(gateway.url + path, { headers: { authorization: `Bearer ${gateway.key}` } })).text()
  const idIn = (answer: string) => /"id": ?"(resp_[^"]+)"/.exec(answer)?.[1] ?? ''

  /** Two turns, and all that is to be had of them. */
  async function conversation(gateway: RunningGateway, model: Kind, stream: boolean): Promise<string> {
    const asked = upstream.requests.length
    const seen: string[] = []
    let previous: JsonObject = {}
    for (let turn = 0; turn < 2; turn++) {
      upstream.answer(says(model, stream))
      const response = await gateway.post('/v1/responses', { ...asking, ...previous, model, stream })
      const answer = await response.text()
      expect(response.status, answer).to.equal(200)
      const id = idIn(answer)
      previous = { previous_response_id: id }
      seen.push(
        answer,
        await get(gateway, `/v1/responses/${id}`),
        await get(gateway, `/v1/responses/${id}?stream=true`),
      )
      seen.push(await get(gateway, `/v1/responses/${id}/input_items`))
    }
    return [...seen, ...upstream.requests.slice(asked).map(({ body }) => body.toString())].join('\n')
  }

  describe('of responses that are stored', () => {
    let gateway: RunningGateway
    before(async () => {
      gateway = await startGateway(served())
    })
    after(async () => {
      hidden('the database', await databaseOf(gateway))
      await gateway.close()
    })

    for (const model of models)
      for (const stream of [false, true])
        it(`reaches the answer, its echoes, the store and the next turn: ${model}, ${stream ? 'streamed' : 'whole'}`, async () => {
          const all = await conversation(gateway, model, stream)
          hidden('the conversation', all)
          expect(all).to.include('Never say ***.').and.include('I know: ***!')
          const [, second] = upstream.requests.slice(-2).map(({ body }) => body.toString())
          expect(second).to.include('My word is ***.').and.include('I know: ***!')
          expect(await databaseOf(gateway))
            .to.include('I know: ***!')
            .and.include('My word is ***.')
        })

    for (const model of models)
      it(`reaches every turn of a WebSocket: ${model}`, async () => {
        const session = await openSession(gateway)
        let previous: JsonObject = {}
        for (let turn = 0; turn < 2; turn++) {
          upstream.answer(says(model, true))
          const frames = JSON.stringify(await session.turn({ ...asking, ...previous, model }))
          previous = { previous_response_id: idIn(frames) }
          hidden('the socket', frames)
          expect(frames).to.include('I know: ***!').and.include('Never say ***.')
          hidden('the request', upstream.requests.at(-1)?.body.toString() ?? '')
        }
        expect(upstream.requests.at(-1)?.body.toString()).to.include('My word is ***.').and.include('I know: ***!')
        session.socket.close()
      })
  })

  describe('of what is no answer', () => {
    let gateway: RunningGateway
    before(async () => {
      gateway = await startGateway(served())
    })
    after(() => gateway.close())

    const messages = [{ role: 'user', content: 'My word is hunter2.' }]
    const contents = [{ role: 'user', parts: [{ text: 'My word is hunter2.' }] }]
    const bodies = {
      chat: { messages },
      messages: { max_tokens: 9, messages },
      responses: { input: 'Hi' },
      gemini: { contents },
    }

    for (const kind of models)
      it(`reaches the failure that ends a stream: ${kind}`, async () => {
        const error = { type: 'server_error', code: 'server_error', message: 'The word hunter2 broke it.', param: null }
        const failures = {
          responses: { event: 'error', data: { ...error, type: 'error', sequence_number: 9 } },
          chat: { data: { error } },
          messages: { event: 'error', data: { type: 'error', error } },
        }
        upstream.answer({ frames: [...(says(kind, true).frames?.slice(0, 4) ?? []), failures[kind]] })
        for (const client of clients) {
          const { path, body } = addressed(client, { ...bodies[client], model: kind, stream: true })
          const got = await gateway.post(path, body)
          const text = await got.text()
          expect(text).to.include('The word *** broke it.')
          hidden('the failure', text)
        }
      })

    it('reaches what is only counted or packed', async () => {
      upstream.answer({ body: { input_tokens: 9 } })
      const asked = upstream.requests.length
      await gateway.post('/v1/messages/count_tokens', { model: 'messages', messages })
      const packed = await gateway.post('/v1/responses/compact', { model: 'chat', input: 'My word is hunter2.' })
      const text = await packed.text()
      expect(text).to.include('My word is ***.')
      hidden('the packed conversation', text)
      const [counted] = upstream.requests.slice(asked)
      expect(counted?.body.toString()).to.include('My word is ***.')
    })
  })

  it('shows the provider no word in a text that is JSON, has a key twice, or is nested deep', async () => {
    const gateway = await startGateway(served())
    try {
      upstream.answer({ headers: { 'content-type': 'application/json' }, chunks: [text('answers/full.chat.json')] })
      for (const content of [
        '{"password":"hunter2","password":""}',
        String.raw`{"password":"h\u0075nter2"}`,
        `${'['.repeat(6_000)}"hunter2"${']'.repeat(6_000)}`,
      ]) {
        const messages = [{ role: 'user', content }]
        const response = await gateway.post('/v1/chat/completions', { model: 'chat', messages })
        expect(response.status, await response.text()).to.equal(200)
        const sent = upstream.requests.at(-1)?.body.toString() ?? ''
        expect(sent).to.include('***')
        hidden('the request', sent)
      }
    } finally {
      await gateway.close()
    }
  })

  it('hides what is to be seen everywhere without it', async () => {
    const { pipelines: _, ...shipped } = served()
    const gateway = await startGateway(shipped)
    const all = await conversation(gateway, 'chat', false)
    expect(all).to.include('My word is hunter2.').and.include('I know: hunter2!').and.include('Never say hunter2.')
    expect(await databaseOf(gateway))
      .to.include('I know: hunter2!')
      .and.include('My word is hunter2.')
    await gateway.close()
  })

  describe('of responses in the background', () => {
    let service: Service
    let gateway: RunningGateway
    before(async function () {
      service = await redis(this)
      gateway = await startGateway({ ...served(), key_value: { url: service.url } })
    })
    after(async () => {
      await gateway?.close()
      await service?.stop()
    })

    for (const model of models)
      it(`reaches the store, and whoever asks for them: ${model}`, async () => {
        const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
        upstream.answer(async () => {
          await asked
          return says(model, false)
        })
        const begun = await (await gateway.post('/v1/responses', { ...asking, model, background: true })).text()
        const waiting = await valuesOf(service.url)
        expect(waiting).to.include('My word is ***.')
        hidden('what waits', waiting)
        answer()
        const id = idIn(begun)
        let response = begun
        while (/"status": ?"(in_progress|queued)"/.test(response)) response = await get(gateway, `/v1/responses/${id}`)
        hidden('the response', begun + response + (await get(gateway, `/v1/responses/${id}/input_items`)))
        expect(response).to.include('I know: ***!').and.include('Never say ***.')
        hidden('the request', upstream.requests.at(-1)?.body.toString() ?? '')
        hidden('the store', await valuesOf(service.url))
        hidden('the database', await databaseOf(gateway))
      })
  })
})

/** Everything that a Redis holds, as text. */
async function valuesOf(url: string): Promise<string> {
  const client = new Redis(url)
  const values: string[] = []
  for (const key of await client.keys('*')) {
    const type = await client.type(key)
    if (type === 'string') values.push(opened((await client.getBuffer(key)) ?? Buffer.alloc(0)))
    if (type === 'hash') values.push(...Object.values(await client.hgetallBuffer(key)).map(opened))
    if (type === 'list') values.push(...(await client.lrangeBuffer(key, 0, -1)).map(opened))
    if (type === 'zset') values.push(...(await client.zrange(key, '0', '-1')))
    if (type === 'stream') values.push(JSON.stringify(await client.xrange(key, '-', '+')))
  }
  await client.quit()
  return values.map(spelled).join('\n')
}
