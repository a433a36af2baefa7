import { expect } from 'chai'
import type { Flow, Sink, Source } from '../../../engine/index.ts'
import { collect, peek, pull, through } from '../../../engine/kit.ts'

/** A source whose every move the test makes. */
function scripted() {
  let sink: Sink | undefined
  const seen: string[] = []
  const flow: Flow = {
    pause: () => seen.push('pause'),
    resume: () => seen.push('resume'),
    cancel: () => seen.push('cancel'),
  }
  const source: Source = {
    open(reader) {
      sink = reader
      return flow
    },
  }
  const to = () => {
    if (!sink) throw new Error('nobody opened the source')
    return sink
  }
  return {
    source,
    seen,
    data: (text: string) => to().data(Buffer.from(text)),
    end: () => to().end(),
    fail: (text: string) => to().fail(new Error(text)),
  }
}

function reading(source: Source) {
  const heard: string[] = []
  const flow = source.open({
    data: (chunk) => heard.push(Buffer.from(chunk).toString()),
    end: () => heard.push('<end>'),
    fail: (error) => heard.push(`<${error.message}>`),
  })
  return { heard, flow }
}

describe('sources', () => {
  it('through: changes bytes, drops empty ones, passes the end and the hand on', () => {
    const feed = scripted()
    const { heard, flow } = reading(
      through(feed.source, {
        data: (chunk) => (chunk[0] === 45 ? undefined : Buffer.from(`(${Buffer.from(chunk).toString()})`)),
        end: () => Buffer.from('.'),
      }),
    )
    feed.data('a')
    feed.data('-')
    flow.pause()
    flow.resume()
    feed.end()
    expect(heard).to.deep.equal(['(a)', '.', '<end>'])
    expect(feed.seen).to.deep.equal(['pause', 'resume'])
  })

  it('through: a broken feed ends in good order when the transform has last words, else fails', () => {
    const polite = scripted()
    const one = reading(
      through(polite.source, { data: (chunk) => chunk, fail: ({ message }) => Buffer.from(`sorry: ${message}`) }),
    )
    polite.fail('cut')
    polite.data('late')
    expect(one.heard).to.deep.equal(['sorry: cut', '<end>'])
    const plain = scripted()
    const other = reading(through(plain.source, { data: (chunk) => chunk }))
    plain.fail('cut')
    expect(other.heard).to.deep.equal(['<cut>'])
  })

  it('through: a transform that throws cancels the feed and breaks the stream once', () => {
    const feed = scripted()
    const { heard } = reading(
      through(feed.source, {
        data: () => {
          throw new Error('bad event')
        },
      }),
    )
    feed.data('a')
    feed.data('b')
    feed.end()
    expect(heard).to.deep.equal(['<bad event>'])
    expect(feed.seen).to.deep.equal(['cancel'])
  })

  it('collect: joins the bytes, and refuses more than its limit while closing the feed', async () => {
    const small = scripted()
    const joined = collect(small.source, 4)
    small.data('ab')
    small.data('cd')
    small.end()
    expect((await joined).toString()).to.equal('abcd')
    const large = scripted()
    const refused = collect(large.source, 4).then(
      () => 'joined',
      (error: Error) => error.message,
    )
    large.data('abcde')
    expect(await refused).to.contain('larger than 4 bytes')
    expect(large.seen).to.deep.equal(['cancel'])
  })

  it('peek: waits for enough, then replays and goes on', async () => {
    const feed = scripted()
    const waiting = peek(feed.source, (chunk) => Buffer.from(chunk).includes('!'))
    feed.data('a')
    feed.data('b!')
    const { first, source } = await waiting
    expect(first.toString()).to.equal('ab!')
    feed.data('early')
    const { heard } = reading(source)
    expect(heard).to.deep.equal([])
    await Promise.resolve()
    feed.data('c')
    feed.end()
    expect(heard).to.deep.equal(['a', 'b!', 'early', 'c', '<end>'])
    expect(feed.seen).to.deep.equal(['pause', 'resume'])
  })

  it('peek: rejects when the source fails first, gives what ended early', async () => {
    const feed = scripted()
    const rejected = peek(feed.source, () => false).then(
      () => 'given',
      (error: Error) => error.message,
    )
    feed.fail('refused')
    expect(await rejected).to.equal('refused')
    const short = scripted()
    const given = peek(short.source, () => false)
    short.data('a')
    short.end()
    const { heard } = reading((await given).source)
    await Promise.resolve()
    expect(heard).to.deep.equal(['a', '<end>'])
  })

  it('pull: takes nothing while paused, and returns the iterable when cancelled', async () => {
    let pulled = 0
    let returned = false
    async function* chunks() {
      try {
        for (;;) yield Buffer.from(String(++pulled))
      } finally {
        returned = true
      }
    }
    const heard: string[] = []
    const flow: Flow = pull(chunks()).open({
      data(chunk) {
        heard.push(Buffer.from(chunk).toString())
        if (heard.length % 2 === 0) flow.pause()
      },
      end: () => heard.push('<end>'),
      fail: () => heard.push('<fail>'),
    })
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    await turn()
    expect(heard).to.deep.equal(['1', '2'])
    flow.resume()
    await turn()
    expect(heard).to.deep.equal(['1', '2', '3', '4'])
    expect(pulled).to.equal(4)
    flow.cancel(new Error('left'))
    await turn()
    expect(returned).to.equal(true)
    expect(heard).to.have.length(4)
  })
})
