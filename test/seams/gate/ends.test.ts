import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import type { GenerateEvent, HeldEvents, Verdict } from '../../../engine/index.ts'
import { arrived, chatFrames, printed } from '../../service/streams.ts'
import { until } from '../../support/until.ts'
import { Rig, clients, everyClient, everyKind, filter, frames, gate, got, hasFailed, later, textsOf } from './rig.ts'
import type { Seen } from './rig.ts'

const lasts = (held: readonly HeldEvents[]) => held.flatMap(({ final, last }) => (final ? [last] : []))

describe('the end of an answer with gates', () => {
  const rig = new Rig()

  /** A client that leaves when a judgement is out. */
  async function leave(one: Seen, model = 'chat') {
    const leaving = new AbortController()
    rig.upstream.answer({ frames: chatFrames('Hello ', 'there').slice(0, 2), ending: 'hang' })
    const response = await rig.ask('chat', model, true, leaving.signal)
    await until(() => one.held.length > 0)
    leaving.abort()
    await response.text().catch(() => undefined)
  }

  for (const client of everyClient)
    for (const model of everyKind) {
      it(`stops the upstream, and bills what was read, as for a client that left: ${client} of ${model}`, async () => {
        const shorter = frames[model]('Hello '.repeat(50), 'there')
        rig.upstream.answer({
          frames: shorter.slice(0, model === 'responses' ? 5 : model === 'chat' ? 3 : 4),
          ending: 'hang',
        })
        rig.act((answer) =>
          answer.gate(() =>
            gate(
              { characters: 1 },
              later(({ texts }) => (texts.length > 0 ? filter : 'pass')),
            ),
          ),
        )
        const answer = await got(client, await rig.ask(client, model, true), true)
        expect(answer.text).to.equal('')
        expect(hasFailed(client, answer), answer.body).to.equal(false)
        await rig.upstream.closed()
        const row = await rig.row()
        expect(row).to.include({ result: 'completed', status: 200 })
        expect(row.metadata).to.include('estimated')
        expect(row.output_tokens).to.be.within(40, 200)
        expect(row.input_tokens).to.be.at.least(1)
      })

      it(`fails where a judge throws, with the reason in the log alone: ${client} of ${model}`, async () => {
        for (const judge of [
          () => {
            throw new Error('of no concern to clients')
          },
          async () => {
            throw new Error('of no concern to clients')
          },
        ]) {
          const lines = rig.gateway.lines.length
          const heard: string[] = []
          const forget = rig.act((answer) =>
            answer.gate(() => gate({ characters: 1 }, judge)).watch(({ type }) => void heard.push(type)),
          )
          rig.answer(model, 'Hello ', 'there')
          const streamed = await rig.get(client, model, true)
          expect(hasFailed(client, streamed), streamed.body).to.equal(true)
          expect(streamed.body).to.not.include('Hello').and.not.include('concern')
          const whole = await rig.get(client, model, false)
          expect(whole.status).to.equal(500)
          expect(whole.body).to.not.include('Hello').and.not.include('concern')
          forget()
          expect(heard).to.deep.equal(['failure', 'failure'])
          const told = rig.gateway.lines
            .slice(lines)
            .filter((line) => line.includes('a stage failed to judge an answer'))
          expect(told).to.have.length(2)
          expect(told[0])
            .to.match(/generate\.yaml:\d+:\d+ \(gate\.act\)/)
            .and.include('of no concern to clients')
          expect(await rig.row()).to.include({ result: 'failed', error: 'internal_error' })
        }
      })

      it(`is a last window where the upstream breaks off: ${client} of ${model}`, async () => {
        for (const judge of [undefined, later()]) {
          rig.upstream.answer({ ...arrived(frames[model]('Hello ', 'there').slice(0, 5)), ending: 'reset' })
          const one = gate({}, judge)
          const forget = rig.act((answer) => answer.gate(() => one))
          const answer = await rig.get(client, model, true)
          forget()
          expect(lasts(one.held)).to.deep.equal(['failure'])
          expect(one.held.at(-1)?.events.at(-1)?.type).to.equal('failure')
          expect(textsOf(one.held).join('')).to.include('Hello ')
          // It may pass, and nobody is told that the answer was whole.
          expect(answer.text).to.include('Hello ')
          expect(hasFailed(client, answer), answer.body).to.equal(true)
        }
      })
    }

  it('closes what is open before a stop, with the usage of the provider where it is known', async () => {
    rig.answer('messages', 'Hello ', 'there')
    const read: GenerateEvent[] = []
    const judge = ({ final }: HeldEvents): Verdict => (final ? filter : 'pass')
    rig.act((answer) => answer.gate(() => gate({ characters: 11 }, judge)).watch((event) => read.push(event)))
    await rig.get('messages', 'messages', true)
    expect(read.map(({ type }) => type)).to.deep.equal([
      'start',
      'item',
      'part',
      'delta',
      'delta',
      'item-end',
      'finish',
    ])
    expect(read.at(-1)).to.deep.include({ type: 'finish', stop: 'filter' })
    expect(read.at(-1)).to.have.nested.property('usage.output', 4)
    const row = await rig.row()
    expect(row).to.include({ output_tokens: 4, input_tokens: 9 })
    expect(row.metadata).to.not.include('estimated')
  })

  it('may be a failure that a gate gives', async () => {
    rig.answer('chat', 'Hello ', 'there')
    const { failure } = new GatewayError('refused', {}, { message: 'Not this.' })
    rig.act((answer) => answer.gate(() => gate({ characters: 6 }, () => ({ stop: { type: 'failure', failure } }))))
    const answer = await rig.get('messages', 'chat', true)
    expect(answer.body).to.include('Not this.').and.not.include('Hello')
    expect(hasFailed('messages', answer)).to.equal(true)
    const whole = await rig.get('messages', 'chat', false)
    expect(whole.status).to.equal(403)
  })

  it('comes once, whatever other handlers do', async () => {
    const heard: string[] = []
    const ending = { event: (event: GenerateEvent) => [event, { type: 'finish', stop: 'length' } as const] }
    const [one, two] = [gate({ characters: 1 }, later()), gate({ characters: 1 }, later())]
    rig.act((answer) =>
      answer
        .gate(() => one)
        .map(() => ending)
        .gate(() => two)
        .watch(({ type }) => void heard.push(type)),
    )
    rig.upstream.answer({ frames: chatFrames('Hello ', 'there').slice(0, 3), ending: 'hang' })
    const { body } = await rig.get('chat', 'chat', true)
    expect(body.match(/"finish_reason":"\w+"/g)).to.deep.equal(['"finish_reason":"length"'])
    expect(heard.filter((type) => type === 'finish')).to.have.length(1)
    expect(lasts(two.held)).to.deep.equal(['finish'])
    await rig.upstream.closed()
    // What was before hears that it ends when the exchange does.
    await until(() => lasts(one.held).length === 1)
    expect(lasts(one.held)).to.deep.equal(['failure'])
  })

  for (const [name, verdict] of Object.entries({
    nothing: undefined,
    'a word': 'pas',
    'an object of another form': { pass: true },
    'a stop that is no end': { stop: { type: 'delta', index: 0, text: 'x' } },
    'events that are none': { replace: 'pass' },
    'a part without a kind': {
      replace: [
        { type: 'start' },
        { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
        { type: 'part', index: 0 },
      ],
    },
    'a text of an item that was never opened': { replace: [{ type: 'delta', index: 7, text: 'x' }] },
    'an error that is none of ours': { fail: new Error('no') },
  }))
    for (const waits of [false, true])
      it(`is a failure where a verdict is ${name}, which is logged: ${waits ? 'later' : 'at once'}`, async () => {
        const judge = () => verdict as Verdict
        rig.act((answer) => answer.gate(() => gate({ characters: 1 }, waits ? later(judge) : judge)))
        for (const client of everyClient) {
          const lines = rig.gateway.lines.length
          rig.answer('chat', 'Hello ', 'there')
          const answer = await rig.get(client, 'chat', true)
          expect(hasFailed(client, answer), answer.body).to.equal(true)
          expect(answer.body).to.not.include('Hello')
          expect((await rig.get(client, 'chat', false)).status).to.equal(500)
          const told = rig.gateway.lines
            .slice(lines)
            .filter((line) => line.includes('a stage failed to judge an answer'))
          expect(told).to.have.length(2)
        }
      })

  it('is a failure where a gate cannot be made', async () => {
    rig.act((answer) =>
      answer.gate(() => {
        throw new Error('of no concern to clients')
      }),
    )
    for (const client of everyClient) {
      rig.answer('chat', 'Hello ', 'there')
      const answer = await rig.get(client, 'chat', true)
      expect(hasFailed(client, answer), answer.body).to.equal(true)
      expect(answer.body).to.not.include('Hello').and.not.include('concern')
      expect((await rig.get(client, 'chat', false)).status).to.equal(500)
    }
  })

  describe('whose client leaves', () => {
    it('aborts the judge before the upstream, and settles when it has judged', async () => {
      const order: string[] = []
      const judging = Promise.withResolvers<Verdict>()
      const one = gate({ characters: 1 }, ({ texts }, signal) => {
        if (texts.length === 0) return 'pass'
        signal.addEventListener('abort', () => order.push(`signal, read of ${rig.upstream.requests.length}`))
        return judging.promise
      })
      rig.act((answer, act) => {
        act.settled = () => order.push('settled')
        // The provider's failure is the first event that tells that its connection has closed.
        return answer.watch(({ type }) => void (type === 'failure' && order.push('upstream'))).gate(() => one)
      })
      await leave(one)
      await until(() => order.length === 2)
      await rig.upstream.closed()
      expect(order).to.deep.equal([`signal, read of ${rig.upstream.requests.length}`, 'upstream'])
      judging.resolve('pass')
      await until(() => order.length === 3)
      expect(order.at(-1)).to.equal('settled')
      expect(lasts(one.held)).to.deep.equal(['failure'])
      const row = await rig.row()
      expect(row).to.include({ result: 'client_closed' })
      expect(row.metadata).to.include('estimated')
      expect(row.output_tokens).to.be.at.least(1)
    })

    it('drops the verdict of a judge that hangs, and settles after 5 seconds', async () => {
      const judging = Promise.withResolvers<Verdict>()
      const one = gate({ characters: 1 }, () => judging.promise)
      const heard: string[] = []
      const lines = rig.gateway.lines.length
      let settled = 0
      let aborted = 0
      rig.act((answer, act) => {
        act.settled = () => void (settled = performance.now())
        act.scope.onAbort(() => void (aborted = performance.now()))
        return answer.gate(() => one).watch(({ type }) => void heard.push(type))
      })
      await leave(one)
      await until(() => settled > 0)
      expect(settled - aborted).to.be.within(4_900, 60_000)
      judging.resolve('pass')
      await rig.row()
      expect(
        rig.gateway.lines.slice(lines).filter((line) => line.includes('a judgement took too long')),
      ).to.have.length(1)
      expect(heard.filter((type) => type !== 'failure')).to.deep.equal([])
      expect(one.held).to.have.length(1)
    }).timeout(120_000)

    it('hears of it where the judgement of a whole answer is out', async () => {
      for (const stream of [true, false]) {
        const judging = Promise.withResolvers<Verdict>()
        let signal: AbortSignal | undefined
        const one = gate({}, (_, given) => {
          signal = given
          return judging.promise
        })
        const forget = rig.act((answer) => answer.gate(() => one, { before: 'reply' }))
        rig.answer('chat', 'Hello ', 'there')
        const leaving = new AbortController()
        const asked = rig.ask('chat', 'chat', stream, leaving.signal).catch(() => undefined)
        await until(() => one.held.length === 1)
        leaving.abort()
        await asked
        await until(() => signal?.aborted === true)
        judging.resolve('pass')
        forget()
        expect(await rig.row()).to.include({ result: 'client_closed', error: 'client_closed' })
      }
    })
  })

  it('counts the deadline of the stage, whose exchange then fails', async () => {
    const one = gate({}, () => new Promise<Verdict>(() => undefined))
    let aborted = false
    rig.act((answer) =>
      answer.gate(() => ({
        ...one,
        judge: (held, signal) => {
          signal.addEventListener('abort', () => (aborted = true))
          return one.judge(held, signal)
        },
      })),
    )
    rig.answer('chat', 'Hello')
    const { messages } = clients.chat.body
    const response = await rig.gateway.post('/hasty', { messages, model: 'chat' })
    expect(response.status).to.equal(504)
    expect(aborted).to.equal(true)
    expect(await rig.row()).to.include({ result: 'failed', error: 'stage_timeout' })
  })

  it('passes unknown frames of the upstream as they pass without a gate', async () => {
    const strange = [
      'data: {"object":"chat.completion.chunk","choices":[]}\n\n',
      ': nothing\n\n',
      'event: odd\ndata: {}\n\n',
    ]
    const texts = chatFrames('Hello ', 'there').map(printed)
    const chunks = [...texts.slice(0, 2), ...strange, ...texts.slice(2)]
    const headers = { 'content-type': 'text/event-stream' }
    rig.upstream.answer({ headers, chunks })
    const plain = await rig.get('messages', 'chat', true)
    const one = gate({ characters: 1 }, later())
    rig.act((answer) => answer.gate(() => one))
    rig.upstream.answer({ headers, chunks })
    const gated = await rig.get('messages', 'chat', true)
    expect(gated.text).to.equal(plain.text)
    expect(gated.data.length).to.equal(plain.data.length)
  })
})
