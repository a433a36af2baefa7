import { expect } from 'chai'
import { chatFrames, printed } from '../../service/streams.ts'
import { until } from '../../support/until.ts'
import { Rig, everyClient, gate, got, later, stepped, textsOf } from './rig.ts'
import type { ByteBudget, Verdict } from '../../../engine/index.ts'

const mebibyte = 1024 * 1024
const signs: Readonly<Record<string, string>> = { messages: 'event: ping\ndata: {"type":"ping"}\n\n' }
const comment = ': keepalive\n\n'

/** Chunks of a long answer, which an upstream writes as its client reads. */
function* long(count: number, text: string) {
  const [start, delta, ...rest] = chatFrames(text).map(printed)
  yield start as string
  for (let sent = 0; sent < count; sent++) yield delta as string
  yield rest.join('')
}
/** The bytes that a budget has left. */
function leftIn(budget: ByteBudget): number {
  let [least, most] = [0, 1024 * mebibyte]
  while (least < most) {
    const half = Math.ceil((least + most) / 2)
    if (budget.take(half)) {
      budget.give(half)
      least = half
    } else most = half - 1
  }
  return least
}

const sse = { 'content-type': 'text/event-stream' }

describe('what gates hold', () => {
  const rig = new Rig(({ url }) => ({
    server_config: { keepalive: { sse_interval: '32ms' } },
    providers: [{ name: 'impatient', type: 'compatible', base_url: url, api_key: 'k', timeouts: { idle: '2s' } }],
    models: [{ name: 'impatient', provider: 'impatient' }],
  }))

  it('pauses the upstream beyond 256 KiB while a judgement is out, and goes on after it', async () => {
    const text = 'x'.repeat(4_000)
    const judging = Promise.withResolvers<Verdict>()
    const one = gate({ characters: 1 }, ({ texts }, _, count) =>
      texts.length > 0 && count < 4 ? judging.promise : 'pass',
    )
    let read = 0
    rig.act((answer) =>
      answer.watch((event) => void (event.type === 'delta' && (read += event.text.length))).gate(() => one),
    )
    rig.upstream.answer({ headers: sse, chunks: long(3_000, text) })
    const asked = rig.upstream.requests.length
    const response = rig.ask('messages', 'chat', true)
    let before = -1
    await until(() => {
      const { sent = 0, blocked = false } = rig.upstream.requests[asked] ?? {}
      const rests = blocked && sent === before && read >= 256 * 1024
      before = sent
      return rests
    })
    // Of what was read, the last chunk may have come beyond the limit.
    expect(read).to.be.within(256 * 1024, 256 * 1024 + 128 * 1024)
    const { sent = 0 } = rig.upstream.requests[asked] ?? {}
    expect(sent).to.be.below(8 * mebibyte)
    judging.resolve('pass')
    expect((await got('messages', await response, true)).text).to.have.length(3_000 * 4_000)
    expect(textsOf(one.held).join('')).to.have.length(3_000 * 4_000)
  }).timeout(60_000)

  it('is judged early where a window has no room', async () => {
    const one = gate({ characters: 10_000_000 })
    rig.act((answer) => answer.gate(() => one))
    rig.upstream.answer({ headers: sse, chunks: long(200, 'x'.repeat(4_000)) })
    expect((await rig.get('chat', 'chat', true)).text).to.have.length(800_000)
    const sizes = textsOf(one.held).map(({ length }) => length)
    expect(sizes.length).to.be.within(3, 5)
    for (const size of sizes.slice(0, -1)) expect(size).to.be.within(240_000, 270_000)
    expect(one.held.map(({ final }) => final).indexOf(true)).to.equal(sizes.length - 1)
  }).timeout(60_000)

  it('is never a part where all of the answer is wanted, however many events it has', async () => {
    const one = gate({})
    rig.act((answer) => answer.gate(() => one))
    rig.upstream.answer({ headers: sse, chunks: long(20_000, 'xy') })
    expect((await rig.get('chat', 'chat', true)).text).to.have.length(40_000)
    expect(one.held.map(({ final }) => final)).to.deep.equal([true])
    expect(textsOf(one.held)[0]).to.have.length(40_000)
  }).timeout(60_000)

  it('fails the answer where all of it is wanted and has no room', async () => {
    const one = gate({})
    let release: () => void = () => undefined
    rig.act((answer, { host: { byteBudget } }) => {
      const taken = leftIn(byteBudget) - 1_000
      byteBudget.take(taken)
      release = () => byteBudget.give(taken)
      return answer.gate(() => one)
    })
    rig.upstream.answer({ headers: sse, chunks: long(100, 'x'.repeat(400)) })
    try {
      const { body } = await rig.get('chat', 'chat', true)
      expect(body).to.include('overloaded').and.not.include('xxx')
      expect(textsOf(one.held).join('')).to.equal('')
    } finally {
      release()
    }
  })

  it('is counted in the budget of bytes, and given back', async () => {
    let budget: ByteBudget | undefined
    let before = 0
    const left = () => (budget ? leftIn(budget) : 0)
    const judging = Promise.withResolvers<Verdict>()
    const one = gate({ characters: 1 }, ({ texts }) => (texts.length > 0 ? judging.promise : 'pass'))
    rig.act((answer, { host }) => {
      budget = host.byteBudget
      before = left()
      return answer.gate(() => gate({ characters: 1 })).gate(() => one)
    })
    const { script, go } = stepped(chatFrames('x'.repeat(100_000)))
    rig.upstream.answer(script)
    const response = rig.ask('chat', 'chat', true)
    go(2)
    await until(() => textsOf(one.held).join('').length === 100_000)
    expect(before - left()).to.be.within(80_000, 120_000)
    judging.resolve('pass')
    go()
    expect((await got('chat', await response, true)).text).to.have.length(100_000)
    await until(() => left() >= before)
  })

  it('is judged early where the budget of bytes is exhausted, and the answer is whole', async () => {
    const one = gate({ characters: 10_000_000 })
    let release: () => void = () => undefined
    rig.act((answer, { host: { byteBudget } }) => {
      const taken = leftIn(byteBudget) - 1_000
      byteBudget.take(taken)
      release = () => byteBudget.give(taken)
      return answer.gate(() => one)
    })
    rig.upstream.answer({ headers: sse, chunks: long(100, 'x'.repeat(400)) })
    try {
      expect((await rig.get('chat', 'chat', true)).text).to.have.length(40_000)
    } finally {
      release()
    }
    // 16 KiB of each answer are not counted.
    expect(one.held.length).to.be.within(3, 4)
    expect(textsOf(one.held)[0]?.length).to.be.within(10_000, 20_000)
  })

  it('fails the answer where a call has no room, as it may not pass before it is whole', async () => {
    let release: () => void = () => undefined
    rig.act((answer, { host: { byteBudget } }) => {
      const taken = leftIn(byteBudget) - 1_000
      byteBudget.take(taken)
      release = () => byteBudget.give(taken)
      return answer.gate(() => gate({ characters: 1, calls: true }))
    })
    rig.says([
      { type: 'start' },
      { type: 'item', index: 0, item: { type: 'call', kind: 'function', callId: 'c', name: 'tool', input: '' } },
      ...Array.from({ length: 100 }, () => ({ type: 'delta', index: 0, text: 'x'.repeat(400) }) as const),
      { type: 'finish', stop: 'tool' },
    ])
    try {
      const { body } = await rig.get('chat', 'neutral', true)
      expect(body).to.include('overloaded').and.not.include('xxx')
    } finally {
      release()
    }
  })

  it('may be a call of more than 256 KiB, which passes when it is whole', async () => {
    const one = gate({ characters: 1, calls: true })
    rig.act((answer) => answer.gate(() => one))
    rig.says([
      { type: 'start' },
      { type: 'item', index: 0, item: { type: 'call', kind: 'custom', callId: 'c', name: 'tool', input: '' } },
      ...Array.from({ length: 200 }, () => ({ type: 'delta', index: 0, text: 'x'.repeat(4_000) }) as const),
      { type: 'item-end', index: 0 },
      { type: 'finish', stop: 'tool' },
    ])
    const { body } = await rig.get('chat', 'neutral', true)
    expect(body.length).to.be.above(800_000)
    expect(
      textsOf(one.held)
        .filter((text) => text !== '')
        .map(({ length }) => length),
    ).to.deep.equal([800_000])
  })

  it('is not read while the client does not read', async () => {
    const one = gate({ characters: 1 }, later())
    rig.act((answer) => answer.gate(() => one))
    rig.upstream.answer({ headers: sse, chunks: long(3_000, 'Hello '.repeat(2_000)) })
    const asked = rig.upstream.requests.length
    const response = await rig.ask('chat', 'chat', true)
    await rig.upstream.when(() => rig.upstream.requests[asked]?.blocked === true)
    expect(rig.upstream.requests[asked]?.sent).to.be.below(20_000_000)
    const text = await response.text()
    expect(text.length).to.be.above(36_000_000)
    expect(text).to.include('[DONE]')
  }).timeout(120_000)

  for (const client of everyClient)
    it(`has its headers with the first event, and keep-alives between events: ${client}`, async () => {
      const judging = Promise.withResolvers<Verdict>()
      const one = gate({}, () => judging.promise)
      rig.act((answer) => answer.gate(() => one))
      const { script, go } = stepped(chatFrames('Hello ', 'there'))
      rig.upstream.answer(script)
      const asked = rig.ask(client, 'chat', true)
      go(1)
      // The answer has begun, though nothing of it is shown.
      const response = await asked
      expect(response.status).to.equal(200)
      expect(response.headers.get('content-type')).to.include('text/event-stream')
      const sign = signs[client] ?? comment
      const decoder = new TextDecoder()
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      const more = async () => {
        const { done, value } = await reader.read()
        text += decoder.decode(value, { stream: true })
        return !done
      }
      while (text.split(sign).length < 4) expect(await more()).to.equal(true)
      expect(text.replaceAll(sign, '')).to.equal('')
      go()
      while (one.held.length === 0) await more()
      const signsBefore = text.split(sign).length
      while (text.split(sign).length < signsBefore + 3) await more()
      expect(text.replaceAll(sign, '')).to.equal('')
      judging.resolve('pass')
      while (await more());
      const rest = text.replaceAll(sign, '')
      expect(rest).to.include('Hello ').and.include('there')
      // No sign stands inside an event.
      for (const event of text.split('\n\n'))
        expect(event.includes(sign.trim()) ? event : sign.trim()).to.equal(sign.trim())
      expect(await rig.row()).to.include({ result: 'completed' })
    })

  it('leaves the time limits of the upstream to what is read of it', async () => {
    const one = gate({})
    rig.act((answer) => answer.gate(() => one))
    const texts = Array.from({ length: 20 }, (_, at) => `${at} `)
    rig.upstream.answer({ frames: chatFrames(...texts), every: 150 })
    // It may be silent for two seconds, and nothing is shown for three.
    expect((await rig.get('chat', 'impatient', true)).text).to.equal(texts.join(''))
    expect(one.held).to.have.length(1)
  }).timeout(60_000)
})
