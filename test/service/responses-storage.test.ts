import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { servedBy } from './background.ts'
import { asked, chatSaying } from './stored-upstreams.ts'

const stranger = 'sk-stranger-0123456789abcdef0123456789abcdef'

for (const place of ['the database', 'the shared store'] as const)
  describe(`what an API key may store in ${place}`, () => {
    let service: Service | undefined
    let upstream: ScriptedUpstream
    let gateway: RunningGateway
    before(async function () {
      if (place === 'the shared store') service = await redis(this)
      upstream = await scriptedUpstream()
    })
    afterEach(() => gateway.close())
    after(async () => {
      await upstream.close()
      await service?.stop()
    })

    const start = async (stored_responses: JsonObject) => {
      gateway = await startGateway({
        ...servedBy(upstream),
        ...(service ? { key_value: { url: service.url } } : {}),
        api_keys: [{ name: 'stranger', key: stranger }],
        server_config: { request_policy: { stored_responses } },
      })
    }
    const ask = async (body: JsonObject, key = gateway.key) => {
      upstream.answer(chatSaying('Fine.'))
      const headers = { authorization: `Bearer ${key}` }
      const response = await gateway.post('/v1/responses', { model: 'chat', input: 'Hello', ...body }, headers)
      const answer = (await response.json()) as JsonObject & { id: string; error: JsonObject | null }
      return { status: response.status, headers: response.headers, answer }
    }
    const remove = (id: string) => openai(gateway).responses.delete(id)

    it('is so many responses; one that is deleted makes room', async () => {
      await start({ count: 3 })
      const ids: string[] = []
      for (let count = 0; count < 3; count += 1) ids.push((await ask({})).answer.id)
      const before = upstream.requests.length
      const { status, headers, answer } = await ask({})
      expect(status).to.equal(429)
      expect(headers.get('x-should-retry')).to.equal('false')
      expect(answer.error).to.include({ type: 'rate_limit_error', code: 'storage_exceeded', param: null })
      expect(answer.error?.['message'])
        .to.include('3 (at most 3)')
        .and.include('DELETE /v1/responses/{response_id}')
        .and.include('"store": false')
      // Nobody was asked for an answer that could not be kept.
      expect(upstream.requests.length).to.equal(before)
      expect((await ask({ store: false })).status).to.equal(200)
      expect((await ask({}, stranger)).status).to.equal(200)
      await remove(ids[1] ?? '')
      expect((await ask({})).status).to.equal(200)
      expect((await ask({})).status).to.equal(429)
    })

    it('is so many bytes', async () => {
      await start({ bytes: 20_000 })
      const noise = () => Array.from({ length: 800 }, () => Math.random().toString(36).slice(2)).join('')
      const ids: string[] = []
      let refused: JsonObject | null = null
      while (!refused) {
        const { answer } = await ask({ input: noise() })
        refused = answer.error
        if (!refused) ids.push(answer.id)
      }
      expect(ids.length).to.be.within(2, 8)
      expect(refused['message']).to.match(/bytes \(at most 20000\)/)
      await Promise.all(ids.map(remove))
      expect((await ask({})).status).to.equal(200)
    })

    it('is each turn of a conversation once', async () => {
      await start({ bytes: 400_000 })
      // Sixty turns of 3 KB that cannot be compressed to less than half: 5 MB if each had all before it.
      let previous: JsonObject = {}
      let last = ''
      for (let turn = 0; turn < 60; turn += 1) {
        const noise = Array.from({ length: 250 }, () => Math.random().toString(36).slice(2, 14)).join('')
        const { status, answer } = await ask({ input: `${turn}: ${noise}`, ...previous })
        expect(status).to.equal(200)
        last = answer.id
        previous = { previous_response_id: last }
      }
      const sent = upstream.requests.at(-1)
      expect(sent && asked(sent)['messages']).to.have.length(119)
      const texts: string[] = []
      for await (const item of openai(gateway).responses.inputItems.list(last, { limit: 100, order: 'asc' })) {
        const { content } = item as unknown as { content: readonly { text: string }[] }
        texts.push(content[0]?.text.split(':')[0] ?? '')
      }
      expect(texts).to.have.length(119)
      expect(texts.filter((text) => text !== 'Fine.')).to.deep.equal(Array.from({ length: 60 }, (_, turn) => `${turn}`))
    })

    it('loses nothing when a response in the middle is deleted', async () => {
      await start({})
      const one = (await ask({ input: 'one' })).answer.id
      const two = (await ask({ input: 'two', previous_response_id: one })).answer.id
      const three = (await ask({ input: 'three', previous_response_id: two })).answer.id
      await remove(two)
      await remove(one)
      expect((await ask({ input: 'x', previous_response_id: two })).answer.error).to.include({
        code: 'previous_response_not_found',
      })
      expect(
        (
          await openai(gateway)
            .responses.retrieve(two)
            .catch((error: { status: number }) => error)
        ).status,
      ).to.equal(404)
      expect((await ask({ input: 'four', previous_response_id: three })).status).to.equal(200)
      const sent = upstream.requests.at(-1)
      const messages = (sent && asked(sent)['messages']) as readonly JsonObject[]
      expect(messages.map(({ content }) => content)).to.deep.equal([
        'one',
        'Fine.',
        'two',
        'Fine.',
        'three',
        'Fine.',
        'four',
      ])
    })

    it('is so many responses in the background that have not ended', async function () {
      if (!service) return this.skip()
      await start({ background: 2 })
      upstream.answer({ silent: true })
      const client = openai(gateway)
      const begin = () => client.responses.create({ model: 'chat', input: 'Slowly.', background: true })
      const [one] = [await begin(), await begin()]
      const refused = await begin().catch((error: { status: number; code: string; message: string }) => error)
      expect(refused).to.include({ status: 429, code: 'storage_exceeded' })
      expect((refused as { message: string }).message).to.include('POST /v1/responses/{response_id}/cancel')
      await client.responses.cancel(one.id)
      let next: { status?: unknown } = { status: 429 }
      while (next.status === 429) next = await begin().catch((error: { status: number }) => error)
      expect(next.status).to.equal('in_progress')
    })
  })
