import { expect } from 'chai'
import { toFile } from 'openai'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { arrived } from './streams.ts'

const narrow = 'sk-narrow-0123456789abcdef0123456789abcdef'
const drawn = { body: { created: 1, data: [{ b64_json: 'AA==' }] } }

describe('a request for images', () => {
  let first: ScriptedUpstream
  let second: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    first = await scriptedUpstream()
    second = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'first', type: 'native', base_url: first.url, api_key: 'key' },
        { name: 'second', type: 'native', base_url: second.url, api_key: 'key' },
        { name: 'off', type: 'native', base_url: second.url, api_key: '${NOT_SET_HERE}' },
      ],
      models: [
        {
          name: 'painter',
          provider: 'first',
          upstream_model: 'p-1',
          fallbacks: ['copyist'],
          pricing: { images: 0.04 },
        },
        { name: 'copyist', provider: 'second', upstream_model: 'c-1', pricing: { images: 0.01 } },
        { name: 'writer', provider: 'first', upstream_model: 'w-2026', pricing: { input: 10, output: 20 } },
        {
          name: 'both',
          deployments: [
            { provider: 'first', upstream_model: 'b-1' },
            { provider: 'second', upstream_model: 'b-1' },
          ],
        },
        { name: 'resting', provider: 'off', fallbacks: ['copyist'] },
        { name: 'elsewhere', provider: 'second', upstream_model: 'e-1' },
      ],
      api_keys: [{ name: 'narrow', key: narrow, models: ['painter'] }],
      server_config: { resilience: { retries: { wait: '1ms' }, breaker: { enabled: false } } },
    })
  })
  after(async () => {
    await gateway.close()
    await first.close()
    await second.close()
  })

  const draw = (svg: object, key?: string) => {
    const asked = { model: 'painter', prompt: 'a cat', output_format: 'svg', svg }
    return gateway.post('/v1/images/generations', asked, key === undefined ? {} : { authorization: `Bearer ${key}` })
  }
  const counts = () => [first.requests.length, second.requests.length]
  const lastBody = (upstream: ScriptedUpstream) =>
    JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '{}') as object

  describe('with a second model that writes its SVG', () => {
    it("sends the provider's names of both, and everything else as it was", async () => {
      first.answer(drawn)
      const answer = await draw({ model: 'writer', reasoning: { effort: 'low' }, own: [1] })
      expect(answer.status).to.equal(200)
      expect(answer.headers.get('x-gateway-model')).to.equal('painter')
      expect(lastBody(first)).to.deep.equal({
        model: 'p-1',
        prompt: 'a cat',
        output_format: 'svg',
        svg: { model: 'w-2026', reasoning: { effort: 'low' }, own: [1] },
      })
    })

    it('costs what both used', async () => {
      const svg_usage = { model: 'w-2026', input_tokens: 100, output_tokens: 10, total_tokens: 110 }
      first.answer({ body: { ...drawn.body, svg_usage } })
      expect((await draw({ model: 'writer' })).status).to.equal(200)
      expect((await gateway.rows()).at(-1)).to.include({ cost_micros: 40_000 + 1_200 })
      first.answer({ body: { ...drawn.body, svg_usage: { ...svg_usage, model: 'unheard-of' } } })
      expect((await draw({ model: 'writer' })).status).to.equal(200)
      expect((await gateway.rows()).at(-1)).to.include({ cost_micros: null })
    })

    it('falls back only where the second model is served, too', async () => {
      first.answer({ status: 500, body: { error: { message: 'broken' } } })
      second.answer(drawn)
      const before = counts()
      expect((await draw({ model: 'writer' })).status).to.equal(502)
      expect(counts()[1]).to.equal(before[1])
      expect((await draw({ model: 'both' })).status).to.equal(200)
      expect(lastBody(second)).to.deep.include({ model: 'c-1', svg: { model: 'b-1' } })
    })

    const refusals: readonly (readonly [what: string, svg: object, status: number, code: string, key?: string])[] = [
      ['that nobody knows', { model: 'nobody' }, 404, 'model_not_found'],
      ['that the key may not use', { model: 'writer' }, 403, 'model_not_allowed', narrow],
      ['that is virtual', { model: 'Auto' }, 400, 'invalid_request_error'],
      ['that is no name', { model: 5 }, 400, 'invalid_value'],
    ]
    for (const [what, svg, status, code, key] of refusals)
      it(`is refused before any call with one ${what}`, async () => {
        const before = counts()
        const answer = await draw(svg, key)
        expect(answer.status).to.equal(status)
        const { error } = (await answer.json()) as { error: object }
        expect(error).to.include({ code, param: 'svg.model' })
        expect(Object.keys(error)).to.have.members(['message', 'type', 'param', 'code'])
        expect(counts()).to.deep.equal(before)
      })

    it('is served by the fallback whose provider has the second model', async () => {
      second.answer(drawn)
      const before = counts()
      expect((await draw({ model: 'elsewhere' })).status).to.equal(200)
      expect(counts()).to.deep.equal([before[0], (before[1] ?? 0) + 1])
      expect(lastBody(second)).to.deep.include({ model: 'c-1', svg: { model: 'e-1' } })
    })

    it('is refused where no provider of the first one has it', async () => {
      const before = counts()
      const asked = { model: 'copyist', prompt: 'a cat', svg: { model: 'writer' } }
      const answer = await gateway.post('/v1/images/generations', asked)
      expect(answer.status).to.equal(400)
      expect(((await answer.json()) as { error: object }).error).to.include({
        type: 'invalid_request_error',
        param: 'svg.model',
      })
      expect(counts()).to.deep.equal(before)
    })
  })

  describe('as a stream', () => {
    const partial = { type: 'image_generation.partial_image', b64_json: 'AA==', partial_image_index: 0 }
    const completed = { type: 'image_generation.completed', b64_json: 'AA==' }
    const ask = async () => {
      const answer = await gateway.post('/v1/images/generations', { model: 'painter', prompt: 'a cat', stream: true })
      return { status: answer.status, by: answer.headers.get('x-gateway-model'), text: await answer.text() }
    }

    const failures: readonly (readonly [what: string, script: Script])[] = [
      ['an error', { status: 503, body: { error: { message: 'busy' } } }],
      ['a closed connection', { raw: '', ending: 'close' }],
      ['a stream whose first event is an error', { frames: [{ event: 'error', data: { type: 'error', error: {} } }] }],
      ['a stream of nothing', { frames: [] }],
    ]
    for (const [what, script] of failures)
      it(`is asked for again after ${what}`, async () => {
        first.answer(script)
        second.answer({ frames: [{ event: completed.type, data: completed }, '[DONE]'] })
        const { status, by, text } = await ask()
        expect([status, by]).to.deep.equal([200, 'copyist'])
        expect(text).to.equal(`event: ${completed.type}\ndata: ${JSON.stringify(completed)}\n\ndata: [DONE]\n\n`)
        expect(lastBody(second)).to.deep.equal({ model: 'c-1', prompt: 'a cat', stream: true })
      })

    it('is asked for only once when it breaks after its first event', async () => {
      first.answer(() => ({ ...arrived([{ event: partial.type, data: partial }]), ending: 'reset' }))
      const before = counts()
      const { status, by, text } = await ask()
      expect([status, by]).to.deep.equal([200, 'painter'])
      expect(text).to.match(/^event: image_generation\.partial_image\n[^\n]+\n\nevent: error\ndata: \{"type":"error",/)
      expect(counts()[1]).to.equal(before[1])
    })
  })

  describe('that names a file at its provider', () => {
    const edit = (fields: object) => gateway.post('/v1/images/edits', { model: 'painter', prompt: 'a hat', ...fields })
    const url = { image_url: 'https://host.example/a.png' }

    for (const [what, fields] of [
      ['among its images', { images: [url, { file_id: 'file-1' }] }],
      ['as its image', { image: { file_id: 'file-1' } }],
      ['as its mask', { images: [url], mask: { file_id: 'file-1' } }],
    ] as const)
      it(`${what} goes to no other provider`, async () => {
        first.answer({ status: 500, body: { error: { message: 'broken' } } })
        second.answer(drawn)
        const before = counts()
        expect((await edit(fields)).status).to.equal(502)
        expect(counts()[1]).to.equal(before[1])
        expect(lastBody(first)).to.deep.equal({ model: 'p-1', prompt: 'a hat', ...fields })
      })

    it('is refused as its provider refuses it', async () => {
      first.answer({ status: 400, body: { error: { message: 'No such file', type: 'invalid_request_error' } } })
      const answer = await edit({ images: [{ file_id: 'file-1' }] })
      expect(answer.status).to.equal(400)
      expect(((await answer.json()) as { error: object }).error).to.include({ message: 'No such file' })
    })

    it('is refused where the provider of its model is off, though a fallback is not', async () => {
      second.answer(drawn)
      const before = counts()
      const answer = await edit({ model: 'resting', images: [{ file_id: 'file-1' }] })
      expect(answer.status).to.equal(400)
      expect(((await answer.json()) as { error: object }).error).to.include({
        type: 'invalid_request_error',
        param: 'file_id',
      })
      expect(counts()).to.deep.equal(before)
      expect((await edit({ model: 'resting', images: [url] })).status).to.equal(200)
    })

    it('falls back without one, as JSON and as a form', async () => {
      first.answer({ status: 500, body: { error: { message: 'broken' } } })
      second.answer(drawn)
      expect((await edit({ images: [url] })).status).to.equal(200)
      expect(lastBody(second)).to.deep.equal({ model: 'c-1', prompt: 'a hat', images: [url] })
      const image = await toFile(Buffer.from('a picture'), 'a.png', { type: 'image/png' })
      await openai(gateway).images.edit({ model: 'painter', prompt: 'a hat', image })
      const [sent, again] = [first.requests.at(-1), second.requests.at(-1)]
      expect(again?.body.toString()).to.equal(sent?.body.toString().replace('p-1', 'c-1'))
      expect(again?.headers['content-length']).to.equal(String(again?.body.length))
    })
  })
})
