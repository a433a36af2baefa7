import { expect } from 'chai'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { keyStore, keysOf } from '../support/keys.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'

const text = (name: string) => `sk-${name}-0123456789abcdef0123456789abcdef`

describe('who may use what', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      providers: [{ name: 'echo', type: 'echo' }],
      models: [
        { name: 'small', provider: 'echo', upstream_model: 'small-2026', aliases: ['s', 'tiny'] },
        { name: 'large', provider: 'echo', upstream_model: 'large-2026', aliases: ['l'] },
        { name: 'proud', provider: 'echo', fallbacks: ['small'] },
      ],
      api_keys: [
        { name: 'only-small', key: text('small'), models: ['small'] },
        { name: 'by-alias', key: text('alias'), models: ['l'] },
        { name: 'none', key: text('none'), models: [] },
        { name: 'gone', key: text('gone'), expires_at: '2020-01-01' },
        { name: 'valid', key: text('valid'), expires_at: '2999-01-01T00:00:00Z' },
      ],
    })
  })
  after(() => gateway.close())

  const status = async (headers: Record<string, string>, model = 'small') => {
    const response = await gateway.post(
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: 'hello' }] },
      { authorization: '', ...headers },
    )
    await response.bytes()
    return response.status
  }
  const bearer = (name: string) => ({ authorization: `Bearer ${text(name)}` })

  it('a key is shown as a bearer token or in x-api-key', async () => {
    expect(await status(bearer('small'))).to.equal(200)
    expect(await status({ authorization: `bearer  ${text('small')} ` })).to.equal(200)
    expect(await status({ 'x-api-key': text('small') })).to.equal(200)
  })

  it('of both, the first that is valid counts', async () => {
    expect(await status({ ...bearer('small'), 'x-api-key': 'sk-unknown' })).to.equal(200)
    expect(await status({ authorization: 'Bearer sk-unknown', 'x-api-key': text('small') })).to.equal(200)
    expect(await status({ ...bearer('gone'), 'x-api-key': text('small') })).to.equal(200)
    // The narrower one stands first: the wider one behind it does not help.
    expect(await status({ ...bearer('small'), 'x-api-key': gateway.key }, 'large')).to.equal(403)
  })

  it('a key that has expired is unknown', async () => {
    expect(await status(bearer('gone'))).to.equal(401)
    expect(await status(bearer('valid'))).to.equal(200)
  })

  it('a key made while the gateway runs is known at once', async () => {
    const made = await keysOf(gateway.engine).create({ name: 'made', models: ['large'] })
    expect(await status({ 'x-api-key': made.text }, 'large')).to.equal(200)
    expect(await status({ 'x-api-key': made.text }, 'small')).to.equal(403)
  })

  it('a key that another process made is taken at its first request', async () => {
    const { text: made } = await keyStore(gateway.engine.database).createKey({ name: 'elsewhere' })
    expect(await status({ authorization: `Bearer ${made}` })).to.equal(200)
    const { text: another } = await keyStore(gateway.engine.database).createKey({ name: 'another' })
    expect(await status({ 'x-api-key': another })).to.equal(200)
  })

  it('the list of a key means records, whatever name they are asked by', async () => {
    for (const model of ['small', 's', 'tiny', 'echo/small-2026'])
      expect(await status(bearer('small'), model), model).to.equal(200)
    for (const model of ['large', 'l', 'echo/large-2026'])
      expect(await status(bearer('small'), model), model).to.equal(403)
    for (const model of ['large', 'l', 'echo/large-2026'])
      expect(await status(bearer('alias'), model), model).to.equal(200)
    expect(await status(bearer('alias'), 'small')).to.equal(403)
    expect(await status(bearer('none'), 'small')).to.equal(403)
  })

  it('a path that is nearly right is told the right one', async () => {
    const said = async (path: string) => {
      const answer = await gateway.post(path, {})
      expect(answer.status).to.equal(404)
      return ((await answer.json()) as { error: { message: string } }).error.message
    }
    for (const path of ['/v1/chat/completion', '/v1/chats/completions', '/V1/chat/completions'])
      expect(await said(path)).to.equal(`Nothing is served at POST ${path}; did you mean "/v1/chat/completions"?`)
    expect(await said('/v1/v1/message')).to.equal(
      'Nothing is served at POST /v1/v1/message; did you mean "/v1/messages"?',
    )
    expect(await said('/v1/teapots/short/and/stout')).to.equal('Nothing is served at POST /v1/teapots/short/and/stout.')
    expect(await said(`/v1/chat/completion${'s'.repeat(1_000)}`)).not.to.include('did you mean')
  })

  it('no fallback opens a model', async () => {
    expect(await status(bearer('small'), 'proud')).to.equal(403)
  })

  it('the official clients throw what they throw for the vendor', async () => {
    const chat = (key: string, model: string) =>
      openai({ url: gateway.url, key })
        .chat.completions.create({ model, messages: [{ role: 'user', content: 'x' }] })
        .then(undefined, (error: unknown) => error)
    const messages = (key: string, model: string) =>
      anthropic({ url: gateway.url, key })
        .messages.create({ model, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
        .then(undefined, (error: unknown) => error)
    const keyless = await fetch(`${gateway.url}/v1/models`)
    expect(await keyless.json()).to.have.nested.property(
      'error.message',
      'No API key was sent. Send it as "authorization: Bearer <key>" or as "x-api-key: <key>".',
    )
    const unknown = await chat('sk-unknown', 'small')
    expect(unknown).to.be.instanceOf(OpenAI.AuthenticationError)
    expect(unknown).to.include({ status: 401, code: 'invalid_api_key', type: 'invalid_request_error', param: null })
    expect((unknown as InstanceType<typeof OpenAI.APIError>).requestID).to.match(/^[0-9a-f-]{36}$/)
    expect(await messages('sk-unknown', 'small')).to.be.instanceOf(Anthropic.AuthenticationError)
    const forbidden = await chat(text('small'), 'large')
    expect(forbidden).to.be.instanceOf(OpenAI.PermissionDeniedError)
    expect(forbidden).to.include({ code: 'model_not_allowed', param: 'model' })
    const denied = await messages(text('small'), 'large')
    expect(denied).to.be.instanceOf(Anthropic.PermissionDeniedError)
    expect((denied as InstanceType<typeof Anthropic.APIError>).requestID).to.match(/^[0-9a-f-]{36}$/)
    expect(await chat(text('small'), 'nothing')).to.be.instanceOf(OpenAI.PermissionDeniedError)
    expect(await messages(text('small'), 'nothing')).to.be.instanceOf(Anthropic.PermissionDeniedError)
    expect(await chat(gateway.key, 'nothing')).to.be.instanceOf(OpenAI.NotFoundError)
    expect(await messages(gateway.key, 'nothing')).to.be.instanceOf(Anthropic.NotFoundError)
  })

  it('nobody is told a key, and the log has none', async () => {
    const rows = JSON.stringify(await gateway.rows())
    for (const secret of [gateway.key, ...['small', 'alias', 'none', 'gone', 'valid'].map(text)]) {
      expect(rows).not.to.include(secret)
      expect(gateway.lines.join('')).not.to.include(secret)
    }
  })

  it('a row says whose key it was', async () => {
    const rows = await gateway.rows()
    expect(rows.find(({ status: answered }) => answered === 401)).to.include({
      key_id: null,
      requested: null,
      error: 'invalid_api_key',
    })
    expect(rows.find(({ status: answered }) => answered === 403)).to.include({
      error: 'model_not_allowed',
      result: 'refused',
    })
    expect(new Set(rows.map(({ key_id: id }) => id))).to.include.keys([
      'file:only-small',
      'file:by-alias',
      'file:valid',
    ])
  })
})
