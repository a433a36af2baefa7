import { ApiError } from '@google/genai'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { genai } from '../support/genai.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, chatFrames, printed } from './streams.ts'

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

describe('what a gemini client is refused', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'vendor', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'upstream-key' },
        { name: 'google', type: 'gemini', base_url: `${upstream.url}/v1beta`, api_key: 'upstream-key' },
      ],
      models: [
        { name: 'org/m', provider: 'vendor' },
        { name: 'm', provider: 'vendor' },
        { name: 'g', provider: 'google' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })
  beforeEach(() => upstream.answer({ body: chatAnswer }))

  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const { error } = (await response.json()) as { error: JsonObject }
    if (response.status !== 200) expect(error).to.include({ code: response.status })
    return { status: response.status, error }
  }
  const refused = async (asking: Promise<unknown>): Promise<ApiError> => {
    const error = await asking.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(ApiError)
    return error as ApiError
  }

  it('tells an unknown model as 404 NOT_FOUND', async () => {
    const error = await refused(genai(gateway).models.generateContent({ model: 'none', contents: 'Hi' }))
    expect(error.status).to.equal(404)
    const told = JSON.parse(error.message) as { error: JsonObject }
    expect(told.error).to.have.all.keys('code', 'message', 'status')
    expect(told.error).to.include({ code: 404, status: 'NOT_FOUND' })
    expect(told.error['message']).to.contain('none')
  })

  it('tells an unknown key as 401 UNAUTHENTICATED, and not what it was', async () => {
    const key = 'sk-wrong-0123456789abcdef0123456789abcdef'
    for (const apiVersion of ['v1', 'v1beta'] as const) {
      const asking = genai({ url: gateway.url, key }, apiVersion).models.generateContent({ model: 'm', contents: 'Hi' })
      const error = await refused(asking)
      expect(error.status).to.equal(401)
      expect(error.message).to.contain('UNAUTHENTICATED').and.not.contain(key)
    }
  })

  it('takes no key from the address, and shows it nowhere', async () => {
    const secret = 'AIzaSyD-0123456789abcdefghijklmnopqrstu'
    const path = `/v1beta/models/m:generateContent?key=${secret}`
    const before = upstream.requests.length
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ contents }),
    })
    const alone = await response.text()
    expect(response.status).to.equal(401)
    expect(alone).to.contain('x-goog-api-key').and.contain('not read from the address').and.not.contain(secret)
    const beside = await post(path, { contents })
    expect(beside).to.deep.include({ status: 400 })
    expect(beside.error['message']).to.contain('x-goog-api-key').and.not.contain(secret)
    expect(upstream.requests.length).to.equal(before)
    const rows = await gateway.rows()
    expect(
      JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).to.not.contain(secret)
    expect(gateway.lines.join('\n')).to.not.contain(secret)
  })

  const bad: Readonly<Record<string, readonly [body: unknown, mention: string]>> = {
    'no JSON': ['{"contents":', 'JSON'],
    'no contents': [{}, 'contents'],
    'empty contents': [{ contents: [] }, 'contents'],
    'contents that are no list': [{ contents: 'Hi' }, 'contents'],
    'an unknown role': [{ contents: [{ role: 'robot', parts: [] }] }, 'role'],
    'a text that is none': [{ contents: [{ parts: [{ text: 5 }] }] }, 'text'],
    'a call without a name': [{ contents: [{ role: 'model', parts: [{ functionCall: {} }] }] }, 'name'],
    'a temperature that is none': [{ contents, generationConfig: { temperature: 'hot' } }, 'temperature'],
    'the same in snake case': [{ contents, generation_config: { max_output_tokens: 'all' } }, 'max_output_tokens'],
    'a limit of nothing': [{ contents, generationConfig: { maxOutputTokens: 0 } }, 'maxOutputTokens'],
    'tools that are no list': [{ contents, tools: {} }, 'tools'],
    'a function without a name': [{ contents, tools: [{ functionDeclarations: [{}] }] }, 'name'],
    'another model in the body': [{ contents, model: 'other' }, 'model'],
    'a stream in the body': [{ contents, stream: true }, 'stream'],
  }
  for (const [name, [body, mention]] of Object.entries(bad))
    for (const model of ['m', 'g'])
      it(`tells of ${name} with 400 INVALID_ARGUMENT: ${model}`, async () => {
        const before = upstream.requests.length
        const { status, error } = await post(`/v1beta/models/${model}:generateContent`, body)
        expect(status).to.equal(400)
        expect(error['status']).to.equal('INVALID_ARGUMENT')
        expect(error['message']).to.contain(mention)
        expect(upstream.requests.length).to.equal(before)
      })

  it('tells of streams in another form than server-sent events', async () => {
    const { status, error } = await post('/v1beta/models/m:streamGenerateContent', { contents })
    expect(status).to.equal(400)
    expect(error['message']).to.contain('alt=sse')
  })

  it('tells of a verb that is not served in the same form', async () => {
    const { status, error } = await post('/v1beta/models/m:dance', { contents })
    // Models of any name can be looked at there, by GET.
    expect(status).to.equal(405)
    expect(error).to.include({ code: 405, status: 'INVALID_ARGUMENT' })
  })

  it("passes on the upstream's refusal with its status", async () => {
    upstream.answer({ status: 429, headers: { 'retry-after': '7' }, body: { error: { message: 'Slow down.' } } })
    const error = await refused(genai(gateway).models.generateContent({ model: 'org/m', contents: 'Hi' }))
    expect(error.status).to.equal(429)
    expect(JSON.parse(error.message)).to.deep.nested.include({
      'error.status': 'RESOURCE_EXHAUSTED',
      'error.details': [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }],
    })
  })

  it('ends a broken stream with the error, which its client throws', async () => {
    const heard = Promise.withResolvers<undefined>()
    const chunks = async function* () {
      yield* chatFrames('Hello').slice(0, 2).map(printed)
      await heard.promise
    }
    upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: chunks(), ending: 'close' })
    const said: string[] = []
    const reading = async () => {
      for await (const { text = '' } of await genai(gateway).models.generateContentStream({
        model: 'org/m',
        contents: 'Hi',
      })) {
        said.push(text)
        heard.resolve(undefined)
      }
    }
    const error = await refused(reading())
    expect(said.join('')).to.equal('Hello')
    expect(error.status).to.equal(502)
  })

  it('may leave, whole and streamed, and then the upstream is left, too', async () => {
    for (const stream of [false, true]) {
      const count = upstream.requests.length + 1
      const rows = (await gateway.rows()).length
      upstream.answer(stream ? { frames: chatFrames('Hello').slice(0, 2), ending: 'hang' } : { silent: true })
      const abort = new AbortController()
      const request = { model: 'org/m', contents: 'Hi', config: { abortSignal: abort.signal } }
      const { models } = genai(gateway)
      const asking = stream
        ? models.generateContentStream(request).then(async (chunks) => {
            for await (const _ of chunks) abort.abort()
          })
        : models.generateContent(request)
      const left = asking.then(
        () => undefined,
        (error: unknown) => error,
      )
      await upstream.received(count)
      if (!stream) abort.abort()
      expect(await left).to.be.instanceOf(Error)
      await upstream.closed()
      expect((await gateway.rows(rows + 1)).at(-1)).to.include({ type: 'gemini', result: 'client_closed' })
    }
  })
})

describe('a gemini client that leaves the choice of the model to the gateway', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      providers: [{ name: 'far', type: 'echo' }],
      models: ['small', 'large'].map((name) => ({ name, provider: 'far', auto_eligible: true })),
      server_config: { smart_routing: { enabled: true, seed: 'seed' } },
    })
  })
  after(() => gateway.close())

  for (const model of ['auto', 'fast', 'best'])
    it(`is answered by one of those there are: ${model}`, async () => {
      const answer = await genai(gateway).models.generateContent({ model, contents: 'How many legs has a spider?' })
      expect(answer.text).to.contain('spider')
      expect((await gateway.rows()).at(-1)).to.include({ type: 'gemini', status: 200 })
    })
})
