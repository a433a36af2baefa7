import { expect } from 'chai'
import type { JsonObject, UpstreamAnswer } from '../../../engine/index.ts'
import { mapText, parsedObject } from '../../../engine/kit.ts'
import { client, ended } from '../../service/background.ts'
import { openSession } from '../../service/responses-session.ts'
import { redis } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import { until } from '../../support/until.ts'
import { arrived } from '../../service/streams.ts'
import { Rig, everyClient, everyKind, filter, frames, gate, hasFailed, later } from './rig.ts'

/** A mask of names, and what shows them again. */
const [mask, unmask] = [['there', '<NAME_1>'] as const, ['<NAME_1>', 'there'] as const].map(([from, to]) =>
  mapText((text) => text.replaceAll(from, to), from.length),
)
type Maps = NonNullable<typeof mask>

describe('what is shown to one client alone', function () {
  let service: Service | undefined
  before(async function () {
    service = await redis(this)
  })
  after(() => service?.stop())
  const rig = new Rig(() => (service ? { key_value: { url: service.url } } : {}))

  const masked = (answer: UpstreamAnswer) =>
    answer
      .shown(unmask as Maps)
      .gate(() => gate({ characters: 1 }, later()))
      .map(mask as Maps)

  const stored = async (id: unknown) =>
    (await (
      await fetch(`${rig.gateway.url}/v1/responses/${String(id)}`, {
        headers: { authorization: `Bearer ${rig.gateway.key}` },
      })
    ).json()) as JsonObject
  const asks = (body: JsonObject) => rig.gateway.post('/v1/responses', body)

  for (const name of everyClient)
    for (const model of everyKind)
      it(`comes after all other maps, wherever it was added: ${name} of ${model}`, async () => {
        for (const stream of [true, false]) {
          const heard: string[] = []
          const forget = rig.act((answer) =>
            masked(answer).watch((event) => void (event.type === 'delta' && heard.push(event.text))),
          )
          rig.answer(model, 'Hello the', 're')
          if (!stream) rig.answer(model)
          const answer = await rig.get(name, model, stream)
          forget()
          expect(answer.text, answer.body).to.equal('Hello there')
          expect(heard.join('')).to.equal('Hello <NAME_1>')
          expect(await rig.row()).to.include({ result: 'completed', output_tokens: 4 })
        }
      })

  it('is changed by several in the order in which they were added', async () => {
    const adds = (word: string) => mapText((text) => text.replaceAll('there', `there ${word}`), 'there'.length)
    rig.act((answer) => answer.shown(adds('one')).shown(adds('two')))
    for (const stream of [true, false]) {
      rig.answer('chat', 'Hello ', 'there')
      expect((await rig.get('chat', 'chat', stream)).text).to.equal('Hello there two one')
    }
  })

  it('fails the answer where a map throws', async () => {
    rig.act((answer) =>
      answer.shown(() => ({
        event(event) {
          if (event.type === 'delta') throw new Error('of no concern to clients')
          return [event]
        },
      })),
    )
    rig.answer('chat', 'Hello ', 'there')
    const answer = await rig.get('chat', 'chat', true)
    expect(hasFailed('chat', answer)).to.equal(true)
    expect(answer.body).to.not.include('Hello').and.not.include('concern')
    expect((await rig.get('chat', 'chat', false)).status).to.equal(500)
  })

  for (const model of everyKind) {
    it(`is not stored, whole or streamed: responses of ${model}`, async () => {
      rig.act(masked)
      for (const stream of [false, true]) {
        rig.answer(model, 'Hello the', 're')
        const text = await (await asks({ model, input: 'Hi', stream })).text()
        expect(text).to.include('there').and.not.include('NAME_1')
        const seen = stream
          ? (parsedObject(
              text
                .split('\n')
                .findLast((line) => line.startsWith('data: {'))
                ?.slice(6) ?? '',
            )?.['response'] as JsonObject)
          : (parsedObject(text) as JsonObject)
        const kept = await stored(seen['id'])
        expect(JSON.stringify(kept['output'])).to.include('Hello <NAME_1>').and.not.include('there')
        // Apart from the text, they are the same response.
        expect(JSON.parse(JSON.stringify(kept).replaceAll('<NAME_1>', 'there'))).to.deep.equal(seen)
        rig.answer(model, 'Again')
        await (await asks({ model, input: 'More', previous_response_id: seen['id'] ?? null })).text()
        expect(rig.upstream.requests.at(-1)?.body.toString()).to.include('Hello <NAME_1>').and.not.include('there')
      }
    })

    it(`is not stored where the upstream breaks off: responses of ${model}`, async () => {
      rig.act((answer) => answer.map(mask as Maps).shown(unmask as Maps))
      rig.upstream.answer({ ...arrived(frames[model]('Hello there', ' and').slice(0, 5)), ending: 'reset' })
      const text = await (await asks({ model, input: 'Hi', stream: true })).text()
      expect(text).to.include('there').and.include('response.failed')
      const id = /"id":"(resp_\w+)"/.exec(text)?.[1]
      const kept = await stored(id)
      expect(kept['status']).to.equal('failed')
      expect(JSON.stringify(kept)).to.include('NAME_1').and.not.include('there')
    })

    it(`is not stored on a socket: responses of ${model}`, async () => {
      rig.act(masked)
      const session = await openSession(rig.gateway)
      rig.answer(model, 'Hello the', 're')
      const turn = await session.turn({ model, input: 'Hi' })
      const said = turn.flatMap(({ delta = '' }) => delta).join('')
      expect(said).to.equal('Hello there')
      const { response } = turn.at(-1) ?? {}
      expect(JSON.stringify(response?.output)).to.include('Hello there')
      expect(JSON.stringify(await stored(response?.id)))
        .to.include('Hello <NAME_1>')
        .and.not.include('there')
      rig.answer(model, 'Again')
      await session.turn({ model, input: 'More', previous_response_id: response?.id })
      expect(rig.upstream.requests.at(-1)?.body.toString()).to.include('Hello <NAME_1>').and.not.include('there')
      session.socket.close()
      await session.closed
    })

    it(`is not stored in the background: responses of ${model}`, async () => {
      rig.act(masked)
      rig.answer(model)
      const at = client(rig.gateway)
      const { id } = await at.responses.create({ model, input: 'Hi', background: true })
      const response = await ended(at, id)
      expect(response.status).to.equal('completed')
      expect(response.output_text).to.equal('Hello <NAME_1>')
    })
  }

  describe('beside what gates do', () => {
    const deny = (answer: UpstreamAnswer) =>
      answer.gate(() =>
        gate(
          { characters: 1 },
          later(({ texts }) => (texts.some(({ text }) => text.includes('there')) ? filter : 'pass')),
        ),
      )

    for (const model of everyKind) {
      it(`a turn of a socket ends with one event of its kind: responses of ${model}`, async () => {
        rig.act(deny)
        const session = await openSession(rig.gateway)
        rig.answer(model, 'Hello ', 'there')
        const turn = await session.turn({ model, input: 'Hi' })
        expect(turn.flatMap(({ delta = '' }) => delta).join('')).to.equal('Hello ')
        expect(turn.at(-1)).to.deep.include({ type: 'response.incomplete' })
        expect(turn.at(-1)?.response).to.deep.nested.include({ 'incomplete_details.reason': 'content_filter' })
        const types = turn.map(({ type }) => type)
        for (const type of ['response.output_text.done', 'response.content_part.done', 'response.output_item.done'])
          expect(types.filter((one) => one === type)).to.have.length(1)
        rig.answer(model, 'Again')
        expect((await session.turn({ model, input: 'More' })).at(-1)?.type).to.equal('response.completed')
        session.socket.close()
        await session.closed
      })

      it(`a response in the background ends as the gate says: responses of ${model}`, async () => {
        rig.act(deny)
        rig.answer(model)
        const at = client(rig.gateway)
        const { id } = await at.responses.create({ model, input: 'Hi', background: true })
        const response = await ended(at, id)
        expect(response.status).to.equal('incomplete')
        expect(response.incomplete_details).to.deep.equal({ reason: 'content_filter' })
        expect(JSON.stringify(response)).to.not.include('there')
      })
    }

    it('a socket that closes aborts the judge', async () => {
      let signal: AbortSignal | undefined
      const one = gate({ characters: 1 }, (_, given) => {
        signal = given
        return given.aborted ? 'pass' : new Promise((resolve) => given.addEventListener('abort', () => resolve('pass')))
      })
      rig.act((answer) => answer.gate(() => one))
      const session = await openSession(rig.gateway)
      rig.answer('chat', 'Hello ', 'there')
      session.create({ model: 'chat', input: 'Hi' })
      await until(() => one.held.length > 0)
      session.socket.terminate()
      await until(() => signal?.aborted === true && one.held.at(-1)?.final === true)
      await rig.gateway.row(({ result }) => result === 'client_closed')
    })
  })
})
