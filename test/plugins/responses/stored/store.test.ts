import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import { answering, collect } from '../../../../engine/kit.ts'
import type { Envelope, Host, JsonObject, KeyValue, Reply, Scope, Slots, Source } from '../../../../engine/index.ts'
import { lastOnSocket, socketLimit } from '../../../../plugins/responses/stored/session.ts'
import { readResponse } from '../../../../plugins/responses/stored/record.ts'
import store from '../../../../plugins/responses/stored/store.ts'
import { exchangeId } from '../exchange.ts'
import { memory, unguarded } from './kept.ts'

const response = { id: 'resp_1', object: 'response', status: 'completed', output: [] }
const end = `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response })}\n\n`
const whole: Reply = { status: 200, headers: {}, body: { kind: 'json', value: response } }
const bytes: Reply = {
  status: 200,
  headers: {},
  body: { kind: 'bytes', bytes: Buffer.from(JSON.stringify(response)), type: 'application/json' },
}
const streamed = (): Reply => {
  const source: Source = {
    open(sink) {
      queueMicrotask(() => {
        sink.data(Buffer.from(end))
        sink.end()
      })
      return { pause: () => undefined, resume: () => undefined, cancel: () => undefined }
    },
  }
  return { status: 200, headers: {}, body: { kind: 'stream', source, type: 'text/event-stream' } }
}

/** A log that remembers what it was told, and how urgent that is. */
function remembering() {
  const lines: unknown[] = []
  const told = (level: string) => (fields: unknown, text?: string) => lines.push([level, text ?? fields])
  return { lines, log: { info: told('info'), warn: told('warn'), error: told('error') } }
}

describe('the stage "store"', () => {
  const run = async (reply: Reply, body: JsonObject = {}, slots: Partial<Slots> = {}) => {
    const { keyValue } = memory()
    const notes = new Map<string, unknown>()
    const log = { warn: () => undefined }
    const states: unknown[] = []
    const keep = (_: string, make: () => unknown) => states[states.push(make()) - 1]
    const stage = store.build({}, { keyValue, log, keep } as unknown as Host, unguarded)
    const scope = { id: exchangeId, note: (key: string, value: unknown) => notes.set(key, value) } as unknown as Scope
    const request = { body: { input: 'Hi', ...body }, protocol: 'responses', background: false } as unknown as Envelope
    const given = { request, reply, principal: { kind: 'key' as const, id: 'key-a', name: 'a' }, ...slots }
    const answer = (await stage(given, scope)) as { reply: Reply }
    const sent = answer.reply.body.kind === 'stream' ? await collect(answer.reply.body.source, 10_000) : undefined
    // A large one may still be on its way when the answer has left.
    for (const state of states) if (state instanceof Map) await Promise.all(state.values())
    return {
      answer: answer.reply,
      sent: sent?.toString(),
      kept: (await readResponse(keyValue, 'resp_1'))?.record,
      notes,
    }
  }
  const record = {
    keyId: 'key-a',
    response,
    background: false,
    held: false,
    partial: false,
  }

  it('keeps what is answered whole, in whatever form', async () => {
    for (const reply of [whole, bytes]) {
      const { answer, kept } = await run(reply)
      expect(answer).to.equal(reply)
      expect(kept).to.deep.include(record)
      expect(kept?.input).to.have.lengthOf(1)
    }
  })

  it('keeps what a stream ends with, and changes nothing in it', async () => {
    const { sent, kept } = await run(streamed())
    expect(sent).to.equal(end)
    expect(kept).to.deep.include(record)
  })

  it('keeps nothing without an API key, nothing that is not to be stored, and no error', async () => {
    const nobody: Partial<Slots> = {}
    Object.defineProperty(nobody, 'principal', { value: undefined, enumerable: true })
    for (const reply of [whole, streamed()]) {
      const unknown = await run(reply, {}, nobody)
      expect([unknown.answer, unknown.kept]).to.deep.equal([reply, undefined])
    }
    const unwanted = await run(streamed(), { store: false })
    expect([unwanted.sent, unwanted.kept]).to.deep.equal([end, undefined])
    const failed: Reply = { ...whole, status: 400 }
    expect((await run(failed)).kept).to.equal(undefined)
  })

  it('remembers the last one of a socket, stored or not', async () => {
    const ingress = { session: new Map<string, unknown>() } as unknown as Slots['ingress']
    const { kept } = await run(streamed(), { store: false }, { ingress })
    expect(kept).to.equal(undefined)
    expect(lastOnSocket(ingress)).to.deep.include(record)
  })

  it('notes that a socket has no room for what is nowhere else', async () => {
    const ingress = { session: new Map<string, unknown>() } as unknown as Slots['ingress']
    const input = 'x'.repeat(socketLimit)
    const unstored = await run(whole, { store: false, input }, { ingress })
    expect([...unstored.notes]).to.deep.equal([['not_stored', 'no room on the socket']])
    expect(lastOnSocket(ingress)).to.equal(undefined)
    const stored = await run(whole, { input }, { ingress })
    expect([...stored.notes]).to.deep.equal([])
    expect(stored.kept).to.deep.include(record)
  })

  it('notes why a response was not kept', async () => {
    const nameless: Reply = { ...whole, body: { kind: 'json', value: { ...response, id: 'a b' } } }
    const { answer, notes } = await run(nameless)
    expect(answer).to.equal(nameless)
    expect([...notes]).to.deep.equal([['not_stored', 'no id']])
  })

  const build = (keyValue: KeyValue, log: unknown) => {
    const keep = (_: string, make: () => unknown) => make()
    return store.build({}, { keyValue, log, keep } as unknown as Host, unguarded)
  }
  const request = { body: { input: 'Hi' }, protocol: 'responses', background: false } as unknown as Envelope
  const given = { request, reply: whole, principal: { kind: 'key' as const, id: 'key-a', name: 'a' } }

  it('holds no answer up for a store that is slow', async () => {
    const { keyValue } = memory()
    const { promise: freed, resolve: free } = Promise.withResolvers<void>()
    const { promise: written, resolve: wrote } = Promise.withResolvers<void>()
    const slow: KeyValue = {
      ...keyValue,
      async set(...args) {
        await freed
        return keyValue.set(...args).finally(wrote)
      },
    }
    const scope = { id: exchangeId, note: () => undefined } as unknown as Scope
    expect(await build(slow, remembering().log)(given, scope)).to.deep.equal({ reply: whole })
    expect(await readResponse(keyValue, 'resp_1')).to.equal(undefined)
    free()
    await written
    expect((await readResponse(keyValue, 'resp_1'))?.record).to.deep.include(record)
  })

  it('tells the log once that the store fails, and once that it works again', async () => {
    const { keyValue } = memory()
    const { lines, log } = remembering()
    const notes: unknown[] = []
    const scope = { id: exchangeId, note: (...note: unknown[]) => notes.push(note) } as unknown as Scope
    let failure: Error | undefined = new GatewayError('store_unavailable', {}, { cause: new Error('reset') })
    const stage = build(
      { ...keyValue, set: (...args) => (failure ? Promise.reject(failure) : keyValue.set(...args)) },
      log,
    )
    for (let count = 0; count < 3; count++) await stage(given, scope)
    failure = undefined
    for (let count = 0; count < 3; count++) await stage(given, scope)
    expect(lines).to.deep.equal([
      ['warn', 'responses are not stored: the store does not answer'],
      ['info', 'responses are stored again'],
    ])
    expect(notes).to.deep.equal(Array.from({ length: 3 }, () => ['not_stored', 'the store failed']))
    failure = new TypeError('a mistake')
    await stage(given, scope)
    expect(lines.at(-1)).to.deep.equal(['error', 'a response could not be stored'])
  })

  it('reads no bytes that were read before', async () => {
    const body = { ...response, output: [{ id: 'msg_1', type: 'message' }] }
    const answer = bytes.body.kind === 'bytes' && { kind: 'whole', bytes: bytes.body.bytes, body, type: '' }
    const { kept } = await run(bytes, {}, { answer } as unknown as Partial<Slots>)
    expect(kept?.response).to.deep.equal(body)
  })

  it('keeps what the client is not shown', async () => {
    const measurement = { read: () => ({ complete: true, losses: [] }), unshown: () => new Map([['rs_1', 'sealed']]) }
    const { kept } = await run(whole, {}, { measurement })
    expect(kept).to.deep.include({ ...record, sealed: { rs_1: 'sealed' } })
  })

  it('knows which provider holds it, and what only that one knows', async () => {
    const model = {
      origin: 'vendor/gpt',
      offer: { operation: 'generate', protocol: 'responses', traits: { stores: true } },
    } as unknown as Slots['model']
    const upstream = { same: true, losses: [] }
    const answer = answering('generate', { kind: 'neutral-reply', reply: { items: [], stop: 'end' } })
    const held = { ...record, origin: 'vendor/gpt', held: true }
    expect((await run(whole, {}, { model, upstream, answer })).kept).to.deep.include(held)
    expect((await run(whole, { conversation: 'c' }, { model, upstream, answer })).kept).to.deep.include({
      ...held,
      partial: true,
    })
    expect((await run(whole, {}, { model, upstream: { ...upstream, same: false }, answer })).kept?.held).to.equal(false)
    const changed = answer.map(() => ({ event: (event) => [event] }))
    expect((await run(whole, {}, { model, upstream, answer: changed })).kept?.held).to.equal(false)
    const unstored: Reply = { ...whole, body: { kind: 'json', value: { ...response, store: false } } }
    expect((await run(unstored, {}, { model, upstream, answer })).kept?.held).to.equal(false)
  })
})
