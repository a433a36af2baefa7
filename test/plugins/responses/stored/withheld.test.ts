import { expect } from 'chai'
import type { Flow, JsonObject, Sink, Source } from '../../../../engine/index.ts'
import { withheld } from '../../../../plugins/responses/stored/withheld.ts'
import { expectLinear } from '../../../support/work.ts'

const terminal = (type: string) => ({ type, sequence_number: 9, response: { id: 'resp_1', status: type.slice(9) } })
const delta = (text: string) => ({ type: 'response.output_text.delta', delta: text })
const named = (event: JsonObject, end = '\n') =>
  `event: ${event['type'] as string}${end}data: ${JSON.stringify(event)}${end}${end}`

/** A source that is fed by hand, and what came out of it. */
function feed(limit?: number) {
  let sink: Sink | undefined
  const flow: string[] = []
  const source: Source = {
    open(given) {
      sink = given
      return { pause: () => flow.push('pause'), resume: () => flow.push('resume'), cancel: () => flow.push('cancel') }
    },
  }
  const out: Buffer[] = []
  const ends: string[] = []
  const kept: (JsonObject | undefined)[] = []
  let done: (isKept: boolean) => void = () => undefined
  const keep = (response: JsonObject | undefined) => {
    kept.push(response)
    return new Promise<boolean>((resolve) => (done = resolve))
  }
  const opened: Flow = withheld(source, keep, limit).open({
    data: (chunk) => out.push(Buffer.from(chunk)),
    end: () => ends.push('end'),
    fail: (error) => ends.push(error.message),
  })
  return {
    out,
    ends,
    kept,
    flow,
    opened,
    text: () => Buffer.concat(out).toString(),
    push: (text: string | Buffer) => sink?.data(Buffer.from(text)),
    end: () => sink?.end(),
    fail: (message: string) => sink?.fail(new Error(message)),
    async finish(isKept = true) {
      done(isKept)
      await new Promise<void>((resolve) => setImmediate(resolve))
    },
  }
}

const spellings: Record<string, string> = {
  'with event names': named(delta('a')) + named(terminal('response.completed')) + 'data: [DONE]\n\n',
  'without event names': `data: ${JSON.stringify(delta('a'))}\n\ndata: ${JSON.stringify(terminal('response.completed'))}\n\n`,
  'without spaces': `event:response.completed\ndata:${JSON.stringify(terminal('response.completed'))}\n\n`,
  'with CRLF': named(delta('a'), '\r\n') + named(terminal('response.completed'), '\r\n') + 'data: [DONE]\r\n\r\n',
  'with CR': named(delta('a'), '\r') + named(terminal('response.completed'), '\r'),
  'with the type last': `data: ${JSON.stringify({ response: { id: 'resp_1', status: 'completed' }, type: 'response.completed' })}\n\n`,
  'with data in two lines': `data: {"type":"response.completed",\ndata: "response":{"id":"resp_1","status":"completed"}}\n\n`,
  'without the empty line at its end': named(terminal('response.completed')).trimEnd(),
  'after talk of it': named(delta('response.completed')) + named(terminal('response.completed')),
  'after much talk of it':
    named(delta('response.failed '.repeat(3))) + named(delta('x')) + named(terminal('response.completed')),
}

describe('the end of a stream that is to be kept', () => {
  it('says store: false in the terminal event of a response that the store did not take', async () => {
    const stream = feed()
    stream.push('event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","store":true}}\n\n')
    await stream.finish(false)
    expect(stream.text()).to.equal(
      'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","store":false}}\n\n',
    )
  })

  for (const [how, text] of Object.entries(spellings))
    it(`is withheld until it is kept, however it is cut: ${how}`, async () => {
      const bytes = Buffer.from(text)
      const cuts = [[], ...Array.from({ length: bytes.length - 1 }, (_, at) => [at + 1])]
      const each = Array.from({ length: bytes.length - 1 }, (_, at) => at + 1)
      for (const places of [...cuts, each]) {
        const stream = feed()
        let from = 0
        for (const place of [...places, bytes.length]) {
          stream.push(bytes.subarray(from, place))
          from = place
        }
        stream.end()
        expect(stream.kept, String(places)).to.deep.equal([{ id: 'resp_1', status: 'completed' }])
        expect(stream.ends).to.deep.equal([])
        // Too little for a client to read the event.
        const passed = stream.text()
        expect(text.startsWith(passed)).to.equal(true)
        expect(text.slice(passed.length)).to.match(/\}/)
        await stream.finish()
        expect(stream.text()).to.equal(text)
        expect(stream.ends).to.deep.equal(['end'])
      }
    })

  it('lets everything before it pass at once, as it came', () => {
    const stream = feed()
    const first = named(delta('a'))
    stream.push(first)
    stream.push(named(delta('b')) + named(terminal('response.completed')))
    expect(stream.out.map(String)).to.deep.equal([first, named(delta('b'))])
  })

  it('takes a failed and an incomplete response like a complete one', () => {
    for (const type of ['response.failed', 'response.incomplete']) {
      const stream = feed()
      stream.push(named(terminal(type)))
      expect(stream.kept).to.deep.equal([{ id: 'resp_1', status: type.slice(9) }])
      expect(stream.text()).to.equal('')
    }
  })

  it('takes any number of events that talk of it', async () => {
    for (const piece of [':response.failed\n\n', named(delta('response.failed'))]) {
      const text = piece.repeat(20_000)
      const stream = feed()
      stream.push(text + named(terminal('response.completed')))
      expect(stream.text() === text).to.equal(true)
      await stream.finish()
      expect(stream.text().slice(text.length)).to.equal(named(terminal('response.completed')))
    }
  })

  it('is put together from however many pieces in no more than their time', async () => {
    const long = (length: number) => ({ id: 'resp_1', status: 'completed', output: 'x'.repeat(length) })
    const event = (length: number) => Buffer.from(named({ type: 'response.completed', response: long(length) }))
    const fed = (bytes: Buffer) => {
      const stream = feed()
      for (const byte of bytes) stream.push(Buffer.of(byte))
      return stream
    }
    expectLinear(150_000, event, fed)
    const text = event(150_000).toString()
    const response = long(150_000)
    const stream = fed(event(150_000))
    expect(stream.kept).to.deep.equal([response])
    await stream.finish()
    expect(stream.text() === text).to.equal(true)
  })

  it('ends the stream, and nothing else, with a reader that cannot take it', async () => {
    for (const text of [named(delta('a')), named(terminal('response.completed'))]) {
      const heard: string[] = []
      const { promise: over, resolve } = Promise.withResolvers<void>()
      let fed: Sink | undefined
      const source: Source = {
        open(sink) {
          fed = sink
          return { pause: () => undefined, resume: () => undefined, cancel: ({ message }) => heard.push(message) }
        },
      }
      withheld(source, () => Promise.resolve(true)).open({
        data() {
          throw new Error('full')
        },
        end: () => undefined,
        fail(error) {
          heard.push(error.message)
          resolve()
        },
      })
      fed?.data(Buffer.from(text))
      await over
      fed?.data(Buffer.from(text))
      expect(heard).to.deep.equal(['full', 'full'])
    }
  })

  it('keeps nothing of a stream without it', () => {
    const stream = feed()
    const text = named(delta('response.completed')) + named({ type: 'error', code: 'response.failed' })
    stream.push(text)
    stream.end()
    expect([stream.kept, stream.text(), stream.ends]).to.deep.equal([[], text, ['end']])
  })

  it('holds up its source while it is kept, and no longer than its reader wants', async () => {
    const stream = feed()
    stream.push(named(terminal('response.completed')))
    expect(stream.flow).to.deep.equal(['pause'])
    stream.opened.resume()
    expect(stream.flow).to.deep.equal(['pause'])
    stream.push('data: [DONE]\n\n')
    await stream.finish()
    expect(stream.flow).to.deep.equal(['pause', 'resume'])
    expect(stream.text()).to.equal(`${named(terminal('response.completed'))}data: [DONE]\n\n`)

    const paused = feed()
    paused.opened.pause()
    paused.push(named(terminal('response.completed')))
    await paused.finish()
    expect(paused.flow).to.deep.equal(['pause', 'pause'])
  })

  it('passes a break on after what came before it', async () => {
    const stream = feed()
    stream.push(named(terminal('response.completed')))
    stream.fail('reset')
    expect(stream.ends).to.deep.equal([])
    await stream.finish()
    expect(stream.ends).to.deep.equal(['reset'])
    const broken = feed()
    broken.push(named(delta('a')) + 'event: response.completed\ndata: {')
    broken.fail('reset')
    expect(broken.text()).to.equal(named(delta('a')) + 'event: response.completed\ndata: {')
    expect([broken.kept, broken.ends]).to.deep.equal([[], ['reset']])
  })

  it('is not told to a reader that has left', async () => {
    const stream = feed()
    stream.push(named(terminal('response.completed')))
    stream.opened.cancel(new Error('left'))
    await stream.finish()
    stream.end()
    expect([stream.text(), stream.ends, stream.flow]).to.deep.equal(['', [], ['pause', 'cancel']])
  })

  it('passes unkept when it is too large to be looked at', async () => {
    for (const text of [`event: response.completed\ndata: ${'x'.repeat(200)}`, `data: ${'x'.repeat(200)}`]) {
      const stream = feed(100)
      stream.push(text)
      expect(stream.kept).to.deep.equal([undefined])
      await stream.finish()
      stream.push('\n\n')
      stream.end()
      expect([stream.text(), stream.ends, stream.kept.length]).to.deep.equal([`${text}\n\n`, ['end'], 1])
    }
  })
})
