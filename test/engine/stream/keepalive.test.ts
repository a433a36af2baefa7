import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { mock } from 'node:test'
import { expect } from 'chai'
import { watchSilence } from '../../../engine/stream/keepalive.ts'
import { sendReply } from '../../../engine/http/reply.ts'
import type { Sink } from '../../../engine/index.ts'

describe('a watched stream', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }))
  afterEach(() => mock.timers.reset())

  it('says something after every interval of silence, and at no other time', () => {
    const said: string[] = []
    const one = watchSilence('16s', () => said.push('one'))
    mock.timers.tick(8_000)
    const other = watchSilence('16s', () => said.push('other'))
    mock.timers.tick(7_000)
    expect(said).to.deep.equal([])
    mock.timers.tick(1_000)
    expect(said).to.deep.equal(['one'])
    mock.timers.tick(7_000)
    if (other) other.quiet = 0
    mock.timers.tick(9_000)
    expect(said).to.deep.equal(['one', 'one'])
    one?.stop()
    mock.timers.tick(7_000)
    expect(said).to.deep.equal(['one', 'one', 'other'])
    other?.stop()
    mock.timers.tick(64_000)
    expect(said).to.have.length(3)
  })

  it('is told nothing while something comes, and while its client reads nothing', () => {
    const written: string[] = []
    let taken = true
    const response = Object.assign(new EventEmitter(), {
      closed: false,
      writableFinished: true,
      writeHead: () => undefined,
      write: (bytes: Uint8Array) => (written.push(Buffer.from(bytes).toString()), taken),
      destroy: () => undefined,
    })
    const flow = { pause: () => undefined, resume: () => undefined, cancel: () => undefined }
    let sink: Sink | undefined
    const source = { open: (reader: Sink) => ((sink = reader), flow) }
    const body = { kind: 'stream', source, type: 'text/event-stream', keepalive: () => Buffer.from('sign') } as const
    const limits = { unread: 3_600_000, silence: '16s' }
    void sendReply(response as unknown as ServerResponse, { status: 200, headers: {}, body }, {}, limits, new Set())
    const say = (text: string) => sink?.data(Buffer.from(text))
    mock.timers.tick(15_000)
    say('one')
    mock.timers.tick(15_000)
    expect(written).to.deep.equal(['one'])
    mock.timers.tick(1_000)
    expect(written.splice(0)).to.deep.equal(['one', 'sign'])
    taken = false
    say('two')
    mock.timers.tick(64_000)
    expect(written).to.deep.equal(['two'])
    taken = true
    response.emit('drain')
    mock.timers.tick(16_000)
    expect(written).to.deep.equal(['two', 'sign'])
    response.emit('close')
    mock.timers.tick(64_000)
    expect(written).to.have.length(2)
  })

  it('is not watched at an interval of 0', () => {
    expect(watchSilence('0s', () => expect.fail('it spoke'))).to.equal(undefined)
  })
})
