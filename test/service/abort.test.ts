import { expect } from 'chai'
import type { RequestsTable } from '../../plugins/request-log/table.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startGeneration } from '../support/generation.ts'
import type { RunningGateway } from '../support/gateway.ts'
import type { Generation } from '../support/generation.ts'
import type { Script } from '../support/upstream.ts'
import { chatFrames, messagesFrames, responsesFrames } from './streams.ts'

/** What a client may ask, and the provider that its model is at. */
const clients = {
  openai: (gateway: RunningGateway, model: string, signal: AbortSignal) => ({
    whole: () =>
      openai(gateway).chat.completions.create({ model, messages: [{ role: 'user', content: 'hello' }] }, { signal }),
    streamed: () =>
      openai(gateway).chat.completions.create(
        { model, messages: [{ role: 'user', content: 'hello' }], stream: true },
        { signal },
      ),
  }),
  anthropic: (gateway: RunningGateway, model: string, signal: AbortSignal) => ({
    whole: () =>
      anthropic(gateway).messages.create(
        { model, max_tokens: 99, messages: [{ role: 'user', content: 'hello' }] },
        { signal },
      ),
    streamed: () =>
      anthropic(gateway).messages.create(
        { model, max_tokens: 99, messages: [{ role: 'user', content: 'hello' }], stream: true },
        { signal },
      ),
  }),
}

/** The beginning of a stream in each provider's protocol, after which nothing more comes. */
const beginnings: Record<string, Script> = {
  chat: { frames: chatFrames('Hello', ' there').slice(0, 2), ending: 'hang' },
  responses: { frames: responsesFrames('Hello', ' there').slice(0, 4), ending: 'hang' },
  messages: { frames: messagesFrames('Hello', ' there').slice(0, 3), ending: 'hang' },
}

describe('a client that leaves', () => {
  let rig: Generation
  before(
    async () =>
      (rig = await startGeneration({
        providers: () => [{ name: 'slow', type: 'echo', delay: '60s' }],
        models: [{ name: 'slow', provider: 'slow' }],
      })),
  )
  after(() => rig.close())

  /** Leaves once `reached`, and answers the row once the provider's connection is closed. */
  const leave = async (abort: AbortController, reached: Promise<unknown>): Promise<RequestsTable> => {
    await reached
    const before = (await rig.gateway.rows()).length
    abort.abort()
    await rig.upstream.closed()
    return (await rig.gateway.rows(before + 1))[before] as RequestsTable
  }

  for (const [name, client] of Object.entries(clients))
    for (const model of ['chat', 'responses', 'messages']) {
      const asking = () => {
        const abort = new AbortController()
        return { abort, ...client(rig.gateway, model, abort.signal) }
      }

      describe(`${name}, of a provider of ${model}`, () => {
        it('before the first byte of a whole answer', async () => {
          rig.upstream.answer({ silent: true })
          const { abort, whole } = asking()
          const answer = refused(whole())
          const row = await leave(abort, rig.upstream.received(rig.upstream.requests.length + 1))
          expect(await answer).to.match(/abort/i)
          expect(row).to.include({
            result: 'client_closed',
            error: 'client_closed',
            status: 499,
            stream: 0,
            attempts: 1,
          })
        })

        it('in the middle of a whole answer', async () => {
          rig.upstream.answer({
            chunks: ['{"id":', '"1"'],
            headers: { 'content-type': 'application/json' },
            ending: 'hang',
          })
          const { abort, whole } = asking()
          const answer = refused(whole())
          const index = rig.upstream.requests.length
          const row = await leave(
            abort,
            rig.upstream.when(() => (rig.upstream.requests[index]?.sent ?? 0) > 6),
          )
          expect(await answer).to.match(/abort/i)
          expect(row).to.include({ result: 'client_closed', status: 499, stream: 0 })
        })

        it('before the first byte of a stream', async () => {
          rig.upstream.answer({ silent: true })
          const { abort, streamed } = asking()
          const answer = refused(streamed())
          const row = await leave(abort, rig.upstream.received(rig.upstream.requests.length + 1))
          expect(await answer).to.match(/abort/i)
          expect(row).to.include({ result: 'client_closed', error: 'client_closed', status: 499, stream: 1 })
        })

        it('in the middle of a stream', async () => {
          rig.upstream.answer(beginnings[model] as Script)
          const { abort, streamed } = asking()
          const events = (await streamed())[Symbol.asyncIterator]()
          const row = await leave(abort, events.next())
          expect(row).to.include({ result: 'client_closed', status: 200, stream: 1, requested: model })
          expect(row.first_byte).to.be.a('number')
        })
      })
    }

  for (const [name, client] of Object.entries(clients)) {
    it(`${name}, of a provider that asks nobody`, async () => {
      const abort = new AbortController()
      const events = (await client(rig.gateway, 'slow', abort.signal).streamed())[Symbol.asyncIterator]()
      const row = await leave(abort, events.next())
      expect(row).to.include({ result: 'client_closed', status: 200, stream: 1, requested: 'slow' })
    })
  }

  it('harms nobody else', async () => {
    rig.upstream.answer({ frames: chatFrames('Hello', ' there') })
    const stream = openai(rig.gateway).chat.completions.stream({
      model: 'chat',
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(await stream.finalContent()).to.equal('Hello there')
  })
})

/** The message of the error that `asking` ends with. */
function refused(asking: Promise<unknown>): Promise<string> {
  return asking.then(
    () => 'answered',
    (error: Error) => error.message,
  )
}
