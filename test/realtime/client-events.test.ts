import { expect } from 'chai'
import fc from 'fast-check'
import type { Candidate, Json, JsonObject, ModelRecord } from '../../engine/index.ts'
import { ClientEvents } from '../../plugins/realtime/client-events.ts'
import { typeOf } from '../../plugins/realtime/event-type.ts'
import { startRig } from './rig.ts'
import type { Rig } from './rig.ts'

const record = (name: string, provider = 'first'): ModelRecord =>
  ({ name, provider, upstream_model: `${name}-2026`, fallbacks: [] }) as unknown as ModelRecord

const models = [record('rt'), record('own'), record('scribe'), record('far', 'second'), record('secret')]

/** What becomes of an event, for a key that may use everything but `secret`; the client asked for `own` and `rt` serves. */
function read(message: string | Buffer) {
  const events = new ClientEvents({
    catalog: { find: (name) => models.find((one) => one.name === name || one.upstream_model === name) },
    principal: { kind: 'key', id: 'k', name: 'k', models: new Set(['rt', 'own', 'scribe', 'far']) } as never,
    candidate: { model: models[0], provider: { name: 'first' } } as unknown as Candidate,
    requested: 'own',
  })
  const passing = events.read(Buffer.from(message))
  if ('refused' in passing)
    return { refused: passing.refused.code, eventId: passing.eventId, param: passing.refused.failure.param }
  return { text: Buffer.from(passing.bytes).toString(), names: passing.names ?? {} }
}

describe('realtime/client-events', () => {
  const transcription = (model: Json) => ({ audio: { input: { transcription: { model, language: 'en' } } } })

  describe('name models as the provider does', () => {
    const cases: Readonly<Record<string, readonly [sent: JsonObject, got: JsonObject]>> = {
      'the session’s own': [
        { type: 'session.update', session: { model: 'rt' } },
        { type: 'session.update', session: { model: 'rt-2026' } },
      ],
      'the one that was asked for, where a fallback serves': [
        { type: 'session.update', session: { model: 'own' } },
        { type: 'session.update', session: { model: 'rt-2026' } },
      ],
      'by the provider’s name already': [
        { type: 'response.create', response: { model: 'rt-2026' } },
        { type: 'response.create', response: { model: 'rt-2026' } },
      ],
      'of transcriptions': [
        { event_id: 'e', type: 'session.update', session: transcription('scribe') },
        { event_id: 'e', type: 'session.update', session: transcription('scribe-2026') },
      ],
      'of transcriptions in the earlier form': [
        { type: 'transcription_session.update', session: { input_audio_transcription: { model: 'scribe' } } },
        { type: 'transcription_session.update', session: { input_audio_transcription: { model: 'scribe-2026' } } },
      ],
      'none that is null': [
        { type: 'session.update', session: { model: null, audio: { input: { transcription: null } } } },
        { type: 'session.update', session: { model: null, audio: { input: { transcription: null } } } },
      ],
    }
    for (const [name, [sent, got]] of Object.entries(cases))
      it(name, () => {
        expect(read(JSON.stringify(sent)).text).to.equal(JSON.stringify(got))
      })

    it('and leave every other byte as it is', () => {
      const sent = ` { "type" : "session.update", "session":{"n":1.0, "big":12345678901234567890,"model" :"rt"} }`
      expect(read(sent).text).to.equal(sent.replace('"rt"', '"rt-2026"'))
    })
  })

  describe('are refused with', () => {
    const cases: Readonly<Record<string, readonly [event: JsonObject, code: string, param: string | null]>> = {
      'a model of another provider': [
        { type: 'session.update', session: { model: 'far' } },
        'model_not_allowed',
        'session.model',
      ],
      'a model that the key may not use': [
        { type: 'session.update', session: transcription('secret') },
        'model_not_allowed',
        'session.audio.input.transcription.model',
      ],
      'an unknown model': [
        { type: 'response.create', response: { model: 'none' } },
        'model_not_allowed',
        'response.model',
      ],
      'a model that is no text': [
        { type: 'response.create', response: { model: ['rt'] } },
        'invalid_value',
        'response.model',
      ],
      'more than 1 MiB': [
        { type: 'session.update', session: { instructions: 'x'.repeat(1024 * 1024) } },
        'request_too_large',
        null,
      ],
    }
    for (const [name, [event, code, param]] of Object.entries(cases))
      it(name, () => {
        expect(read(JSON.stringify({ event_id: 'mine', ...event }))).to.deep.equal({
          refused: code,
          eventId: 'mine',
          param,
        })
      })

    for (const [name, text] of Object.entries({
      'two types': '{"type":"input_audio_buffer.append","type":"session.update","session":{"model":"far"}}',
      'a type in another spelling': '{"Type":"session.update","session":{"model":"far"}}',
      'a text that is cut off': '{"type":"session.update","session":{"model":"rt"}',
      'a mark of the byte order': '\uFEFF{"type":"session.update","session":{"model":"rt"}}',
      'a list around it': '[{"type":"session.update","session":{"model":"rt"}}]',
      'an escape in the list': String.raw`[{"type":"session\u002eupdate","session":{"model":"rt"}}]`,
      'another type far behind': `{"type":"new.event","x":"${'x'.repeat(10_000)}","type":"response.create"}`,
      'too many levels': `{"type":"session.update","x":${'['.repeat(200)}${']'.repeat(200)}}`,
    }))
      it(name, () => {
        expect(read(text)).to.have.property('refused')
      })
  })

  describe('mean one thing to every parser', () => {
    const cases: Readonly<Record<string, string>> = {
      'a model that is there twice': '{"type":"session.update","session":{"model":"far","model":"rt"}}',
      'a session that is there twice': '{"type":"session.update","session":{"model":"far"},"session":{}}',
      'a key with an escape': String.raw`{"type":"session.update","session":{"mod\u0065l":"rt"}}`,
      'a type with an escape': String.raw`{"type":"session\u002eupdate","session":{"model":"rt"}}`,
      'a type at the end': `{"session":{"model":"rt","instructions":"${'x'.repeat(10_000)}"},"type":"session.update"}`,
    }
    for (const [name, text] of Object.entries(cases))
      it(name, () => {
        const passed = read(text)
        const { text: got = '' } = passed
        expect(got).not.to.include('far')
        expect(got.match(/"mod(e|\\u0065)l"/g)?.length ?? 0).to.be.at.most(1)
        const { session } = JSON.parse(got) as { session: JsonObject }
        if ('model' in session) expect(session['model']).to.equal('rt-2026')
      })
  })

  it('of every other kind are passed on as they are, whatever they hold', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.constantFrom('input_audio_buffer.append', 'conversation.item.create', 'new.event'),
        (text, type) => {
          const event = `{"type":"${type}","audio":${text}}`
          expect(read(event).text).to.equal(event)
        },
      ),
    )
    for (const text of ['', 'no JSON', '[1]', '"text"', '{"no":"type"}', '{"type":7}'])
      expect(read(text).text).to.equal(text)
    const bytes = Buffer.from([0, 255, 254, 123])
    expect(read(bytes).text).to.equal(bytes.toString())
  })

  it('of the server are told apart by their type, in any order of keys', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z_.]{1,40}$/), fc.dictionary(fc.string(), fc.jsonValue()), (type, rest) => {
        const { type: _type, event_id: _id, ...others } = rest as JsonObject
        fc.pre(!Object.keys(others).some((name) => ['type', 'event_id'].includes(name.toLowerCase())))
        expect(typeOf(Buffer.from(JSON.stringify({ type, ...others })))).to.equal(type)
        expect(typeOf(Buffer.from(JSON.stringify({ ...others, type })))).to.equal(type)
      }),
    )
  })

  describe('in a session', () => {
    let rig: Rig
    beforeEach(async () => {
      rig = await startRig()
    })
    afterEach(() => rig.close())

    it('are answered by an error with the id of the event, and the session goes on', async () => {
      const { client, met } = await rig.talk()
      client.send({ type: 'session.update', event_id: 'mine', session: { type: 'realtime', model: 'second' } })
      client.send({ type: 'session.update', session: { type: 'realtime', model: 'rt' } })
      const told = (await client.nextJson()) as { event_id: string; error: JsonObject }
      expect(told.error).to.deep.include({
        type: 'invalid_request_error',
        code: 'model_not_allowed',
        param: 'session.model',
        event_id: 'mine',
      })
      expect(told.event_id).to.match(/^event_/)
      await rig.upstream.when(() => met.heard.length === 1)
      expect(met.heard).to.deep.equal([
        'text {"type":"session.update","session":{"type":"realtime","model":"rt-2026"}}',
      ])
    })

    it('are not read faster than the client reads the errors', async () => {
      await rig.close()
      rig = await startRig({ limits: { bodies: 8 * 1024 * 1024 } })
      const { client } = await rig.talk()
      const ids = Array.from({ length: 500 }, (_, index) => `${index} `.padEnd(60_000, 'x'))
      client.socket.pause()
      for (const id of ids) client.send({ type: 'response.create', event_id: id, response: { model: 'none' } })
      let before = -1
      let same = 0
      while (same < 30) {
        await fetch(`${rig.gateway.url}/nothing`)
        same = client.socket.bufferedAmount === before ? same + 1 : 0
        before = client.socket.bufferedAmount
      }
      expect(before).to.be.greaterThan(0)
      client.socket.resume()
      for (const id of ids) {
        const { error } = (await client.nextJson()) as { error: JsonObject }
        expect(error['event_id'] === id).to.equal(true)
      }
    })

    it('bill a turn at the price of the model that it names', async () => {
      const { client, met, say } = await rig.talk()
      const turn = {
        type: 'response.done',
        response: { status: 'completed', usage: { input_tokens: 10, output_tokens: 1 } },
      }
      client.send({ type: 'response.create', response: { model: 'dear' } })
      await rig.upstream.when(() => met.heard.length === 1)
      await say({ type: 'response.created', response: { id: 'resp_1' } })
      await say(turn)
      await say(turn)
      client.send({ type: 'session.update', session: { model: 'dear' } })
      await rig.upstream.when(() => met.heard.length === 2)
      await say(turn)
      client.socket.close()
      const row = await rig.gateway.row(({ type }) => type === 'realtime')
      expect(row.cost_micros).to.equal(5_600 + 56 + 5_600)
    })
  })
})
