import { expect } from 'chai'
import fc from 'fast-check'
import { FrameDecoder } from '../../../engine/kit.ts'
import { HeadAndTail } from '../../../plugins/translation/head-and-tail.ts'

const event = (index: number, size: number) => `data: ${index}${'.'.repeat(size - 8 - String(index).length)}\n\n`
const numbers = (frames: readonly { readonly data: string }[]) => frames.map(({ data }) => Number.parseInt(data, 10))

/** What is remembered of `count` events of `size` bytes that came in pieces of `cut` bytes. */
function after(count: number, size: number, cut: number, wanted?: number): HeadAndTail {
  const ends = new HeadAndTail(wanted)
  const bytes = Buffer.from(Array.from({ length: count }, (_, index) => event(index, size)).join(''))
  for (let at = 0; at < bytes.length; at += cut) ends.add(bytes.subarray(at, at + cut))
  return ends
}

const wanted = 8 * 1024

describe('HeadAndTail', () => {
  it('gives whole frames of both ends of a long stream', () => {
    const ends = new HeadAndTail()
    const count = 20_000
    for (let index = 0; index < count; index++)
      ends.add(Buffer.from(`data: {"n":${index},"pad":"${'x'.repeat(40)}"}\n\n`))
    expect(ends.first()[0]?.data).to.contain('"n":0,')
    const last = ends.last(256 * 1024)
    expect(last.at(-1)?.data).to.contain(`"n":${count - 1},`)
    expect(last.length).to.be.within(3000, 6000)
    expect(ends.last(100).map(({ data }) => data)).to.deep.equal([last.at(-1)?.data])
  })

  for (const cut of [7, 100, 1000, 100_000, 10_000_000])
    it(`keeps both ends of a stream that comes in pieces of ${cut} bytes`, () => {
      const ends = after(10_000, 100, cut, 16 * 1024)
      expect(numbers(ends.first())).to.deep.equal(Array.from({ length: 20 }, (_, index) => index))
      expect(numbers(ends.last(1000))).to.deep.equal([9991, 9992, 9993, 9994, 9995, 9996, 9997, 9998, 9999])
      const kept = numbers(ends.last(Infinity))
      expect(kept.length).to.be.within(163, 2 * 328 + 656)
      expect(kept).to.deep.equal(Array.from({ length: kept.length }, (_, index) => 10_000 - kept.length + index))
    })

  it('keeps both ends whatever the sizes of events and pieces', () => {
    const sizes = fc.array(fc.integer({ min: 16, max: 9_000 }), { minLength: 1, maxLength: 40 })
    const cuts = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(sizes, cuts, fc.constantFrom('\n', '\r\n', '\r'), (events, pieces, line) => {
        const text = events.map((size, index) => event(index, size).replaceAll('\n', line)).join('')
        const bytes = Buffer.from(text)
        const ends = new HeadAndTail(wanted)
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const cut = pieces[turn % pieces.length] as number
          ends.add(bytes.subarray(at, at + cut))
          at += cut
        }
        const all = numbers(new FrameDecoder().push(bytes))
        const first = numbers(ends.first())
        const last = numbers(ends.last(Infinity))
        expect(first).to.deep.equal(all.slice(0, first.length))
        expect(last).to.deep.equal(all.slice(all.length - last.length))
        const room = events.findLastIndex(
          (_, index) => events.slice(index).reduce((sum, size) => sum + size, 0) > wanted,
        )
        expect(last.length).to.be.at.least(Math.min(all.length, events.length - room - 1))
        expect(last.length).to.be.at.least(1)
      }),
    )
  })

  it('has the whole of a short stream', () => {
    const ends = after(30, 100, 40)
    expect(numbers(ends.last(Infinity))).to.deep.equal(Array.from({ length: 30 }, (_, index) => index))
    expect(ends.last(0)).to.deep.equal([])
    expect(new HeadAndTail().last(Infinity)).to.deep.equal([])
    expect(new HeadAndTail().first()).to.deep.equal([])
  })

  it('keeps a last event whole that is longer than what is wanted', () => {
    const ends = after(100, 1000, 500, 4 * 1024)
    const long = `data: ${'x'.repeat(200_000)}\n\n`
    for (let at = 0; at < long.length; at += 300) ends.add(Buffer.from(long.slice(at, at + 300)))
    expect(ends.last(Infinity).at(-1)?.data).to.equal('x'.repeat(200_000))
    expect(numbers(ends.first())).to.deep.equal([0, 1])
  })

  it('leaves out an event whose beginning it could not keep', () => {
    const ends = new HeadAndTail(4 * 1024)
    ends.add(Buffer.from('data: first\n\n'))
    ends.add(Buffer.from(`data: ${'x'.repeat(1_000_000)}`))
    expect(ends.last(Infinity)).to.deep.equal([])
    ends.add(Buffer.from('\n\ndata: last\n\n'))
    expect(ends.last(Infinity)).to.deep.equal([{ data: 'last' }])
    expect(ends.first()).to.deep.equal([{ data: 'first' }])
  })

  it('has the end of an event that was too large', () => {
    const ends = new HeadAndTail(4 * 1024)
    ends.add(Buffer.from(`event: first\ndata: ${'y'.repeat(5000)}\n\n`))
    expect(ends.torn()).to.equal('')
    ends.add(Buffer.from(`data: ${'x'.repeat(1_000_000)}end\n\ndata: last\n\n`))
    expect(ends.torn()).to.match(/^x+end\n\n$/)
    expect(ends.first()).to.deep.equal([])
  })

  it('does not hold on to the bytes it was given', () => {
    const ends = new HeadAndTail()
    const bytes = Buffer.from('data: kept\n\n')
    ends.add(bytes)
    bytes.fill(0)
    expect(ends.last(Infinity)).to.deep.equal([{ data: 'kept' }])
  })
})
