import { expect } from 'chai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import type { JsonObject } from '../../engine/index.ts'
import { conforms, streamConforms } from '../conformance/responses/check.ts'
import { orderFaults } from '../conformance/responses/order.ts'
import { flaws } from '../conformance/responses/schemas.ts'
import { text } from '../golden/files.ts'
import { openai } from '../support/clients.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { client, ended, kinds as backgroundKinds, says, startBackground } from './background.ts'
import { kinds, Rig, spoken } from './responses-rig.ts'
import type { Kind } from './responses-rig.ts'
import { openSession } from './responses-session.ts'
import type { Heard } from './responses-session.ts'

const eventStream = { 'content-type': 'text/event-stream' }
const question: ResponseInputItem = { role: 'user', content: 'Where?' }

/** Frames of a socket as the stream they would be over HTTP. */
const asStream = (frames: readonly Heard[]) =>
  frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`).join('') + 'data: [DONE]\n\n'

const got = (gateway: RunningGateway, path: string) =>
  fetch(gateway.url + path, { headers: { authorization: `Bearer ${gateway.key}` } })
const retrieved = async (gateway: RunningGateway, id: string) => {
  const response = (await (await got(gateway, `/v1/responses/${id}`)).json()) as JsonObject
  expect(response['id']).to.equal(id)
  return response
}
const replayed = async (gateway: RunningGateway, id: string) =>
  streamConforms(await (await got(gateway, `/v1/responses/${id}?stream=true`)).text())
const last = (events: readonly JsonObject[]) => events.at(-1)?.['response'] as JsonObject

describe('what the gateway answers to responses clients conforms', () => {
  const rig = new Rig()
  /** A stream of the responses protocol is relayed as it is, so that its upstream must conform for the answer to do. */
  const stream = (kind: Kind, name: string) =>
    text(
      kind === 'native' ? `responses/${name}.messages.reply.frames.txt` : `answers/${name}.${spoken[kind]}.frames.txt`,
    )
  const answer = (kind: Kind, name: string) =>
    rig.upstream.answer({ headers: eventStream, chunks: [stream(kind, name)] })

  for (const kind of kinds)
    describe(`over an upstream of ${kind}`, () => {
      for (const name of ['full', 'tools', 'custom', 'reasoning', 'refusal', 'length'])
        it(`in a turn on a socket, kept and replayed (${name})`, async () => {
          answer(kind, name)
          const session = await openSession(rig.gateway)
          const events = streamConforms(asStream(await session.turn({ model: kind, input: 'hello' })))
          session.socket.terminate()
          const kept = await retrieved(rig.gateway, last(events)['id'] as string)
          conforms(kept)
          expect(kept).to.deep.equal(last(events))
          expect(last(await replayed(rig.gateway, kept['id'] as string))).to.deep.equal(kept)
        })

      it('in a turn that prepares a response, and in the one that goes on from it', async () => {
        answer(kind, 'length')
        const session = await openSession(rig.gateway)
        const frames = await session.turn({ model: kind, input: 'hello', generate: false })
        const events = frames as unknown as readonly JsonObject[]
        for (const event of events) expect(flaws('event', event)).to.deep.equal([])
        expect(orderFaults(events)).to.deep.equal([])
        expect(last(events)).to.deep.include({ status: 'completed', output: [], error: null, incomplete_details: null })
        const previous = last(events)['id']
        const next = await session.turn({ model: kind, input: 'go on', previous_response_id: previous })
        expect(last(streamConforms(asStream(next)))).to.include({ previous_response_id: previous })
        session.socket.terminate()
      })

      it('from a compacted conversation, on a socket', async () => {
        rig.upstream.answer({ status: 404, body: { error: { message: 'no route' } } })
        const input = [{ role: 'user', content: 'My name is Ada.' }]
        const whole = await rig.gateway.post('/v1/responses/compact', { model: kind, input })
        const compacted = (await whole.json()) as JsonObject
        expect(flaws('compaction', compacted)).to.deep.equal([])
        answer(kind, 'length')
        const session = await openSession(rig.gateway)
        const base = [...(compacted['output'] as JsonObject[]), { role: 'user', content: 'Who am I?' }]
        const first = streamConforms(asStream(await session.turn({ model: kind, input: base })))
        for (const text of ['My name is Ada.', 'Who am I?']) expect(JSON.stringify(rig.asked())).to.include(text)
        const previous_response_id = last(first)['id']
        streamConforms(asStream(await session.turn({ model: kind, input: 'Really?', previous_response_id })))
        for (const text of ['My name is Ada.', 'Really?']) expect(JSON.stringify(rig.asked())).to.include(text)
        session.socket.terminate()
      })

      it('when the upstream breaks off', async () => {
        const begun = stream(kind, 'full').split('\n\n').slice(0, 4)
        rig.upstream.answer({ headers: eventStream, chunks: [`${begun.join('\n\n')}\n\n`] })
        const events = streamConforms(await rig.streamed(kind))
        expect(last(events)['status']).to.equal('failed')
        expect(events.at(-2)?.['type']).to.equal('error')
      })
    })

  it('when the service itself fails in the middle', async () => {
    const events = streamConforms(await rig.streamed('failing', { input: 'one two three four' }))
    expect(last(events)).to.include({ status: 'failed' })
  })
})

describe('what is made in the background conforms', function () {
  let service: Service
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async function () {
    service = await redis(this)
    upstream = await scriptedUpstream()
    gateway = await startBackground(upstream, service.url)
  })
  after(async () => {
    await gateway?.close()
    await upstream?.close()
    await service?.stop()
  })

  const begin = async (model: string) => {
    const answer = await gateway.post('/v1/responses', { model, input: [question], background: true })
    const response = (await answer.json()) as JsonObject
    conforms(response)
    expect(['queued', 'in_progress']).to.include(response['status'])
    expect(response).to.deep.include({ background: true, output: [], usage: null, completed_at: null })
    return response['id'] as string
  }

  for (const kind of backgroundKinds)
    describe(`over an upstream of ${kind}`, () => {
      it('in progress and cancelled', async () => {
        upstream.answer({ silent: true })
        const before = upstream.requests.length
        const id = await begin(kind)
        await upstream.received(before + 1)
        const running = await retrieved(gateway, id)
        conforms(running)
        expect(running['status']).to.equal('in_progress')
        const answer = await gateway.post(`/v1/responses/${id}/cancel`, {})
        const cancelled = (await answer.json()) as JsonObject
        conforms(cancelled)
        expect(cancelled['status']).to.equal('cancelled')
        expect(await retrieved(gateway, id)).to.deep.equal(cancelled)
        await upstream.closed()
      })

      for (const cut of [false, true])
        it(cut ? 'cut short, and replayed' : 'completed, and replayed', async () => {
          upstream.answer(says(kind, 'Here.', cut))
          const id = await begin(kind)
          expect(await ended(client(gateway), id)).to.include({ status: cut ? 'incomplete' : 'completed' })
          const kept = await retrieved(gateway, id)
          conforms(kept)
          expect(last(await replayed(gateway, id))).to.deep.equal(kept)
        })

      it('failed, and replayed', async () => {
        upstream.answer({ status: 400, body: { error: { message: 'No.' } } })
        const id = await begin(kind)
        await ended(openai(gateway), id)
        const kept = await retrieved(gateway, id)
        conforms(kept)
        expect(kept['status']).to.equal('failed')
        expect(last(await replayed(gateway, id))).to.deep.equal(kept)
      })
    })
})
