import { expect } from 'chai'
import { GatewayError } from '../../engine/index.ts'
import type { Dialed, Leg, LegSink } from '../../engine/index.ts'
import { Session } from '../../plugins/realtime/session.ts'
import type { SessionOptions } from '../../plugins/realtime/session.ts'

/** A leg that takes messages while it has room, and says whether it is heard. */
class FakeLeg implements Leg {
  hasRoom = true
  isPaused = false
  readonly unsent = 0
  readonly sent: string[] = []

  send(message: Uint8Array): boolean {
    this.sent.push(Buffer.from(message).toString())
    return this.hasRoom
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  close(): void {
    throw new Error('nothing is closed here')
  }
}

describe('realtime/session', () => {
  let client: FakeLeg
  let provider: FakeLeg
  /** What hears the client, and what hears the provider. */
  let fromClient: LegSink
  let fromProvider: LegSink

  beforeEach(() => {
    client = new FakeLeg()
    provider = new FakeLeg()
    const upstream: Dialed = {
      protocol: '',
      attach(sink) {
        fromProvider = sink
        return provider
      },
    }
    const refused = new GatewayError('model_not_allowed', { model: 'far' })
    const options = {
      upstream,
      events: {
        read: (bytes: Buffer) => (bytes.toString() === 'bad' ? { refused, eventId: null } : { bytes }),
      },
      meter: { event: () => undefined, changed: () => undefined },
      print: () => 'refused',
    } as unknown as SessionOptions
    fromClient = new Session(options).attach(client)
  })

  const say = (text: string) => fromClient.message(Buffer.from(text), false)

  for (const first of ['client', 'provider'] as const)
    it(`a client is heard again once both sides have taken what they were sent, the ${first} first`, () => {
      client.hasRoom = provider.hasRoom = false
      say('good')
      say('bad')
      expect([provider.sent, client.sent]).to.deep.equal([['good'], ['refused']])
      expect(client.isPaused).to.equal(true)
      const drains = [() => fromClient.drained(), () => fromProvider.drained()]
      if (first === 'provider') drains.reverse()
      drains[0]?.()
      expect(client.isPaused).to.equal(true)
      drains[1]?.()
      expect(client.isPaused).to.equal(false)
    })

  it('a provider is heard again once the client has taken what it was sent', () => {
    client.hasRoom = false
    fromProvider.message(Buffer.from('{"type":"new.event"}'), false)
    expect(provider.isPaused).to.equal(true)
    fromClient.drained()
    expect([provider.isPaused, client.isPaused]).to.deep.equal([false, false])
  })
})
