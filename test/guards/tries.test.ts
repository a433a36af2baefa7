import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { copyPipelines } from '../support/pipelines.ts'
import type { Pipelines } from '../support/pipelines.ts'
import { Rig, answerOf, wholeOf } from './rig.ts'

const base = { kind: 'words', words: ['bad'], side: ['output'], default: false, message: 'No.' }

describe('guards: further tries', () => {
  const rig = new Rig(() => ({
    models: [
      {
        name: 'first',
        provider: 'chat',
        upstream_model: 'one',
        fallbacks: ['second'],
        pricing: { input: 1, output: 2 },
      },
      { name: 'second', provider: 'messages', pricing: { input: 1, output: 2 } },
    ],
    server_config: { resilience: { retries: { wait: '1ms' } } },
    records: {
      guards: [
        { ...base, name: 'again', action: 'retry', feedback: 'Be kind.' },
        {
          name: 'json',
          kind: 'schema',
          schema: { type: 'object' },
          action: 'retry',
          side: ['output'],
          default: false,
          message: 'No JSON.',
        },
        { ...base, name: 'never', action: 'deny' },
        { ...base, name: 'other', action: 'fallback' },
      ],
    },
  }))
  const by = (name: string) => ({ 'x-gateway-guards': name })

  for (const stream of [false, true]) {
    const chat = (text: string) => answerOf('chat', { text: [text] }, stream)
    const messages = (text: string) => answerOf('messages', { text: [text] }, stream)
    const how = stream ? 'a stream' : 'a whole answer'

    it(`ask the same model again for ${how}, and tell it why`, async () => {
      const before = rig.upstream.requests.length
      rig.upstream.answer(chat('so bad'), chat('so kind'))
      const answer = await rig.ask('chat', 'first', { stream, headers: by('again') })
      const { text, headers } = answer
      expect(text).to.equal('so kind')
      expect(headers.get('x-gateway-guards')).to.equal('again=retried')
      const asked = rig.upstream.requests
        .slice(before)
        .map(({ body }) => JSON.parse(String(body)) as { model: string; messages: object[] })
      expect(asked.map(({ model }) => model)).to.deep.equal(['one', 'one'])
      expect(asked[1]?.messages.at(-1)).to.deep.include({ role: 'user', content: 'Be kind.' })
      const row = await rig.rowOf(answer)
      expect([row.attempts, row.input_tokens, row.output_tokens]).to.deep.equal([2, 18, 8])
    })

    it(`end ${how} as denied when none is left`, async () => {
      rig.upstream.answer(chat('so bad'), chat('bad again'))
      const { status, text, body } = await rig.ask('chat', 'first', { stream, headers: by('again') })
      expect(status).to.equal(200)
      expect(text).to.equal('No.')
      expect(body).to.contain('content_filter')
    })

    it(`ask the next model for ${how}`, async () => {
      rig.upstream.answer(chat('so bad'), messages('so kind'))
      const { text, headers } = await rig.ask('chat', 'first', { stream, headers: by('other') })
      expect(text).to.equal('so kind')
      expect(headers.get('x-gateway-model')).to.equal('second')
      rig.upstream.answer(chat('so bad'), messages('bad again'))
      expect((await rig.ask('chat', 'first', { stream, headers: by('other') })).text).to.equal('No.')
    })
  }

  for (const [text, told] of [
    [['bad', ' enough'], 'never=denied'],
    [['{"it": ', '"is bad"}'], 'json=denied, never=denied'],
  ] as const)
    it(`are none for a stream that another guard has denied: ${told}`, async () => {
      const before = rig.upstream.requests.length
      rig.upstream.answer(answerOf('chat', { text }, true))
      const denied = await rig.ask('chat', 'first', { stream: true, headers: by('json, never') })
      expect(denied.text).to.equal('No.')
      expect(denied.body).to.contain('content_filter')
      expect(rig.upstream.requests.length - before).to.equal(1)
      expect(denied.headers.get('x-gateway-guards')).to.equal(told)
      expect((await rig.rowOf(denied)).attempts).to.equal(1)
    })
})

describe('guards: further tries that are not allowed', () => {
  const rig = new Rig(() => ({
    models: [
      { name: 'first', provider: 'chat', fallbacks: ['second', 'third'] },
      { name: 'second', provider: 'chat' },
      { name: 'third', provider: 'chat' },
    ],
    server_config: { resilience: { retries: { tries: 2, wait: '1ms' } } },
    records: {
      guards: [
        { ...base, name: 'again', action: 'retry', times: 5 },
        { ...base, name: 'other', action: 'fallback' },
      ],
    },
  }))

  for (const name of ['again', 'other'])
    it(`end an answer as denied after the last try: ${name}`, async () => {
      const bad = { body: wholeOf.chat({ text: ['so bad'] }) }
      rig.upstream.answer(bad, bad)
      const before = rig.upstream.requests.length
      const { status, text, body } = await rig.ask('chat', 'first', { headers: { 'x-gateway-guards': name } })
      expect(status, body).to.equal(200)
      expect(text).to.equal('No.')
      expect(body).to.contain('content_filter')
      expect(rig.upstream.requests.length - before).to.equal(2)
    })
})

describe('guards: further tries where the words of the settings are not the usual ones', () => {
  const rig = new Rig(() => ({
    models: [
      { name: 'first', provider: 'chat', upstream_model: 'one', fallbacks: ['second'] },
      { name: 'second', provider: 'chat', upstream_model: 'two' },
    ],
    server_config: { resilience: { retries: { on: ['guard', '429', '5xx'], wait: '1ms' } } },
    records: {
      guards: [
        { ...base, name: 'again', action: 'retry' },
        { ...base, name: 'other', action: 'fallback' },
      ],
    },
  }))

  for (const [name, models] of [
    ['again', ['one', 'one']],
    ['other', ['one', 'two']],
  ] as const)
    it(`ask the model that the guard wants: ${name}`, async () => {
      const before = rig.upstream.requests.length
      const said = (text: string) => ({ body: wholeOf.chat({ text: [text] }) })
      rig.upstream.answer(said('so bad'), said('so kind'))
      const { text } = await rig.ask('chat', 'first', { headers: { 'x-gateway-guards': name } })
      expect(text).to.equal('so kind')
      const asked = rig.upstream.requests.slice(before).map(({ body }) => JSON.parse(String(body)) as JsonObject)
      expect(asked.map(({ model }) => model)).to.deep.equal(models)
    })
})

/** Bounds of tries, and how often the models are asked then: for a guard that retries, and one that falls back. */
const bounds: Readonly<
  Record<string, { readonly retries: JsonObject; readonly edit?: string; readonly asked: readonly [number, number] }>
> = {
  'the words of the settings': { retries: { on: ['5xx'] }, asked: [1, 1] },
  // A provider's first call is no retry, and what one request does alone is allowed once more.
  'the budget of retries': { retries: { tries: 9, budget: 0, budget_floor: 0 }, asked: [1, 1] },
  'the tries of the pipeline': { retries: { tries: 9 }, edit: 'tries: 2', asked: [2, 2] },
  'the words of the pipeline': { retries: {}, edit: 'on: [429]', asked: [1, 1] },
}

for (const [name, { retries, edit, asked }] of Object.entries(bounds))
  describe(`guards: further tries within ${name}`, () => {
    let pipelines: Pipelines
    const rig = new Rig(async () => {
      pipelines = await copyPipelines()
      if (edit !== undefined)
        await pipelines.edit('generate.yaml', 'over: candidates', `${edit}\n      over: candidates`)
      return {
        pipelines: pipelines.folder,
        models: [
          { name: 'first', provider: 'chat', fallbacks: ['second', 'third'], pricing: { input: 1, output: 2 } },
          { name: 'second', provider: 'chat', pricing: { input: 1, output: 2 } },
          { name: 'third', provider: 'chat', pricing: { input: 1, output: 2 } },
        ],
        server_config: { resilience: { retries: { wait: '1ms', ...retries } } },
        records: {
          guards: [
            { ...base, name: 'again', action: 'retry', times: 5 },
            { ...base, name: 'other', action: 'fallback' },
          ],
        },
      }
    })
    after(() => pipelines.remove())

    for (const [number, guard] of ['again', 'other'].entries())
      for (const stream of [false, true])
        it(`end as denied, and bill every try: ${guard}${stream ? ', in a stream' : ''}`, async () => {
          rig.upstream.answer(answerOf('chat', { text: ['so bad'] }, stream))
          const before = rig.upstream.requests.length
          const { status, text, body, headers } = await rig.ask('chat', 'first', {
            stream,
            headers: { 'x-gateway-guards': guard },
          })
          expect(status, body).to.equal(200)
          expect(text).to.equal('No.')
          expect(body).to.contain('content_filter')
          const count = rig.upstream.requests.length - before
          expect(count).to.equal(asked[number])
          const row = await rig.rowOf({ headers })
          expect([row.attempts, row.input_tokens, row.output_tokens]).to.deep.equal([count, 9 * count, 4 * count])
          expect(row.cost_micros).to.equal(17 * count)
          expect(row.guarded).to.equal('denied')
        })
  })
