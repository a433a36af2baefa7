import { expect } from 'chai'
import type { AnyProvider, Call, JsonObject, Provider } from '../../../engine/index.ts'
import { BytesBody, collect } from '../../../engine/kit.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import compatible from '../../../plugins/providers/compatible.ts'
import gemini from '../../../plugins/providers/gemini.ts'
import messages from '../../../plugins/providers/messages.ts'
import native from '../../../plugins/providers/native.ts'
import { presets } from '../../../plugins/providers/presets.ts'
import { offersOf } from '../../../engine/config/speaking.ts'
import { codecs, openProvider, testHost } from '../../support/host.ts'
import type { TestHost } from '../../support/host.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { RecordedRequest, ScriptedUpstream } from '../../support/upstream.ts'

describe('providers over HTTP', () => {
  let upstream: ScriptedUpstream
  let host: TestHost
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: {} })
    host = testHost()
  })
  afterEach(async () => {
    await host.closeKept()
    await upstream.close()
  })

  const open = (plugin: AnyProvider, config: JsonObject = {}) =>
    openProvider(plugin, { base_url: upstream.url, api_key: 'key', ...config }, host)
  const asked = async (provider: Provider, call: Partial<Call> = {}): Promise<RecordedRequest> => {
    const answer = await provider.send?.({
      operation: 'generate',
      protocol: 'chat',
      body: new BytesBody(Buffer.from('{}')),
      contentType: 'application/json',
      stream: false,
      model: 'm',
      timeouts: { firstByte: 60_000, idle: 60_000, total: 60_000 },
      scope: new ExchangeScope(),
      ...call,
    })
    if (answer) await collect(answer.body, 1_000)
    return upstream.requests.at(-1) as RecordedRequest
  }
  const pathsOf = async (plugin: AnyProvider, config: JsonObject = {}) => {
    const provider = open(plugin, config)
    const paths: Record<string, string> = {}
    const offers = plugin.offers({ base_url: upstream.url, api_key: 'key', ...config })
    for (const { protocol = '' } of offers.filter((offer) => offer.protocol !== 'realtime')) {
      paths[protocol] = (await asked(provider, { protocol })).path
    }
    return paths
  }

  describe('native', () => {
    it('serves each protocol at its path, with a bearer key', async () => {
      expect(await pathsOf(native)).to.deep.equal({
        responses: '/v1/responses',
        compact: '/v1/responses/compact',
        'input-tokens': '/v1/responses/input_tokens',
        chat: '/v1/chat/completions',
        decisions: '/v1/decisions',
        embeddings: '/v1/embeddings',
        images: '/v1/images/generations',
        'image-edits': '/v1/images/edits',
        speech: '/v1/audio/speech',
        transcriptions: '/v1/audio/transcriptions',
        translations: '/v1/audio/translations',
      })
      for (const { headers } of upstream.requests) expect(headers.authorization).to.equal('Bearer key')
    })

    it('prefers responses, and tells what its chat completions can do', () => {
      const offers = offersOf(native, { base_url: 'https://host', api_key: 'key' }, codecs)
      expect(offers.filter(({ operation }) => operation === 'generate').map(({ protocol }) => protocol)).to.deep.equal([
        'responses',
        'chat',
      ])
      expect(offers.find(({ protocol }) => protocol === 'chat')?.traits).to.include({ system_role: 'developer' })
      expect(offers.map(({ operation }) => operation)).to.deep.equal([
        'generate',
        'compact',
        'count',
        'generate',
        'decide',
        'embed',
        'image',
        'edit',
        'speak',
        'transcribe',
        'translate',
        'realtime',
      ])
    })

    it('sends a form as it is', async () => {
      const contentType = 'multipart/form-data; boundary=xyz'
      const body = Buffer.from([0, 255, 13, 10])
      const request = await asked(open(native), { protocol: 'transcriptions', contentType, body: new BytesBody(body) })
      expect(request.headers['content-type']).to.equal(contentType)
      expect(request.body).to.deep.equal(body)
    })

    it('sends further headers, which replace its own', async () => {
      const headers = { 'OpenAI-Project': 'p', 'User-Agent': 'mine' }
      const request = await asked(open(native, { headers }))
      expect(request.headers['openai-project']).to.equal('p')
      expect(request.headers['user-agent']).to.equal('mine')
    })

    it('lists the models of its upstream', async () => {
      upstream.answer({ body: { object: 'list', data: [{ id: 'a' }, { id: 'b' }, { name: 'c' }, null] } })
      expect(await open(native).models?.(AbortSignal.timeout(60_000))).to.deep.equal(['a', 'b'])
      const [request] = upstream.requests
      expect([request?.method, request?.path, request?.headers.authorization]).to.deep.equal([
        'GET',
        '/v1/models',
        'Bearer key',
      ])
      expect(request?.headers['content-type']).to.equal(undefined)
    })

    it('says why there is no list of models', async () => {
      const said = async (script: Parameters<ScriptedUpstream['answer']>[0]) => {
        upstream.answer(script)
        return open(native)
          .models?.(AbortSignal.timeout(60_000))
          .then(
            () => '',
            (error: Error) => error.message,
          )
      }
      expect(await said({ status: 401, body: 'key' })).to.equal(
        'The provider did not list its models: it answered with status 401.',
      )
      expect(await said({ body: '<html>' })).to.equal('The provider did not list its models: its answer is not JSON.')
      expect(await said({ body: ['a'] })).to.equal('The provider did not list its models: its answer has no list.')
    })

    it('stops listing when it is told to', async () => {
      upstream.answer({ silent: true })
      const controller = new AbortController()
      const listing = open(native)
        .models?.(controller.signal)
        .catch((error: unknown) => error)
      await upstream.received()
      const reason = new Error('enough')
      controller.abort(reason)
      expect(await listing).to.equal(reason)
      await upstream.closed()
    })

    it('refuses a protocol that it does not serve', async () => {
      const error = await asked(open(native), { protocol: 'messages' }).catch((thrown: unknown) => thrown)
      expect(error).to.include({ code: 'invalid_request_error' })
      expect(upstream.requests).to.have.length(0)
    })
  })

  describe('compatible', () => {
    it('offers chat alone, unless it is told more', async () => {
      expect(await pathsOf(compatible)).to.deep.equal({ chat: '/v1/chat/completions' })
      const offers = ['embeddings', 'chat', 'speech']
      expect(Object.keys(await pathsOf(compatible, { offers }))).to.deep.equal(offers)
    })

    it('needs no key, and shows none then', async () => {
      const request = await asked(openProvider(compatible, { base_url: upstream.url }, host))
      expect(request.headers.authorization).to.equal(undefined)
    })

    it('takes address, offers and traits from a preset, each of which its settings replace', async () => {
      const config = { preset: 'mistral', base_url: upstream.url, traits: { top_k: true, stream_usage: true } } as const
      expect(Object.keys(await pathsOf(compatible, config))).to.deep.equal(['chat', 'embeddings', 'transcriptions'])
      expect(compatible.offers({ ...config })[0]?.traits).to.deep.equal({
        max_tokens_field: 'max_tokens',
        stream_usage: true,
        user_field: false,
        logprobs: false,
        reasoning_effort: false,
        top_k: true,
      })
    })

    it('leaves the addresses of a preset when the base address is another', async () => {
      expect(await pathsOf(compatible, { preset: 'perplexity' })).to.deep.equal({ chat: '/v1/chat/completions' })
    })

    it('opens every preset', () => {
      for (const [preset, { variable }] of presets) {
        expect(() => openProvider(compatible, { preset }, host), preset).not.to.throw()
        if (variable !== undefined) expect(variable).to.match(/^[A-Z]+(_[A-Z]+)*$/)
      }
    })

    it('cannot be opened without an address, nor with a preset nobody knows', () => {
      expect(() => openProvider(compatible, {}, host)).to.throw('base_url is needed where no preset is named')
      expect(() => openProvider(compatible, { preset: 'constructor' }, host)).to.throw(/invalid configuration/)
    })
  })

  describe('messages', () => {
    const clientHeaders = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-1, b-2,c-3' }

    it('serves messages and counts tokens, even below a full address', async () => {
      expect(await pathsOf(messages)).to.deep.equal({
        messages: '/v1/messages',
        'count-tokens': '/v1/messages/count_tokens',
      })
      const endpoint_base_urls = { messages: `${upstream.url}/custom/messages` }
      expect(await pathsOf(messages, { endpoint_base_urls })).to.deep.equal({
        messages: '/custom/messages',
        'count-tokens': '/custom/messages/count_tokens',
      })
    })

    it('shows its key in x-api-key, or as a bearer token', async () => {
      const own = await asked(open(messages), { protocol: 'messages' })
      expect([own.headers['x-api-key'], own.headers.authorization]).to.deep.equal(['key', undefined])
      const bearer = await asked(open(messages, { auth: 'bearer' }), { protocol: 'messages' })
      expect([bearer.headers['x-api-key'], bearer.headers.authorization]).to.deep.equal([undefined, 'Bearer key'])
    })

    it('names the version it prints for, or the one that the client speaks', async () => {
      const printed = await asked(open(messages), { protocol: 'messages' })
      expect(printed.headers['anthropic-version']).to.equal('2023-06-01')
      expect(printed.headers['anthropic-beta']).to.equal(undefined)
      const relayed = await asked(open(messages), { protocol: 'messages', clientHeaders })
      expect(relayed.headers['anthropic-version']).to.equal('2026-10-21')
      expect(relayed.headers['anthropic-beta']).to.equal('a-1, b-2,c-3')
      const pinned = await asked(open(messages, { headers: { 'Anthropic-Version': 'x' } }), {
        protocol: 'messages',
        clientHeaders,
      })
      expect(pinned.rawHeaders.filter((value) => value.toLowerCase() === 'anthropic-version')).to.have.length(1)
      expect(pinned.headers['anthropic-version']).to.equal('x')
    })

    it('passes on only the betas it is told to', async () => {
      const betas = async (list: readonly string[]) =>
        (await asked(open(messages, { betas: list }), { protocol: 'count-tokens', clientHeaders })).headers[
          'anthropic-beta'
        ]
      expect(await betas(['b-2', 'c-3', 'd-4'])).to.equal('b-2,c-3')
      expect(await betas(['d-4'])).to.equal(undefined)
      expect(await betas([])).to.equal(undefined)
    })
  })

  describe('gemini', () => {
    it('lists the models of its upstream by the names that addresses take', async () => {
      upstream.answer({ body: { models: [{ name: 'models/a' }, { name: 'models/b' }, { displayName: 'c' }] } })
      expect(await open(gemini).models?.(AbortSignal.timeout(60_000))).to.deep.equal(['a', 'b'])
      const [request] = upstream.requests
      expect([request?.path, request?.headers['x-goog-api-key']]).to.deep.equal(['/v1beta/models?pageSize=1000', 'key'])
    })

    it('asks below its base address, with an address of its own for streams', async () => {
      const base_url = `${upstream.url}/v1`
      const call = { protocol: 'gemini', stream: true }
      expect((await asked(open(gemini, { base_url }), call)).path).to.equal(
        '/v1/models/m:streamGenerateContent?alt=sse',
      )
      expect((await asked(open(gemini), { ...call, stream: false })).path).to.equal('/v1beta/models/m:generateContent')
    })
  })
})
