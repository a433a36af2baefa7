import { expect } from 'chai'
import { AzureOpenAI } from 'openai'
import { buildRealtimeURL } from 'openai/realtime/internal-base'
import pino from 'pino'
import type { AnyProvider, Dial, GatewayError, Host, JsonObject } from '../../../engine/index.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import azure from '../../../plugins/providers/azure.ts'
import compatible from '../../../plugins/providers/compatible.ts'
import native from '../../../plugins/providers/native.ts'
import { openProvider, testHost } from '../../support/host.ts'
import type { TestHost } from '../../support/host.ts'
import { talkingUpstream } from '../../support/talking-upstream.ts'
import type { TalkingUpstream } from '../../support/talking-upstream.ts'

describe('sockets of providers', () => {
  let upstream: TalkingUpstream
  let host: TestHost
  let scope: ExchangeScope
  beforeEach(async () => {
    upstream = await talkingUpstream()
    host = Object.assign(testHost(), { log: pino({ level: 'silent' }), pipeline: { name: 'acme' } })
    scope = new ExchangeScope()
  })
  afterEach(async () => {
    scope.end(() => undefined)
    await host.closeKept()
    await upstream.close()
  })

  const open = (plugin: AnyProvider, config: JsonObject = {}, own: Host = host) => {
    const provider = openProvider(plugin, { base_url: upstream.url, api_key: 'key', ...config }, own)
    return async (call: Partial<Dial> = {}) =>
      provider.dial?.({
        operation: 'realtime',
        protocol: 'realtime',
        model: 'm-upstream',
        publicName: 'm',
        query: new URLSearchParams({ model: 'm-upstream' }),
        timeout: 60_000,
        scope,
        ...call,
      })
  }
  const refused = async (dialed: Promise<unknown>): Promise<GatewayError> => {
    const error = await dialed.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).to.have.property('name', 'GatewayError')
    return error as GatewayError
  }

  for (const [name, plugin, config] of [
    ['native', native, {}],
    ['compatible', compatible, { offers: ['chat', 'realtime'] }],
  ] as const)
    it(`${name} opens them below its base address, with its key`, async () => {
      await open(plugin, config)({ query: new URLSearchParams('model=m-upstream&voice=a%20b') })
      const [request] = upstream.upgrades
      expect(request?.url).to.equal('/v1/realtime?model=m-upstream&voice=a+b')
      expect(request?.headers.authorization).to.equal('Bearer key')
    })

  for (const settings of [{}, { api_version: '2024-10-21' }])
    it(`azure opens them where its own client does, with its key header: ${JSON.stringify(settings)}`, async () => {
      await open(azure, { base_url: `${upstream.url}/openai`, ...settings })()
      const own = new AzureOpenAI({ endpoint: upstream.url, apiVersion: '2024-10-21', apiKey: 'key' })
      const { pathname, search } = buildRealtimeURL(own, { model: 'm-upstream' })
      const [request] = upstream.upgrades
      expect(request?.url).to.equal(pathname + search)
      expect(request?.headers['api-key']).to.equal('key')
      expect(request?.headers.authorization).to.equal(undefined)
    })

  it('compatible has none where it does not offer realtime', () => {
    expect(openProvider(compatible, { base_url: upstream.url }, host)).not.to.have.property('dial')
  })

  describe('their address', () => {
    const addresses: Readonly<Record<string, readonly [realtime: (base: string) => string, url: string]>> = {
      'is a base': [(base) => `${base}/other/v1`, '/other/v1/realtime?model=m-upstream'],
      'is a full one, whose query stays': [
        (base) => `${base}/live?api-version=1`,
        '/live?api-version=1&model=m-upstream',
      ],
      'is that of a socket': [(base) => base.replace('http', 'ws'), '/v1/realtime?model=m-upstream'],
    }
    for (const [name, [realtime, url]] of Object.entries(addresses))
      it(`${name}, where endpoint_base_urls says so`, async () => {
        await open(native, {
          base_url: 'http://127.0.0.1:1',
          endpoint_base_urls: { realtime: realtime(upstream.url) },
        })()
        expect(upstream.upgrades[0]?.url).to.equal(url)
      })
  })

  it('pass on who the client works for, from headers or subprotocols, and nothing else', async () => {
    const dial = open(native)
    await dial({
      clientHeaders: {
        'openai-organization': 'org',
        'openai-project': 'project',
        'openai-safety-identifier': 'user',
        'openai-beta': 'realtime=v1',
        authorization: 'Bearer client-key',
        cookie: 'c=1',
        'sec-websocket-protocol': 'realtime, openai-insecure-api-key.client-key, openai-project.other',
      },
    })
    await dial({
      clientHeaders: {
        'sec-websocket-protocol':
          'realtime, openai-insecure-api-key.client-key, openai-organization.o, openai-project.p',
      },
    })
    const [first, second] = upstream.upgrades
    expect(first?.headers).to.include({
      'openai-organization': 'org',
      'openai-project': 'project',
      'openai-safety-identifier': 'user',
      authorization: 'Bearer key',
    })
    expect(second?.headers).to.include({ 'openai-organization': 'o', 'openai-project': 'p' })
    for (const request of upstream.upgrades) {
      expect(request.headers).not.to.have.any.keys('openai-beta', 'cookie', 'sec-websocket-protocol')
      expect(request.rawHeaders.join()).not.to.include('client-key')
    }
  })

  it('have the configured headers, which win', async () => {
    await open(native, { headers: { 'OpenAI-Project': 'ours' } })({ clientHeaders: { 'openai-project': 'theirs' } })
    expect(upstream.upgrades[0]?.headers['openai-project']).to.equal('ours')
  })

  it('carry the trace of their exchange', async () => {
    await open(native)({ trace: { traceparent: '00-1-2-01', tracestate: 'a=b' } })
    expect(upstream.upgrades[0]?.headers).to.include({ traceparent: '00-1-2-01', tracestate: 'a=b' })
  })

  describe('with several keys', () => {
    const keys = ['key-one-0123456789', 'key-two-0123456789']
    const shown = () => upstream.upgrades.map(({ headers }) => headers.authorization?.replace('Bearer ', ''))

    for (const status of [401, 429])
      it(`use the next one where one is refused with ${status}, which then rests`, async () => {
        const provider = openProvider(native, { base_url: upstream.url, api_keys: keys }, host)
        const call = {
          operation: 'realtime',
          protocol: 'realtime',
          model: 'm',
          query: new URLSearchParams(),
          timeout: 60_000,
          scope,
        } as const
        upstream.welcome(status, keys[0])
        await provider.dial?.(call)
        await provider.dial?.(call)
        expect(shown()).to.deep.equal([keys[0], keys[1], keys[1]])
        expect(provider.cooling?.().map(({ hint }) => hint)).to.deep.equal(['6789'])
        upstream.welcome(status, keys[1])
        expect((await refused(provider.dial?.(call) ?? Promise.resolve())).tags).to.include(String(status))
      })
  })

  describe('that are refused', () => {
    const body = JSON.stringify({ error: { message: 'There is no such model.', code: 'model_not_found' } })
    it('say so with the status and the message of the upstream', async () => {
      upstream.welcome({ status: 404, body })
      const error = await refused(open(native)())
      expect(error).to.include({ code: 'upstream_error' })
      expect(error.message).to.equal(
        'The provider of "m" failed: it refused a socket with status 404: There is no such model.',
      )
      expect(error.tags).to.deep.equal(['404'])
      expect(error.retry).to.equal('other')
    })

    it('may be asked again where the upstream is busy, after the time that it says', async () => {
      upstream.welcome({ status: 429, headers: { 'retry-after': '7' }, body: 'busy' })
      const error = await refused(open(native)())
      expect(error.message).to.equal('The provider of "m" failed: it refused a socket with status 429.')
      expect([error.retry, error.failure.retryAfter]).to.deep.equal(['same', 7])
    })

    it('keep to themselves what an upstream says about the key', async () => {
      upstream.welcome({ status: 401, body: JSON.stringify({ error: { message: 'Incorrect key: k**y' } }) })
      const error = await refused(open(native)())
      expect(error.code).to.equal('upstream_refused_key')
      expect(error.message).to.include('401').and.not.to.include('Incorrect')
    })

    it('are not redirected', async () => {
      upstream.welcome({ status: 302, headers: { location: `${upstream.url}/v1/realtime` }, body: '' })
      expect((await refused(open(native)())).message).to.include('302')
      expect(upstream.upgrades).to.have.length(1)
    })

    it('fail in time where the upstream never answers', async () => {
      upstream.welcome('silent')
      const error = await refused(open(native)({ timeout: 50 }))
      expect(error).to.include({ code: 'upstream_timeout' })
      await upstream.when(() => upstream.connections === 0)
    })
  })

  describe('of a provider that may connect to public addresses only', () => {
    for (const name of ['127.0.0.1', 'localhost'])
      it(`do not reach ${name}`, async () => {
        const noted: string[] = []
        const own = { ...host, bounds: { reach: 'public' as const, note: (url: URL) => void noted.push(url.pathname) } }
        const base = upstream.url.replace('127.0.0.1', name)
        const error = await refused(open(native, { base_url: base }, own)())
        expect(error.code).to.equal('upstream_unreachable')
        expect(noted).to.include('/v1/realtime')
        expect(upstream.upgrades).to.have.length(0)
      })
  })
})
