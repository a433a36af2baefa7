import { expect } from 'chai'
import fc from 'fast-check'
import { Arrivals } from '../../../engine/sockets/arrivals.ts'
import { byteBudgetOf } from '../../../engine/stream/byte-budget.ts'
import { MessageBytes } from '../../../engine/sockets/socket-bytes.ts'
import { frame } from '../http/socket-client.ts'

const ping = 0x89
const text = 0x81
const textToGoOn = 0x01

describe('the bytes of messages', () => {
  it('are told from heads and control frames, however they are cut', () => {
    const frames = fc.array(
      fc.record({ first: fc.constantFrom(text, textToGoOn, 0x80, 0x00, ping, 0x8a), size: size() }),
    )
    fc.assert(
      fc.property(frames, fc.integer({ min: 1, max: 300 }), (given, step) => {
        const heard = { bytes: 0, messages: 0 }
        const messages = new MessageBytes({
          part: (bytes) => (heard.bytes += bytes),
          end: () => heard.messages++,
        })
        const sent = Buffer.concat(given.map(({ first, size }) => frame(first, 'x'.repeat(size))))
        for (let at = 0; at < sent.length; at += step) messages.push(sent.subarray(at, at + step))
        const parts = given.filter(({ first }) => first < 0x88)
        expect(heard).to.deep.equal({
          bytes: parts.reduce((sum, { size }) => sum + size, 0),
          messages: parts.filter(({ first }) => first >= 0x80).length,
        })
      }),
    )
  })

  const size = () => fc.oneof(fc.constantFrom(0, 125, 126, 65_535, 65_536), fc.nat(300))
})

describe('arrivals', () => {
  const limits = { arrival: 60_000, uncounted: 10 }
  const unexpected = () => expect.fail('not in time')

  it('give back what a message has taken, and keep what the next one has', () => {
    const budget = byteBudgetOf(100)
    const arrivals = new Arrivals(budget, limits, unexpected)
    expect(arrivals.take(Buffer.concat([frame(text, 'x'.repeat(50)), frame(textToGoOn, 'x'.repeat(60))]))).to.equal(
      true,
    )
    expect(arrivals.complete(50)).to.equal(40)
    budget.give(40)
    expect(budget.take(51)).to.equal(false)
    expect(budget.take(50)).to.equal(true)
    budget.give(50)
    arrivals.forget()
    expect(budget.take(100)).to.equal(true)
  })

  it('count no control frames, and not the beginning of a message', () => {
    const arrivals = new Arrivals(byteBudgetOf(0), limits, unexpected)
    const taken = [frame(ping, 'x'.repeat(125)), frame(text, 'x'.repeat(10)), frame(text, 'x'.repeat(11))]
    expect(taken.map((bytes) => arrivals.take(bytes))).to.deep.equal([true, true, false])
    arrivals.forget()
  })

  it('take no more than the share of their client, until what their messages took is given back', () => {
    const [mine, others] = [byteBudgetOf(100), byteBudgetOf(100)]
    const [one, two, other] = [mine, mine, others].map(
      (share) => new Arrivals(share, { ...limits, uncounted: 0 }, unexpected),
    ) as [Arrivals, Arrivals, Arrivals]
    const part = frame(textToGoOn, 'x'.repeat(60))
    expect([one, two, other].map((arrivals) => arrivals.take(part))).to.deep.equal([true, false, true])
    one.take(frame(0x80, ''))
    mine.give(one.complete(60))
    expect(two.take(frame(text, 'x'.repeat(100)))).to.equal(true)
    for (const arrivals of [two, other]) arrivals.forget()
  })

  it('tell when a message does not end in time, from its first frame', async () => {
    await new Promise<void>((late) => {
      const arrivals = new Arrivals(byteBudgetOf(9), { ...limits, arrival: 20 }, late)
      arrivals.take(frame(textToGoOn, ''))
    })
  })
})
