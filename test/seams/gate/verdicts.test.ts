import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import type { GenerateEvent, Verdict } from '../../../engine/index.ts'
import { Rig, everyClient, everyKind, filter, filtered, gate, hasFailed, later, stopOf, textsOf } from './rig.ts'
import type { Seen } from './rig.ts'

const denial: readonly GenerateEvent[] = [
  { type: 'start', model: 'm' },
  { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'part', index: 0, kind: 'text' },
  { type: 'delta', index: 0, text: 'No.' },
  { type: 'item-end', index: 0 },
  { type: 'finish', stop: 'filter' },
]

describe('a verdict of a gate', () => {
  const rig = new Rig()
  const judging = (verdict: (text: string, count: number) => Verdict, waits: boolean): readonly Seen[] => {
    const gates: Seen[] = []
    rig.act((answer) => {
      const judge = ({ texts }: Parameters<Seen['judge']>[0], _: AbortSignal, count: number) =>
        verdict(texts.map(({ text }) => text).join(''), count)
      const one = gate({ characters: 1 }, waits ? later(judge) : judge)
      gates.push(one)
      return answer.gate(() => one)
    })
    return gates
  }

  for (const waits of [false, true])
    for (const client of everyClient)
      for (const model of [...everyKind, 'neutral'] as const) {
        const way = `${client} of ${model}, ${waits ? 'later' : 'at once'}`
        const ask = async (stream: boolean, ...texts: readonly string[]) => {
          if (model !== 'neutral') rig.answer(model, ...texts)
          return rig.get(client, model, stream)
        }

        it(`passes: ${way}`, async () => {
          const gates = judging(() => 'pass', waits)
          const answer = await ask(true, 'Hello ', 'there')
          expect(answer.text, answer.body).to.equal('Hello there')
          expect(hasFailed(client, answer)).to.equal(false)
          expect(textsOf(gates[0]?.held ?? []).join('')).to.equal('Hello there')
          expect(gates[0]?.held.map(({ final }) => final)).to.deep.equal([false, false, true])
          expect(gates[0]?.held.at(-1)?.last).to.equal('finish')
          expect(await rig.row()).to.include({ result: 'completed', output_tokens: 4 })
          const whole = await ask(false)
          expect(whole.text, whole.body).to.equal('Hello there')
          expect(textsOf(gates[1]?.held ?? [])).to.deep.equal(['Hello there'])
        })

        it(`replaces: ${way}`, async () => {
          const said = (event: GenerateEvent) =>
            event.type === 'delta' ? { ...event, text: event.text.toUpperCase() } : event
          const replacing = (answer: Seen) => ({
            ...answer,
            judge: waits
              ? async ({ events }: Parameters<Seen['judge']>[0]) => ({ replace: events.map(said) })
              : ({ events }: Parameters<Seen['judge']>[0]) => ({ replace: events.map(said) }),
          })
          rig.act((answer) => answer.gate(() => replacing(gate({ characters: 1 }))))
          for (const stream of [true, false]) {
            const { text, body } = await ask(stream, 'Hello ', 'there')
            expect(text, body).to.equal('HELLO THERE')
          }
        })

        it(`stops in the middle of the text: ${way}`, async () => {
          judging((text) => (text.includes('there') ? filter : 'pass'), waits)
          const answer = await ask(true, 'Hello ', 'there', ' again')
          expect(answer.status).to.equal(200)
          expect(answer.text, answer.body).to.equal('Hello ')
          expect(hasFailed(client, answer), answer.body).to.equal(false)
          expect(stopOf(client, answer), answer.body).to.equal(filtered[client])
          if (client === 'responses' || client === 'chat') expect(answer.data.at(-1)).to.equal('[DONE]')
          const row = await rig.row()
          expect(row).to.include({ result: 'completed', status: 200 })
          expect(row.output_tokens).to.be.at.least(1)
          expect(row.input_tokens).to.be.at.least(1)
        })

        it(`gives another answer from its beginning: ${way}`, async () => {
          judging(() => ({ replace: denial }), waits)
          for (const stream of [true, false]) {
            const answer = await ask(stream, 'Hello ', 'there')
            expect(answer.text, answer.body).to.equal('No.')
            expect(stopOf(client, answer), answer.body).to.equal(filtered[client])
          }
        })

        it(`fails: ${way}`, async () => {
          judging(
            (text) => (text === '' ? 'pass' : { fail: new GatewayError('refused', {}, { message: 'Not this.' }) }),
            waits,
          )
          const streamed = await ask(true, 'Hello ', 'there')
          expect(streamed.text).to.equal('')
          expect(hasFailed(client, streamed), streamed.body).to.equal(true)
          expect(streamed.body).to.include('Not this.')
          expect(await rig.row()).to.include({ result: 'failed', error: 'refused' })
          const whole = await ask(false)
          expect(whole.status).to.equal(403)
          expect(whole.body).to.include('Not this.').and.not.include('Hello')
        })
      }
})
