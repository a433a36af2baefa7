import { expect } from 'chai'
import { BytesBody, collect } from '../../../engine/kit.ts'
import type { AnyProvider, Call, GatewayError, JsonObject, Provider } from '../../../engine/index.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import { bridgeA, bridgeB, bridgeC } from '../../../plugins/providers/bridges.ts'
import { offersOf } from '../../../engine/config/speaking.ts'
import { codecs, openProvider, testHost } from '../../support/host.ts'
import type { TestHost } from '../../support/host.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../../support/upstream.ts'

describe('bridges', () => {
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

  async function send(provider: Provider, call: Partial<Call> = {}) {
    const answer = await provider.send?.({
      operation: 'decide',
      protocol: 'mapeval',
      clientProtocol: 'mapeval',
      body: new BytesBody(Buffer.from('{}')),
      contentType: 'application/json',
      stream: false,
      model: 'm',
      timeouts: { firstByte: 60_000, idle: 60_000, total: 60_000 },
      scope: new ExchangeScope(),
      ...call,
    })
    if (!answer) throw new Error('a bridge sends')
    return { status: answer.status, body: (await collect(answer.body, 10_000)).toString() }
  }

  /** The paths that requests of the two endpoints go to. */
  async function pathsOf(plugin: AnyProvider, config: JsonObject = {}) {
    const provider = open(plugin, config)
    const start = upstream.requests.length
    await send(provider, { clientProtocol: 'decisions' })
    await send(provider, { clientProtocol: 'mapeval' })
    const [decisions, mapeval] = upstream.requests.slice(start).map(({ path }) => path)
    return { decisions, mapeval }
  }

  it('serve what the specification says', () => {
    const protocols = (plugin: AnyProvider) => plugin.offers({}).map(({ protocol }) => protocol)
    expect(protocols(bridgeA)).to.deep.equal(['mapeval'])
    expect(protocols(bridgeB)).to.deep.equal(['chat', 'mapeval'])
    expect(protocols(bridgeC)).to.deep.equal(['chat', 'mapeval', 'embeddings'])
  })

  it('serve embeddings where their preset or their settings say so', () => {
    const protocols = (config: JsonObject) => bridgeB.offers(config).map(({ protocol }) => protocol)
    expect(protocols({ preset: 'openrouter' })).to.deep.equal(['chat', 'mapeval', 'embeddings'])
    expect(protocols({ offers: ['embeddings', 'mapeval'] })).to.deep.equal(['embeddings', 'mapeval'])
    expect(() => open(bridgeB, { offers: ['images'] })).to.throw()
    for (const bridge of [bridgeA, bridgeC]) expect(() => open(bridge, { offers: ['embeddings'] })).to.throw()
  })

  it('ask for embeddings at their path, or where it is moved to', async () => {
    const embed = { operation: 'embed', protocol: 'embeddings', clientProtocol: 'embeddings' } as const
    for (const [bridge, config] of [
      [bridgeB, { offers: ['embeddings'] }],
      [bridgeC, {}],
    ] as const) {
      await send(open(bridge, config), embed)
      const moved = { ...config, endpoint_base_urls: { embeddings: `${upstream.url}/elsewhere/vectors` } }
      await send(open(bridge, moved), embed)
      expect(upstream.requests.slice(-2).map(({ path }) => path)).to.deep.equal([
        '/v1/embeddings',
        '/elsewhere/vectors',
      ])
    }
  })

  it('pass images on only where they are a local server', () => {
    const images = (plugin: AnyProvider) =>
      offersOf(plugin, {}, codecs).find(({ operation }) => operation === 'decide')?.traits
    expect(images(bridgeA)).to.equal(undefined)
    expect(images(bridgeB)).to.equal(undefined)
    expect(images(bridgeC)).to.deep.equal({ images: 'images' })
  })

  for (const [name, plugin] of [
    ['bridge_a', bridgeA],
    ['bridge_b', bridgeB],
    ['bridge_c', bridgeC],
  ] as const) {
    it(`${name} asks one stable route for both endpoints, with its key`, async () => {
      expect(await pathsOf(plugin)).to.deep.equal({ decisions: '/v1/mapeval', mapeval: '/v1/mapeval' })
      for (const { headers } of upstream.requests) expect(headers.authorization).to.equal('Bearer key')
    })
  }

  for (const [name, plugin] of [
    ['bridge_a', bridgeA],
    ['bridge_c', bridgeC],
  ] as const) {
    it(`${name} moves both endpoints by endpoint_base_urls.mapeval`, async () => {
      const base = { endpoint_base_urls: { mapeval: `${upstream.url}/other/v1` } }
      expect(await pathsOf(plugin, base)).to.deep.equal({
        decisions: '/other/v1/mapeval',
        mapeval: '/other/v1/mapeval',
      })
      const full = { endpoint_base_urls: { mapeval: `${upstream.url}/v1/systemone` } }
      expect(await pathsOf(plugin, full)).to.deep.equal({ decisions: '/v1/systemone', mapeval: '/v1/systemone' })
    })

    it(`${name} knows no endpoint_base_urls.decisions`, () => {
      expect(() => open(plugin, { endpoint_base_urls: { decisions: 'https://host' } })).to.throw(/additional/)
    })
  }

  it('bridge_b moves decisions under its own key, to its alpha route if that is said', async () => {
    const alpha = { endpoint_base_urls: { decisions: `${upstream.url}/api/alpha/decisions` } }
    expect(await pathsOf(bridgeB, alpha)).to.deep.equal({ decisions: '/api/alpha/decisions', mapeval: '/v1/mapeval' })
    const base = { endpoint_base_urls: { decisions: `${upstream.url}/other/v1` } }
    expect(await pathsOf(bridgeB, base)).to.deep.equal({ decisions: '/other/v1/mapeval', mapeval: '/v1/mapeval' })
    const mapeval = { endpoint_base_urls: { mapeval: `${upstream.url}/other/v1` } }
    expect(await pathsOf(bridgeB, mapeval)).to.deep.equal({ decisions: '/v1/mapeval', mapeval: '/other/v1/mapeval' })
  })

  it('speak chat where they serve it, and nowhere else', async () => {
    for (const plugin of [bridgeB, bridgeC]) {
      await send(open(plugin), { operation: 'generate', protocol: 'chat', clientProtocol: 'chat' })
      expect(upstream.requests.at(-1)?.path).to.equal('/v1/chat/completions')
    }
    const error = await send(open(bridgeA), { operation: 'generate', protocol: 'chat' }).catch(
      (reason: unknown) => reason,
    )
    expect(error).to.include({ code: 'invalid_request_error' })
  })

  describe('presets', () => {
    it('know the route by its own name, at another address too', async () => {
      for (const [plugin, preset] of [
        [bridgeA, 'typesafe'],
        [bridgeB, 'openrouter'],
        [bridgeC, 'ollama'],
      ] as const)
        expect(await pathsOf(plugin, { preset })).to.deep.equal({
          decisions: '/v1/systemone',
          mapeval: '/v1/systemone',
        })
    })

    it('tell what the chat of their servers can do', () => {
      const traits = (plugin: AnyProvider, config: JsonObject) => plugin.offers(config)[0]?.traits
      expect(traits(bridgeB, { preset: 'openrouter' })).to.include({
        max_tokens_field: 'max_tokens',
        cache_control: true,
      })
      expect(traits(bridgeC, { preset: 'ollama', traits: { images: false } })).to.deep.equal({
        max_tokens_field: 'max_tokens',
        images: false,
      })
    })

    it('stand in for an address, and are refused by another type', () => {
      expect(() => openProvider(bridgeA, { preset: 'typesafe' }, host)).not.to.throw()
      expect(() => openProvider(bridgeA, { preset: 'ollama' }, host)).to.throw(/invalid configuration/)
      expect(() => openProvider(bridgeA, {}, host)).to.throw('base_url is needed where no preset is named')
    })
  })

  describe('a local server without the route', () => {
    const refused = async (script: Script, plugin = bridgeC) => {
      upstream.answer(script)
      return send(open(plugin)).then(
        (answer) => answer,
        (reason: unknown) => reason as GatewayError,
      )
    }
    const message = 'The provider of "m" has no route for decisions: its server must be of version 0.35 or newer.'

    const scripts: Readonly<Record<string, Script>> = {
      'that has no such page': { status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found' },
      'that says nothing': { status: 404, headers: { 'content-type': 'text/plain' }, body: '' },
      'that knows no such method': { status: 405, body: { error: 'method not allowed' } },
      'that says in JSON that the route is unknown': { status: 404, body: { error: { message: 'Unknown route' } } },
      'that says in JSON that the path is not found': { status: 404, body: { detail: 'Path not found' } },
    }
    for (const [name, script] of Object.entries(scripts))
      it(`${name} is told apart, with the version it must have`, async () => {
        const error = await refused(script)
        expect(error).to.include({ code: 'upstream_rejected', message, retry: 'never' })
        expect((error as GatewayError).failure).to.include({ status: 400, type: 'invalid_request_error' })
      })

    it('is not confused with one that lacks the model', async () => {
      const body = { error: 'model "m" not found, try pulling it first' }
      expect(await refused({ status: 404, body })).to.deep.equal({ status: 404, body: JSON.stringify(body) })
    })

    it('is no matter of the hosted bridges', async () => {
      const script = { status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found' }
      expect(await refused(script, bridgeA)).to.deep.equal({ status: 404, body: '404 page not found' })
    })
  })
})
