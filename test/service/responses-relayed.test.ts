import { expect } from 'chai'
import { packSeal } from '../../engine/kit.ts'
import type { JsonObject } from '../../engine/index.ts'
import { framesOf } from '../golden/files.ts'
import type { ReadFrame } from '../golden/files.ts'
import { openai } from '../support/clients.ts'
import { Rig } from './responses-rig.ts'
import { responsesAnswer, responsesFrames } from './streams.ts'

const headers = { 'content-type': 'text/event-stream' }

/** An event as its bytes. */
function event(type: string, sequence_number: number, fields: JsonObject, end = '\n'): string {
  return `event: ${type}${end}data: ${JSON.stringify({ type, sequence_number, ...fields })}${end}${end}`
}

const created = (fields: JsonObject = {}) =>
  event('response.created', 0, { response: { ...responsesAnswer, status: 'in_progress', output: [], ...fields } })
const picture = (size: number) =>
  event('response.output_item.done', 1, {
    output_index: 0,
    item: { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'A'.repeat(size) },
  })
const failure = event('error', 1, { code: 'server_error', message: 'Oh', param: null })
const types = (frames: readonly ReadFrame[]) => frames.map(({ event: type }) => type)

describe('a responses stream that is passed on', () => {
  const rig = new Rig()
  const answered = async (chunks: readonly string[], body: JsonObject = {}, ending: 'end' | 'hang' = 'end') => {
    rig.upstream.answer({ headers, chunks, ending })
    const stream = await rig.streamed(ending === 'hang' ? 'hasty-native' : 'native', body)
    return { stream, frames: framesOf(stream) }
  }

  for (const size of [3000, 20_000, 300_000, 600_000])
    it(`numbers its failure after an event of ${size} characters`, async () => {
      const { frames } = await answered([created(), picture(size)], {}, 'hang')
      expect(types(frames)).to.deep.equal([
        'response.created',
        'response.output_item.done',
        'error',
        'response.failed',
        undefined,
      ])
      const numbers = frames.slice(1, 4).map(({ data }) => (data as JsonObject)['sequence_number'])
      expect(numbers).to.deep.equal([1, 2, 3])
    })

  it('passes nothing on of a very large event that broke off', async () => {
    const { stream, frames } = await answered([created(), picture(600_000).slice(0, 400_000)], {}, 'hang')
    expect(stream).to.not.contain('AAAA')
    expect(types(frames)).to.deep.equal(['response.created', 'error', 'response.failed', undefined])
  })

  it('fails with the echoes of its request where the first event is too long to be remembered', async () => {
    const instructions = 'Be brief. '.repeat(1000)
    const body = { instructions, temperature: 0.3, metadata: { a: 'b' } }
    const { frames } = await answered([created({ instructions })], body, 'hang')
    const failed = frames.at(-2)?.data as JsonObject | undefined
    expect(failed?.['response']).to.deep.include({
      id: 'resp_1',
      status: 'failed',
      model: 'hasty-native',
      instructions,
      temperature: 0.3,
      metadata: { a: 'b' },
      output: [],
    })
  })

  it('gets the failed response that is missing between an error and [DONE], however they are cut', async () => {
    const done = 'data: [DONE]\n\n'
    for (const chunks of [
      [created(), failure, done],
      [created() + failure + done],
      [created(), failure + 'data: [DO', 'NE]\n\n'],
    ]) {
      const { frames } = await answered(chunks)
      expect(types(frames)).to.deep.equal(['response.created', 'error', 'response.failed', undefined])
      expect(frames[2]?.data).to.deep.include({ sequence_number: 2 })
      expect(frames[3]?.data).to.equal('[DONE]')
    }
  })

  const completed = (number: number) => event('response.completed', number, { response: responsesAnswer })
  const failed = event('response.failed', 1, {
    response: { ...responsesAnswer, status: 'failed', error: { code: 'server_error', message: 'Oh' } },
  })
  const done = 'data: [DONE]\n\n'
  const whole = ['response.created', 'response.completed', undefined]
  const failing = ['response.created', 'error', 'response.failed', undefined]
  for (const [name, chunks, told] of [
    ['says [DONE] without its last event', [created(), done], failing],
    ['only says that it failed', [created(), failed], failing],
    ['completes twice', [created(), completed(1), completed(2), done], whole],
    ['fails after it has completed', [created(), completed(1) + failure, failed], whole],
    ['goes on after [DONE]', [created(), completed(1), done, created(), done], whole],
    ['counts from one to three', [created(), completed(3)], whole],
  ] as const)
    it(`has one legal end where its upstream ${name}`, async () => {
      for (const cut of [chunks, [chunks.join('')]]) {
        const { frames } = await answered(cut)
        expect(types(frames)).to.deep.equal(told)
        const numbers = frames.slice(0, -1).map(({ data }) => (data as JsonObject)['sequence_number'])
        expect(numbers).to.deep.equal(numbers.map((_, index) => index))
        expect((await rig.gateway.rows()).at(-1)).to.include({ result: told === whole ? 'completed' : 'failed' })
      }
    })

  it('ends well where its connection breaks after the last event', async () => {
    const { frames } = await answered([created(), completed(1)], {}, 'hang')
    expect(types(frames)).to.deep.equal(whole)
    expect((await rig.gateway.rows()).at(-1)).to.include({ result: 'completed' })
  })

  it('sends its last word on before the upstream has closed', async () => {
    rig.upstream.answer({ frames: [...responsesFrames('Hi'), '[DONE]'], ending: 'hang' })
    const response = await rig.gateway.post('/v1/responses', { model: 'native', input: 'x', stream: true })
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      if (text.includes('[DONE]')) break
    }
    expect(text.match(/\[DONE\]/g)).to.have.length(1)
  })

  it('says why it failed, though its upstream does not', async () => {
    const failed = { ...responsesAnswer, status: 'failed', output: [], error: null }
    for (const chunks of [
      [created(), event('response.failed', 1, { response: failed })],
      [created(), failure, event('response.failed', 2, { response: failed })],
    ]) {
      const { frames } = await answered(chunks)
      expect(types(frames)).to.deep.equal(['response.created', 'error', 'response.failed', undefined])
      const [error, last] = frames.slice(1, 3).map(({ data }) => data as JsonObject)
      expect(error?.['code']).to.equal('server_error')
      expect(error?.['message']).to.be.a('string').and.not.equal('')
      const { error: told } = (last?.['response'] ?? {}) as JsonObject
      expect(told).to.deep.equal({ code: error?.['code'], message: error?.['message'] })
    }
  })

  it('has lines that end in LF', async () => {
    const completed = event('response.completed', 1, { response: responsesAnswer }, '\r\n')
    const whole = created().replaceAll('\n', '\r\n') + completed
    for (const at of [0, 1, whole.indexOf('\r\n\r\n') + 3, whole.length - 1]) {
      const { stream } = await answered([whole.slice(0, at), whole.slice(at)])
      expect(stream).to.equal(`${whole.replaceAll('\r\n', '\n')}data: [DONE]\n\n`)
    }
  })

  it('becomes one answer for a client that did not ask to stream', async () => {
    rig.upstream.answer({ frames: [...responsesFrames('Hello'), '[DONE]'] })
    const answer = await rig.gateway.post('/v1/responses', { model: 'native', input: 'x' })
    expect(answer.headers.get('content-type')).to.match(/^application\/json/)
    expect(await answer.json()).to.deep.include({ object: 'response', status: 'completed' })
    expect((await openai(rig.gateway).responses.create({ model: 'native', input: 'x' })).output_text).to.equal('Hello')
  })

  it('is an HTTP error where the whole answer is a failed response', async () => {
    for (const [code, status] of [
      ['server_error', 502],
      ['rate_limit_exceeded', 429],
      ['invalid_prompt', 400],
    ] as const) {
      const error = { code, message: 'Oh' }
      rig.upstream.answer({ body: { ...responsesAnswer, status: 'failed', output: [], error } })
      const answer = await rig.gateway.post('/v1/responses', { model: 'native', input: 'x' })
      expect(answer.status).to.equal(status)
    }
  })

  it('names the model as its client does where the connection fails', async () => {
    for (const [model, ending] of [
      ['hasty-native', 'hang'],
      ['native', 'close'],
    ] as const) {
      rig.upstream.answer({ headers, chunks: [created()], ending, every: 20 })
      const stream = await rig.streamed(model)
      expect(stream).to.contain(`The provider of \\"${model}\\"`)
      expect(stream).to.not.contain('upstream-1')
    }
  })

  it('is asked for with the very bytes of a request that only speaks of seals', async () => {
    rig.upstream.answer({ body: responsesAnswer })
    const sealed = (encrypted_content: string) => ({
      model: 'native',
      input: [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content },
        { role: 'user', content: 'what is gw1. or gw1.abc?' },
      ],
      own: { gw: 'gw1.abc' },
      include: ['reasoning.encrypted_content'],
    })
    const ask = async (content: string) => {
      expect((await rig.gateway.post('/v1/responses', sealed(content))).status).to.equal(200)
      return rig.asked()
    }
    expect(await ask('vendors')).to.deep.equal({ ...sealed('vendors'), model: 'upstream-1' })
    const seal = packSeal('other origin', 'x')
    expect(JSON.stringify(await ask(seal))).to.not.contain(seal)
  })
})
