import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'

interface Route {
  readonly path: string
  /** The body for a model: JSON, or the fields of a form. */
  readonly body: object | ((model: string) => FormData)
  readonly answer: Script
}

const recording = (model: string) => {
  const form = new FormData()
  form.set('file', new Blob(['sound']), 'a.mp3')
  form.set('model', model)
  return form
}
const drawn: Script = { body: { created: 1, data: [{ b64_json: 'AA==' }] } }
const routes = {
  embeddings: {
    path: '/v1/embeddings',
    body: { input: 'one' },
    answer: { body: { object: 'list', model: 'm', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } } },
  },
  images: { path: '/v1/images/generations', body: { prompt: 'a cat' }, answer: drawn },
  'image-edits': {
    path: '/v1/images/edits',
    body: { prompt: 'a hat', images: [{ image_url: 'https://host.example/a.png' }] },
    answer: drawn,
  },
  speech: {
    path: '/v1/audio/speech',
    body: { input: 'Hi', voice: 'alloy' },
    answer: { headers: { 'content-type': 'audio/mpeg' }, body: Buffer.from([1, 2]) },
  },
  transcriptions: { path: '/v1/audio/transcriptions', body: recording, answer: { body: { text: 'Hi' } } },
  translations: { path: '/v1/audio/translations', body: recording, answer: { body: { text: 'Hi' } } },
} satisfies Record<string, Route>
type Protocol = keyof typeof routes
const protocols = Object.keys(routes) as readonly Protocol[]

/** What each kind of provider offers. */
const kinds: readonly (readonly [name: string, settings: object, offers: readonly Protocol[]])[] = [
  ['native', { type: 'native', api_key: 'key' }, protocols],
  ['compatible', { type: 'compatible' }, []],
  ...protocols.map(
    (protocol) => [`compatible-${protocol}`, { type: 'compatible', offers: ['chat', protocol] }, [protocol]] as const,
  ),
  ['groq', { type: 'compatible', preset: 'groq' }, ['speech', 'transcriptions', 'translations']],
  ['mistral', { type: 'compatible', preset: 'mistral' }, ['embeddings', 'transcriptions']],
  ['together', { type: 'compatible', preset: 'together' }, ['embeddings', 'images', 'speech', 'transcriptions']],
  ['deepseek', { type: 'compatible', preset: 'deepseek' }, []],
  ['xai', { type: 'compatible', preset: 'xai' }, ['images']],
  ['messages', { type: 'messages', api_key: 'key' }, []],
  ['bridge_a', { type: 'bridge_a' }, []],
  ['bridge_b', { type: 'bridge_b' }, []],
  ['bridge_b-embeddings', { type: 'bridge_b', offers: ['chat', 'mapeval', 'embeddings'] }, ['embeddings']],
  ['openrouter', { type: 'bridge_b', preset: 'openrouter' }, ['embeddings']],
  ['bridge_c', { type: 'bridge_c' }, ['embeddings']],
]

describe('what providers offer beyond conversations', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        ...kinds.map(([name, settings]) => ({ name, base_url: upstream.url, ...settings })),
        { name: 'echo', type: 'echo' },
      ],
      models: [
        ...kinds.map(([name]) => ({ name, provider: name, auto_eligible: true })),
        { name: 'echo', provider: 'echo' },
      ],
      server_config: { smart_routing: { enabled: true } },
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const ask = (protocol: Protocol, model: string, path: string = routes[protocol].path) => {
    const { body } = routes[protocol]
    if (typeof body !== 'function') return gateway.post(path, { ...body, model })
    const headers = { authorization: `Bearer ${gateway.key}` }
    return fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: body(model) })
  }
  const refused = async (answer: Response) => {
    expect(answer.status).to.equal(400)
    const { error } = (await answer.json()) as { error: object }
    expect(Object.keys(error)).to.have.members(['message', 'type', 'param', 'code'])
    expect(error).to.include({ type: 'invalid_request_error', code: 'invalid_request_error', param: 'model' })
  }

  for (const [name, , offers] of kinds)
    it(`${name}: ${offers.length === protocols.length ? 'all' : offers.join(', ') || 'nothing'}; the rest is refused before any call`, async () => {
      for (const protocol of protocols) {
        const before = upstream.requests.length
        upstream.answer(routes[protocol].answer)
        const answer = await ask(protocol, name)
        if (!offers.includes(protocol)) {
          await refused(answer)
          expect(upstream.requests, protocol).to.have.length(before)
          continue
        }
        expect(answer.status, protocol).to.equal(200)
        await answer.bytes()
        expect(answer.headers.get('x-gateway-model')).to.equal(name)
        expect(answer.headers.get('x-gateway-provider')).to.equal(name)
        expect(answer.headers.get('x-request-id')).to.match(/\S/)
        expect(upstream.requests.slice(before).map(({ path }) => path)).to.deep.equal([routes[protocol].path])
      }
    })

  it('echo: embeddings that depend on the text alone; the rest is refused', async () => {
    for (const protocol of protocols.slice(1)) await refused(await ask(protocol, 'echo'))
    const [one, again] = [await ask('embeddings', 'echo'), await ask('embeddings', 'echo')]
    const { data, object } = (await one.json()) as { object: string; data: readonly object[] }
    expect(object).to.equal('list')
    expect(((await again.json()) as { data: object }).data).to.deep.equal(data)
  })

  it('virtual models are refused, in any case', async () => {
    const before = upstream.requests.length
    for (const protocol of protocols)
      for (const model of ['auto', 'Fast', 'BEST']) await refused(await ask(protocol, model))
    expect(upstream.requests).to.have.length(before)
  })

  it('each route answers under its aliases', async () => {
    for (const protocol of protocols)
      for (const path of [
        routes[protocol].path.replace('/v1', ''),
        `/v1${routes[protocol].path}`,
        `${routes[protocol].path}/`,
      ]) {
        upstream.answer(routes[protocol].answer)
        const answer = await ask(protocol, 'native', path)
        expect(answer.status, path).to.equal(200)
        await answer.bytes()
        expect(upstream.requests.at(-1)?.path).to.equal(routes[protocol].path)
      }
  })

  it('the list of protocols has each with its path', async () => {
    const answer = await fetch(`${gateway.url}/v1/protocols`, { headers: { authorization: `Bearer ${gateway.key}` } })
    const { data } = (await answer.json()) as { data: readonly { protocol: string; paths: readonly string[] }[] }
    for (const protocol of protocols)
      expect(data.find((one) => one.protocol === protocol)?.paths).to.deep.equal([routes[protocol].path])
  })
})
