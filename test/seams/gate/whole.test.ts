import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import type { GenerateEvent, HeldEvents, Verdict } from '../../../engine/index.ts'
import { until } from '../../support/until.ts'
import { arrived, chatFrames, messagesFrames } from '../../service/streams.ts'
import {
  Rig,
  everyClient,
  everyKind,
  filter,
  filtered,
  frames,
  gate,
  got,
  hasFailed,
  later,
  stepped,
  stopOf,
  textsOf,
  whole,
} from './rig.ts'
import type { Seen } from './rig.ts'

const again = () =>
  new GatewayError('refused', {}, { status: 409, tags: ['guard', '5xx'], retry: 'other', message: 'Not this.' })

describe('a whole answer with gates', () => {
  const rig = new Rig()

  for (const client of everyClient)
    for (const model of everyKind)
      for (const [asked, given] of [
        [false, false],
        [false, true],
        [true, false],
      ] as const) {
        const way = `${client} of ${model}, ${given ? 'folded from a stream' : asked ? 'for a client that streams' : 'whole'}`
        const script = () =>
          rig.upstream.answer(given ? { frames: frames[model]('Hello ', 'there') } : { body: whole[model] })

        it(`is one last window: ${way}`, async () => {
          for (const judge of [undefined, later()]) {
            const [first, second] = [
              gate({ characters: 1, overlap: 3 }, judge),
              gate({ characters: 0, time: 16 }, judge),
            ]
            const forget = rig.act((answer) => answer.gate(() => first).gate(() => second))
            script()
            const answer = await rig.get(client, model, asked)
            forget()
            expect(answer.text, answer.body).to.equal('Hello there')
            for (const { held } of [first, second]) {
              expect(held).to.have.length(1)
              expect(held[0]).to.deep.include({ final: true, last: 'finish', from: 0 })
              expect(held[0]?.texts).to.deep.equal([{ index: 0, part: 'text', before: '', text: 'Hello there' }])
            }
            expect(await rig.row()).to.include({
              result: 'completed',
              output_tokens: 4,
              input_tokens: 9,
            })
          }
        })

        it(`is stopped, and billed as the provider reported: ${way}`, async () => {
          rig.act((answer) =>
            answer.gate(() =>
              gate(
                {},
                later(() => filter),
              ),
            ),
          )
          script()
          const answer = await rig.get(client, model, asked)
          expect(answer.status).to.equal(200)
          expect(answer.text).to.equal('')
          expect(stopOf(client, answer), answer.body).to.equal(filtered[client])
          expect(await rig.row()).to.include({
            result: 'completed',
            output_tokens: 4,
            input_tokens: 9,
          })
        })

        it(`fails inside the try, and its tokens are billed: ${way}`, async () => {
          rig.act((answer) =>
            answer.gate(() =>
              gate(
                {},
                later(() => ({ fail: again() })),
              ),
            ),
          )
          script()
          const answer = await rig.get(client, model, asked)
          expect(answer.status).to.equal(409)
          expect(answer.body).to.include('Not this.').and.not.include('Hello')
          const row = await rig.row()
          expect(row).to.include({ result: 'failed', error: 'refused', output_tokens: 4, input_tokens: 9 })
        })
      }

  it('is followed by the next candidate where a gate fails it with a tag that the attempt knows', async () => {
    rig.act((answer, { model }) =>
      answer.gate(() =>
        gate(
          {},
          later(() => (model === 'first' ? { fail: again() } : 'pass')),
        ),
      ),
    )
    for (const stream of [false, true]) {
      rig.upstream.answer(({ path }) => ({ body: path.endsWith('/messages') ? whole.messages : whole.chat }))
      const answer = await rig.get('responses', 'first', stream)
      expect(answer.text, answer.body).to.equal('Hello there')
      expect(answer.headers.get('x-gateway-model')).to.equal('messages')
      const row = await rig.row()
      expect(row).to.include({ result: 'completed', output_tokens: 8, input_tokens: 18 })
    }
  })
})

describe('a gate before the reply', () => {
  const rig = new Rig()
  const before = { before: 'reply' } as const
  const both = () =>
    rig.upstream.answer(({ path }) => ({
      frames: path.endsWith('/messages') ? messagesFrames('Hello ', 'there') : chatFrames('Hello ', 'there'),
    }))

  for (const client of everyClient) {
    it(`fails the try, and the next candidate is asked: ${client}`, async () => {
      for (const waits of [false, true]) {
        const judge = (model: string) => (): Verdict => (model === 'first' ? { fail: again() } : 'pass')
        const settled: string[] = []
        const forget = rig.act((answer, act) => {
          act.settled = () => settled.push(act.model)
          const one = judge(act.model)
          return answer.gate(() => gate({}, waits ? later(one) : one), before)
        })
        both()
        const answer = await rig.get(client, 'first', true)
        forget()
        expect(answer.status, answer.body).to.equal(200)
        expect(answer.text, answer.body).to.equal('Hello there')
        expect(answer.headers.get('x-gateway-model')).to.equal('messages')
        const row = await rig.row()
        expect(row).to.include({ result: 'completed', output_tokens: 8, input_tokens: 18 })
        expect(row.metadata).to.include('"code":"refused"')
        expect(settled).to.deep.equal(['first', 'messages'])
      }
    })

    it(`is the error where no candidate is left: ${client}`, async () => {
      rig.act((answer) =>
        answer.gate(
          () =>
            gate(
              { characters: 1 },
              later(() => ({ fail: again() })),
            ),
          before,
        ),
      )
      both()
      const answer = await rig.get(client, 'messages', true)
      expect(answer.status, answer.body).to.equal(409)
      expect(answer.body).to.include('Not this.').and.not.include('Hello')
      const row = await rig.row()
      expect(row).to.include({ result: 'failed', error: 'refused' })
      expect(row.output_tokens).to.be.at.least(1)
    })
  }

  it('lets the headers wait for its first verdict, and the rest flow as without', async () => {
    const judging = Promise.withResolvers<Verdict>()
    const one = gate({ characters: 6 }, (_, __, count) => (count === 1 ? judging.promise : 'pass'))
    rig.act((answer) => answer.gate(() => one, before))
    both()
    let came = false
    const asked = rig.ask('chat', 'messages', true)
    void asked.then(() => (came = true))
    await until(() => one.held.length === 1)
    await rig.upstream.closed()
    expect(came).to.equal(false)
    judging.resolve('pass')
    expect((await got('chat', await asked, true)).text).to.equal('Hello there')
    expect(textsOf(one.held)).to.deep.equal(['Hello ', 'there'])
  })

  it('may end the answer with its first verdict, and the reply is its end', async () => {
    for (const waits of [false, true]) {
      const judge = (): Verdict => filter
      const forget = rig.act((answer) =>
        answer.gate(() => gate({ characters: 1 }, waits ? later(judge) : judge), before),
      )
      both()
      const answer = await rig.get('chat', 'messages', true)
      forget()
      expect(answer.status).to.equal(200)
      expect(stopOf('chat', answer)).to.equal('content_filter')
      expect(answer.text).to.equal('')
    }
  })

  it('fails within the stream where only a later window does', async () => {
    for (const waits of [true, false]) {
      const judge = ({ from }: HeldEvents): Verdict => (from > 0 ? { fail: again() } : 'pass')
      const one = gate({ characters: 1 }, waits ? later(judge) : judge)
      const forget = rig.act((answer) => answer.gate(() => one, before))
      const { script, go } = stepped(chatFrames('Hello ', 'there'))
      rig.upstream.answer(script)
      const asked = rig.ask('chat', 'first', true)
      go(2)
      const response = await asked
      go()
      const answer = await got('chat', response, true)
      forget()
      expect(answer.status).to.equal(200)
      expect(answer.text).to.equal('Hello ')
      expect(hasFailed('chat', answer)).to.equal(true)
      expect(answer.headers.get('x-gateway-model')).to.equal('first')
    }
  })

  it('waits for no gate that does not ask for it', async () => {
    const judging = Promise.withResolvers<Verdict>()
    const one = gate({ characters: 1 })
    const two = gate({}, () => judging.promise)
    rig.act((answer) => answer.gate(() => one, before).gate(() => two))
    both()
    const response = await rig.ask('chat', 'messages', true)
    expect(response.status).to.equal(200)
    judging.resolve('pass')
    expect((await got('chat', response, true)).text).to.equal('Hello there')
  })

  it('fails the try where the upstream breaks off before its first verdict', async () => {
    const gates: Seen[] = []
    rig.act((answer) => {
      const one = gate({}, later())
      gates.push(one)
      return answer.gate(() => one, before)
    })
    rig.upstream.answer({ ...arrived(chatFrames('Hello ').slice(0, 2)), ending: 'reset' })
    const answer = await rig.get('chat', 'chat', true)
    expect(answer.status).to.equal(502)
    expect(answer.body).to.not.include('Hello')
    expect(gates[0]?.held.at(-1)?.last).to.equal('failure')
  })

  it('is asked with the answer of a provider in neutral form, too', async () => {
    const events: readonly GenerateEvent[] = [{ type: 'start' }, { type: 'finish', stop: 'end' }]
    rig.says(events)
    const one = gate(
      {},
      later(() => ({ fail: again() })),
    )
    rig.act((answer) => answer.gate(() => one, before))
    expect((await rig.get('chat', 'neutral', true)).status).to.equal(409)
    expect(one.held).to.have.length(1)
  })
})
