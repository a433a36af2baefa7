import { expect } from 'chai'
import type { GenerateEvent, HeldEvents, UpstreamAnswer } from '../../../engine/index.ts'
import { until } from '../../support/until.ts'
import { chatFrames, printed } from '../../service/streams.ts'
import { Rig, everyClient, everyKind, gate, got, later, stepped, textsOf } from './rig.ts'
import type { Seen } from './rig.ts'

const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
const start: GenerateEvent = { type: 'start', model: 'm' }
const finish: GenerateEvent = { type: 'finish', stop: 'end', usage }
const delta = (text: string, index = 0): GenerateEvent => ({ type: 'delta', index, text })
const message = (index: number): readonly GenerateEvent[] => [
  { type: 'item', index, item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'part', index, kind: 'text' },
]
const call = (index: number): GenerateEvent => ({
  type: 'item',
  index,
  item: { type: 'call', kind: 'function', callId: `c${index}`, name: 'tool', input: '' },
})
const end = (index: number): GenerateEvent => ({ type: 'item-end', index })

describe('the windows of a gate', () => {
  const rig = new Rig(({ url }) => ({
    providers: [{ name: 'vectors', type: 'compatible', base_url: url, api_key: 'k', offers: ['embeddings'] }],
    models: [{ name: 'vectors', provider: 'vectors', protocols: ['embeddings'] }],
  }))

  /** What a gate is shown of an answer, and what its client gets. */
  async function shown(given: Parameters<typeof gate>[0], events: readonly GenerateEvent[], waits = false) {
    const one = gate(given, waits ? later() : undefined)
    rig.says(events)
    rig.act((answer) => answer.gate(() => one))
    return { held: one.held, answer: await rig.get('chat', 'neutral', true) }
  }
  const hello = (...texts: readonly string[]) => [
    start,
    ...message(0),
    ...texts.map((one) => delta(one)),
    end(0),
    finish,
  ]

  for (const waits of [false, true]) {
    const way = waits ? 'later' : 'at once'

    it(`end after so many characters of new text: ${way}`, async () => {
      const { held, answer } = await shown({ characters: 5 }, hello('ab', 'cd', 'efgh', 'i', 'jklmn', 'o'), waits)
      expect(textsOf(held)).to.deep.equal(['abcdefgh', 'ijklmn', 'o'])
      expect(held.map(({ from }) => from)).to.deep.equal([0, 8, 14])
      expect(held.map(({ final }) => final)).to.deep.equal([false, false, true])
      expect(held.map(({ last }) => last)).to.deep.equal([undefined, undefined, 'finish'])
      expect(held.flatMap(({ events }) => events)).to.deep.equal(hello('ab', 'cd', 'efgh', 'i', 'jklmn', 'o'))
      expect(answer.text).to.equal('abcdefghijklmno')
    })

    it(`are each event where no character is waited for: ${way}`, async () => {
      const { held } = await shown({ characters: 0 }, hello('ab', 'cd'), waits)
      expect(held.map(({ events }) => events.length)).to.deep.equal([1, 1, 1, 1, 1, 1, 1])
    })

    it(`are what came in one read, or meanwhile, where a gate wants that together: ${way}`, async () => {
      const pieces = Array.from({ length: 400 }, (_, number) => `piece ${number},`)
      const [start, one] = chatFrames('one').map(printed)
      const rest = chatFrames('one').slice(2).map(printed).join('')
      const body = [start, ...pieces.map((piece) => (one as string).replace('one', piece)), rest].join('')
      const gates = [0, 1].map(() => gate({ characters: 0, together: true }, waits ? later() : undefined))
      rig.upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: [body] })
      rig.act((answer) => gates.reduce((given, each) => given.gate(() => each), answer))
      expect((await rig.get('chat', 'chat', true)).text).to.equal(pieces.join(''))
      for (const { held } of gates) {
        expect(textsOf(held).join('')).to.equal(pieces.join(''))
        expect(held.length).to.be.within(1, 40)
        expect(held.map(({ final }) => final).indexOf(true)).to.equal(held.length - 1)
      }
    })

    it(`are each event where it comes alone: ${way}`, async () => {
      const { held, answer } = await shown({ characters: 0, together: true }, hello('ab', 'cd'), waits)
      expect(held.flatMap(({ events }) => events)).to.deep.equal(hello('ab', 'cd'))
      expect(answer.text).to.equal('abcd')
      if (!waits) expect(held).to.have.length(7)
    })

    it(`are the whole answer where none ends them: ${way}`, async () => {
      const { held } = await shown({}, hello('ab', 'cd'), waits)
      expect(held).to.have.length(1)
      expect(held[0]).to.deep.include({ final: true, last: 'finish', from: 0 })
      expect(held[0]?.texts).to.deep.equal([{ index: 0, part: 'text', before: '', text: 'abcd' }])
    })

    it(`show the last characters of a part once more: ${way}`, async () => {
      const second = [end(0), ...message(1), delta('xy', 1), end(1), finish]
      const { held } = await shown(
        { characters: 2, overlap: 3 },
        [...hello('ab', 'c', 'de', 'fghij', 'k').slice(0, -2), ...second],
        waits,
      )
      expect(held.flatMap(({ texts }) => texts.map(({ index, before, text }) => [index, before, text]))).to.deep.equal([
        [0, '', 'ab'],
        [0, 'ab', 'cde'],
        [0, 'cde', 'fghij'],
        [0, 'hij', 'k'],
        [1, '', 'xy'],
      ])
    })

    it(`hold calls until they are whole, and let other events pass them: ${way}`, async () => {
      const events = [
        start,
        call(0),
        delta('{"a":', 0),
        ...message(1),
        delta('said', 1),
        delta('1}', 0),
        end(1),
        end(0),
        call(2),
        delta('{}', 2),
        finish,
      ]
      const { held, answer } = await shown({ characters: 1, calls: true }, events, waits)
      const texts = held.flatMap(({ texts }) => texts.map(({ part, text }) => [part, text]))
      expect(texts).to.deep.equal([
        ['text', 'said'],
        ['call', '{"a":1}'],
        ['call', '{}'],
      ])
      expect(answer.text).to.equal('said')
      expect(answer.body).to.include('{\\"a\\":').and.include('"1}"').and.include('"{}"')
    })
  }

  it('never show a call that broke off', async () => {
    const events = [start, ...message(0), delta('said'), call(1), delta('{"half":', 1)]
    const { held, answer } = await shown({ characters: 1, calls: true }, events)
    expect(textsOf(held)).to.deep.equal(['said', ''])
    expect(held.at(-1)).to.include({ final: true, last: 'failure' })
    expect(answer.body).to.include('said').and.include('error').and.not.include('half').and.not.include('tool_calls')
  })

  it('are judged one after the other, each once', async () => {
    let out = 0
    const judge = later(() => {
      out -= 1
      return 'pass'
    })
    const one = gate({ characters: 0 }, (...given) => {
      out += 1
      expect(out).to.equal(1)
      return judge(...given)
    })
    rig.act((answer) => answer.gate(() => one))
    const events = hello('a', 'b', 'c', 'd')
    rig.says(events)
    expect((await rig.get('chat', 'neutral', true)).text).to.equal('abcd')
    expect(one.held.flatMap((held) => held.events)).to.deep.equal(events)
  })

  it('are there for "generate" alone', async () => {
    const vectors = { object: 'list', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } }
    const asked = () => rig.gateway.post('/v1/embeddings', { model: 'vectors', input: 'Hi' })
    for (const act of [
      (answer: UpstreamAnswer) => answer.gate(() => gate({})),
      (answer: UpstreamAnswer) => answer.shown(() => ({ event: (event) => [event] })),
    ]) {
      rig.upstream.answer({ body: vectors })
      const forget = rig.act(act)
      expect((await asked()).status).to.equal(501)
      forget()
    }
    expect((await asked()).status).to.equal(200)
  })

  it('name the kind of each text', async () => {
    const events: GenerateEvent[] = [
      start,
      { type: 'item', index: 0, item: { type: 'reasoning', parts: [{ kind: 'text', text: 'opened' }] } },
      { type: 'part', index: 0, kind: 'summary' },
      delta('summed', 0),
      { type: 'part', index: 0, kind: 'reasoning' },
      delta('thought', 0),
      end(0),
      {
        type: 'item',
        index: 1,
        item: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'given' }] },
      },
      { type: 'part', index: 1, kind: 'text' },
      delta('said', 1),
      { type: 'part', index: 1, kind: 'refusal' },
      delta('refused', 1),
      end(1),
      {
        type: 'item',
        index: 2,
        item: { type: 'call', kind: 'function', callId: 'c', name: 'tool', input: '{"a"' },
      },
      delta(':1}', 2),
      end(2),
      finish,
    ]
    const { held } = await shown({}, events)
    expect(held[0]?.texts.map(({ index, part, text }) => [index, part, text])).to.deep.equal([
      [0, 'reasoning', 'opened'],
      [0, 'reasoning', 'summed'],
      [0, 'reasoning', 'thought'],
      [1, 'text', 'given'],
      [1, 'text', 'said'],
      [1, 'refusal', 'refused'],
      [2, 'call', '{"a":1}'],
    ])
  })

  it('show texts of items that were never opened, too', async () => {
    const { held } = await shown({}, [start, delta('lost', 7), finish])
    expect(textsOf(held)).to.deep.equal(['lost'])
  })

  it('end some time after their first event, also while the upstream is silent', async () => {
    const { script, go } = stepped(chatFrames('Hello ', 'there'))
    rig.upstream.answer(script)
    const one = gate({ time: 32 })
    rig.act((answer) => answer.gate(() => one))
    const asked = rig.ask('chat', 'chat', true)
    go(2)
    await until(() => textsOf(one.held).includes('Hello '))
    expect(one.held.every(({ final }) => !final)).to.equal(true)
    const before = one.held.length
    go()
    expect((await got('chat', await asked, true)).text).to.equal('Hello there')
    expect(textsOf(one.held.slice(before)).join('')).to.equal('there')
  })

  it('have no time while a judgement is out', async () => {
    const [slow, other] = [stepped(chatFrames('Hello ', 'there')), stepped(chatFrames('Hello ', 'there'))]
    rig.upstream.answer(slow.script, other.script)
    const judging = Promise.withResolvers<'pass'>()
    const judged = gate({ characters: 1, time: 16 }, ({ texts }) =>
      texts.some(({ text }) => text === 'Hello ') ? judging.promise : 'pass',
    )
    const beside = gate({ time: 16 })
    const gates = [judged, beside]
    let read = 0
    rig.act((answer) => {
      const one = gates.shift() as Seen
      return answer.watch(({ type }) => void (one === judged && type === 'delta' && read++)).gate(() => one)
    })
    const first = rig.ask('chat', 'chat', true)
    slow.go(2)
    await until(() => judged.held.some(({ texts }) => texts.length > 0))
    const count = judged.held.length
    slow.go(1)
    await until(() => read === 2)
    // The same timer ends a window of another answer meanwhile.
    const second = rig.ask('chat', 'chat', true)
    other.go(2)
    await until(() => textsOf(beside.held).includes('Hello '))
    expect(judged.held).to.have.length(count)
    judging.resolve('pass')
    slow.go()
    other.go()
    for (const response of [await first, await second])
      expect((await got('chat', response, true)).text).to.equal('Hello there')
    expect(textsOf(judged.held).join('')).to.equal('Hello there')
  })

  it('share one timer for each interval, which ends with them', async () => {
    const { setInterval: begin, clearInterval: stop } = globalThis
    const running = new Set<unknown>()
    let most = 0
    const spied = (...given: Parameters<typeof begin>) => {
      const timer = begin(...given)
      if (given[1] === 3_600_000 / 16) most = Math.max(most, running.add(timer).size)
      return timer
    }
    Object.assign(globalThis, {
      setInterval: spied,
      clearInterval: (timer: NodeJS.Timeout) => {
        running.delete(timer)
        stop(timer)
      },
    })
    try {
      const gates: Seen[] = []
      let read = 0
      rig.act((answer) => {
        const one = gate({ time: 3_600_000 })
        gates.push(one)
        return answer.watch(({ type }) => void (type === 'delta' && read++)).gate(() => one)
      })
      const scripts = [0, 1, 2].map(() => stepped(chatFrames('Hello ')))
      rig.upstream.answer(...(scripts.map(({ script }) => script) as [never]))
      const responses = scripts.map(() => rig.ask('chat', 'chat', true))
      for (const { go } of scripts) go(2)
      await until(() => read === 3)
      expect(running.size).to.equal(1)
      for (const { go } of scripts) go()
      for (const response of responses) expect((await got('chat', await response, true)).text).to.equal('Hello ')
      expect(gates.map(({ held }) => held.length)).to.deep.equal([1, 1, 1])
      expect(most).to.equal(1)
      expect(running.size).to.equal(0)
    } finally {
      Object.assign(globalThis, { setInterval: begin, clearInterval: stop })
    }
  })

  describe('stand in one list with maps and watches', () => {
    const upper = {
      event: (event: GenerateEvent) => [event.type === 'delta' ? { ...event, text: event.text.toUpperCase() } : event],
    }
    for (const client of everyClient)
      for (const model of everyKind)
        it(`in the order in which they were added: ${client} of ${model}`, async () => {
          for (const [stream, judge] of [
            [true, undefined],
            [true, later()],
            [false, later()],
          ] as const) {
            const [first, second] = [gate({ characters: 3 }, judge), gate({ characters: 1 }, judge)]
            const heard: { readonly at: string; readonly text: string }[] = []
            const hear = (at: string) => (event: GenerateEvent) => {
              if (event.type === 'delta') heard.push({ at, text: event.text })
            }
            rig.answer(model, 'Hello ', 'there')
            const forget = rig.act((answer) =>
              answer
                .watch(hear('before'))
                .gate(() => first)
                .map(() => upper)
                .gate(() => second)
                .watch(hear('after')),
            )
            const { text } = await rig.get(client, model, stream)
            forget()
            expect(text).to.equal('HELLO THERE')
            const said = (held: readonly HeldEvents[]) => textsOf(held).join('')
            const told = (at: string) => heard.flatMap((one) => (one.at === at ? [one.text] : [])).join('')
            expect([told('before'), said(first.held), said(second.held), told('after')]).to.deep.equal([
              'Hello there',
              'Hello there',
              'HELLO THERE',
              'HELLO THERE',
            ])
          }
        })
  })
})
