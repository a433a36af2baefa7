import { expect } from 'chai'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { anthropic, openai } from '../support/clients.ts'
import { genai } from '../support/genai.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const narrow = 'sk-narrow-0123456789abcdef0123456789abcdef'

describe('what can be asked of a gateway', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'other', type: 'messages', base_url: upstream.url, api_key: 'upstream-key' },
        { name: 'unpaid', type: 'native', base_url: upstream.url, api_key: '${NOT_SET}' },
      ],
      models: [
        { name: 'echo', provider: 'echo', aliases: ['small', 'tiny'], context_length: 4000, max_output_tokens: 500 },
        { name: 'vendor/large', provider: 'other', upstream_model: 'large-2026' },
        { name: 'off', provider: 'unpaid' },
      ],
      api_keys: [{ name: 'narrow', key: narrow, models: ['vendor/large'] }],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  describe('models', () => {
    const large = { id: 'vendor/large', object: 'model', created: 0, owned_by: 'other', provider: 'other' }
    const largeMessage = {
      type: 'model',
      id: 'vendor/large',
      display_name: 'vendor/large',
      created_at: '1970-01-01T00:00:00Z',
      provider: 'other',
    }

    it('are listed as each client reads them, without those of a provider that is off', async () => {
      const forOpenai = await Array.fromAsync(await openai(gateway).models.list())
      const echo = { id: 'echo', object: 'model', created: 0, owned_by: 'echo', provider: 'echo' }
      expect(forOpenai).to.deep.equal([echo, large])
      const forAnthropic = await anthropic(gateway).models.list()
      expect(forAnthropic.data.map(({ id }) => id)).to.deep.equal(['echo', 'vendor/large'])
      expect(forAnthropic.data[1]).to.include(largeMessage)
      expect(forAnthropic.hasNextPage()).to.equal(false)
    })

    it('are listed page by page to clients that ask for pages', async () => {
      const pages = []
      for await (const page of (await anthropic(gateway).models.list({ limit: 1 })).iterPages()) pages.push(page)
      expect(pages.map(({ data }) => data.map(({ id }) => id))).to.deep.equal([['echo'], ['vendor/large']])
      expect(pages.map(({ has_more }) => has_more)).to.deep.equal([true, false])
      const before = await anthropic(gateway).models.list({ before_id: 'vendor/large', limit: 9 })
      expect(before.data.map(({ id }) => id)).to.deep.equal(['echo'])
      for (const wrong of [{ limit: 0 }, { limit: 1001 }, { after_id: 'nothing' }]) {
        const error: unknown = await anthropic(gateway)
          .models.list(wrong)
          .then(undefined, (reason: unknown) => reason)
        expect(error).to.be.instanceOf(Anthropic.BadRequestError)
      }
    })

    for (const version of ['v1', 'v1beta'] as const)
      it(`are listed page by page to gemini clients, and told one by one: ${version}`, async () => {
        const { models } = genai(gateway, version)
        const ask = (path: string) => fetch(gateway.url + path, { headers: { 'x-goog-api-key': gateway.key } })
        const small = { name: 'models/echo', displayName: 'echo', inputTokenLimit: 4000, outputTokenLimit: 500 }
        const all = [small, { name: 'models/vendor/large', displayName: 'vendor/large' }]
        expect(await (await ask(`/${version}/models`)).json()).to.deep.equal({ models: all })
        const pager = await models.list({ config: { pageSize: 1 } })
        expect(pager.pageLength).to.equal(1)
        expect((await Array.fromAsync(pager)).map(({ name }) => name)).to.deep.equal(all.map(({ name }) => name))
        expect(await (await ask(`/${version}/models/echo`)).json()).to.deep.equal(small)
        expect(await models.get({ model: 'tiny' })).to.include({ name: 'models/echo', inputTokenLimit: 4000 })
        expect(await models.get({ model: 'vendor/large' })).to.include({ name: 'models/vendor/large' })
        for (const wrong of ['pageSize=0', 'pageSize=many', 'pageToken=nothing']) {
          const refusal = await ask(`/${version}/models?${wrong}`)
          const { error } = (await refusal.json()) as { error: object }
          expect(error).to.include({ code: 400, status: 'INVALID_ARGUMENT' })
        }
        const bearer = await fetch(`${gateway.url}/v1beta/models`, {
          headers: { authorization: `Bearer ${gateway.key}` },
        })
        expect(await bearer.json()).to.deep.equal({ models: all })
        const unknown = await ask(`/${version}/models/nothing`)
        expect(unknown.status).to.equal(404)
        expect(await unknown.json()).to.have.nested.property('error.status', 'NOT_FOUND')
      })

    it('are listed only as far as the key may use them', async () => {
      const mine = { url: gateway.url, key: narrow }
      expect((await Array.fromAsync(await openai(mine).models.list())).map(({ id }) => id)).to.deep.equal([
        'vendor/large',
      ])
      expect((await anthropic(mine).models.list()).data.map(({ id }) => id)).to.deep.equal(['vendor/large'])
    })

    it('are told one by one, by name and alias', async () => {
      expect(await openai(gateway).models.retrieve('vendor/large')).to.deep.equal(large)
      expect(await anthropic(gateway).models.retrieve('vendor/large')).to.deep.include(largeMessage)
      expect(await openai(gateway).models.retrieve('small')).to.include({ id: 'echo' })
    })

    it('do not exist for a key that may not use them, nor while their provider is off', async () => {
      const mine = { url: gateway.url, key: narrow }
      for (const asking of [
        openai(mine).models.retrieve('echo'),
        openai(mine).models.retrieve('nothing'),
        openai(gateway).models.retrieve('off'),
        openai(gateway).models.retrieve('__proto__'),
      ]) {
        const error: unknown = await asking.then(
          () => undefined,
          (reason: unknown) => reason,
        )
        expect(error).to.be.instanceOf(OpenAI.NotFoundError)
        expect(error).to.include({ code: 'model_not_found', param: 'model', type: 'invalid_request_error' })
      }
      const error: unknown = await anthropic(mine)
        .models.retrieve('echo')
        .then(
          () => undefined,
          (reason: unknown) => reason,
        )
      expect(error).to.be.instanceOf(Anthropic.NotFoundError)
      expect((error as { error: object }).error).to.deep.include({
        type: 'error',
        error: { type: 'not_found_error', message: 'The model "echo" does not exist.' },
      })
    })
  })

  it('protocols are listed with their paths', async () => {
    const response = await fetch(`${gateway.url}/v1/protocols`, { headers: { authorization: `Bearer ${gateway.key}` } })
    const { data } = (await response.json()) as { data: { protocol: string; paths: string[] }[] }
    const paths = new Map(data.map((entry) => [entry.protocol, entry.paths]))
    expect(paths.get('chat')).to.include('/v1/chat/completions')
    expect(paths.get('messages')).to.include('/v1/messages')
    expect(paths.get('transcriptions')).to.include('/v1/audio/transcriptions')
    for (const entry of data) expect(entry.paths, entry.protocol).to.deep.equal([...new Set(entry.paths)])
  })

  describe('tokens', () => {
    const request = { messages: [{ role: 'user', content: 'Good morning to all of you' }] } as const

    it('are counted by a provider that can', async () => {
      upstream.answer({ body: { input_tokens: 4711 } })
      const asked = upstream.requests.length
      const counted = await anthropic(gateway).messages.countTokens({
        model: 'vendor/large',
        ...request,
        messages: [...request.messages],
      })
      expect(counted).to.deep.equal({ input_tokens: 4711 })
      const [call] = upstream.requests.slice(asked)
      expect(call?.path).to.equal('/v1/messages/count_tokens')
      expect(JSON.parse(String(call?.body))).to.deep.equal({ model: 'large-2026', ...request })
      expect(call?.headers['x-api-key']).to.equal('upstream-key')
    })

    it('are counted here otherwise', async () => {
      const before = upstream.requests.length
      const counted = await anthropic(gateway).messages.countTokens({
        model: 'echo',
        ...request,
        messages: [...request.messages],
      })
      expect(Object.keys(counted)).to.deep.equal(['input_tokens'])
      expect(counted.input_tokens).to.be.within(5, 20)
      expect(upstream.requests).to.have.length(before)
    })

    for (const status of [404, 405, 501, 503, 529])
      it(`are counted here when the provider answers with ${status}`, async () => {
        upstream.answer({
          status,
          body: { type: 'error', error: { type: 'not_found_error', message: 'no such page' } },
        })
        const asked = upstream.requests.length
        const { input_tokens: tokens } = await anthropic(gateway).messages.countTokens({
          model: 'vendor/large',
          messages: [...request.messages],
        })
        expect(tokens).to.be.within(5, 20)
        expect(upstream.requests).to.have.length(asked + 1)
      })

    it('are not counted of a request that the provider refuses', async () => {
      upstream.answer({ status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message: 'no' } } })
      const counting = anthropic(gateway).messages.countTokens({
        model: 'vendor/large',
        messages: [...request.messages],
      })
      expect(await counting.catch((error: unknown) => error)).to.include({ status: 400 })
    })
  })

  describe('paths', () => {
    const body = { model: 'echo', messages: [{ role: 'user', content: 'hello' }], max_tokens: 9 }
    const paths = [
      '/v1/chat/completions',
      '/chat/completions',
      '/v1/v1/chat/completions',
      '/v1/chat/completions/',
      '/v1/messages',
      '/messages',
      '/v1/v1/messages',
      '/v1/messages/',
      '/v1/messages?beta=true',
    ]
    for (const path of paths) {
      it(`${path} answers`, async () => {
        const response = await gateway.post(path, body)
        expect(response.status).to.equal(200)
        expect(JSON.stringify(await response.json())).to.include('"hello"')
      })
    }

    it('are found again under one name in the log', async () => {
      const rows = await gateway.rows()
      expect(rows.filter(({ type, requested }) => type === 'chat' && requested === 'echo')).to.have.length(4)
      expect(rows.filter(({ type, requested }) => type === 'messages' && requested === 'echo')).to.have.length(5)
    })
  })
})
