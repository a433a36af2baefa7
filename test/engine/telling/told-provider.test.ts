import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { toldProvider } from '../../../engine/telling/told-provider.ts'
import { GatewayError } from '../../../engine/spec/error.ts'
import type { LegSink } from '../../../engine/spec/leg.ts'
import type { Call, Dial, Offer, Provider } from '../../../engine/spec/open-provider.ts'
import type { Sink } from '../../../engine/spec/source.ts'
import type { ToldCall } from '../../../engine/spec/telling.ts'
import { TestScope } from '../pipeline/stubs.ts'

const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }

/** A provider whose parts need to know whose they are. */
class Own implements Provider {
  readonly #name = 'own'
  readonly calls: Call[] = []
  sink: Sink | undefined
  leg: LegSink | undefined
  readonly answer = {
    async *generate() {
      yield { type: 'start', model: 'm' } as const
      yield { type: 'part', index: 0, kind: 'text' } as const
    },
    embed: () => Promise.reject(new GatewayError('upstream_error')),
    decide: () => {
      throw new GatewayError('upstream_timeout')
    },
  }

  send(call: Call) {
    this.calls.push(call)
    const body = {
      open: (sink: Sink) => {
        this.sink = sink
        return { pause() {}, resume() {}, cancel() {} }
      },
    }
    return Promise.resolve({ status: 200, headers: { name: this.#name }, body })
  }

  dial() {
    const attach = (sink: LegSink) => {
      this.leg = sink
      return { unsent: 0, send: () => true, pause() {}, resume() {}, close() {} }
    }
    return Promise.resolve({ protocol: this.#name, attach })
  }

  models() {
    return Promise.resolve([this.#name])
  }

  close() {
    return Promise.resolve(void this.#name)
  }
}

const neutral: Offer[] = [{ operation: 'generate' }, { operation: 'embed' }, { operation: 'decide' }]
const offers: Offer[] = [...neutral, { operation: 'generate', protocol: 'plain' }]

describe('live/told-provider', () => {
  let own: Own
  let told: Provider
  let scope: TestScope
  const call = () => ({ operation: 'generate', protocol: 'plain', model: 'm', scope }) as unknown as Call
  beforeEach(() => {
    own = new Own()
    told = toldProvider(own, { name: 'far', type: 'remote', offers })
    scope = new TestScope()
  })

  it('is the provider, part by part, and sends the very call while nobody listens', async () => {
    expect(await told.models?.(scope.signal)).to.deep.equal(['own'])
    await told.close?.()
    const asked = call()
    expect((await told.send?.(asked))?.headers).to.deep.equal({ name: 'own' })
    expect(own.calls[0]).to.equal(asked)
    expect(Object.keys(toldProvider({}, { name: 'far', type: 'remote', offers: [] }))).to.deep.equal([])
    expect(
      Object.keys(toldProvider({ answer: {} }, { name: 'far', type: 'remote', offers }).answer ?? {}),
    ).to.deep.equal([])
  })

  it('sends the trace context of the exchange, unless the call has its own', async () => {
    scope.trace = trace
    await told.send?.(call())
    expect(own.calls[0]?.trace).to.equal(trace)
    const other = { traceparent: trace.traceparent.replace('-01', '-00') }
    await told.send?.({ ...call(), trace: other })
    expect(own.calls[1]?.trace).to.equal(other)
  })

  describe('while somebody listens', () => {
    let ends: ToldCall[]
    const listen = (message: unknown) => void ends.push(message as ToldCall)
    beforeEach(() => {
      ends = []
      subscribe('sluice:call:end', listen)
    })
    afterEach(() => unsubscribe('sluice:call:end', listen))

    const read = async () => {
      const answer = await told.send?.(call())
      const heard: string[] = []
      const flow = answer?.body.open({
        data: (chunk) => heard.push(String(chunk)),
        end: () => heard.push('end'),
        fail: () => heard.push('fail'),
      })
      return { heard, flow }
    }

    it('ends a call with its last byte, when it breaks, when it is cancelled, or when nobody has read it', async () => {
      const whole = await read()
      own.sink?.data(Buffer.from('a'))
      expect(ends).to.deep.equal([])
      own.sink?.end()
      expect(whole.heard).to.deep.equal(['a', 'end'])
      expect(ends.at(-1)).to.include({ exchange: 'exchange', provider: 'far', type: 'remote', model: 'm', status: 200 })
      expect(ends.at(-1)).not.to.have.any.keys('cancelled', 'error')

      const broken = await read()
      own.sink?.fail(new GatewayError('upstream_timeout', {}, { tags: ['timeout'] }))
      expect(broken.heard).to.deep.equal(['fail'])
      expect(ends.at(-1)?.error).to.deep.equal({ code: 'upstream_timeout', tags: ['timeout'] })

      const left = await read()
      left.flow?.cancel(new Error('the client left'))
      expect(ends.at(-1)).to.include({ cancelled: true })
      expect(ends).to.have.length(3)

      await told.send?.(call())
      expect(ends).to.have.length(3)
      scope.end(() => undefined)
      expect(ends).to.have.length(4)
      expect(ends.at(-1)).to.include({ cancelled: true })
    })

    it('passes on all that is heard of a socket, and ends its call when it has closed', async () => {
      const dialed = await told.dial?.({
        operation: 'generate',
        protocol: 'plain',
        model: 'm',
        scope,
      } as unknown as Dial)
      const heard: unknown[] = []
      dialed?.attach({
        message: (bytes, binary) => heard.push(['message', String(bytes), binary]),
        drained: () => heard.push('drained'),
        closed: (...end) => void heard.push(end),
      })
      own.leg?.message(Buffer.from('a'), true)
      own.leg?.drained()
      expect(ends).to.deep.equal([])
      const error = new GatewayError('upstream_error')
      await own.leg?.closed(1011, 'it broke', error)
      expect(heard).to.deep.equal([['message', 'a', true], 'drained', [1011, 'it broke', error]])
      expect(ends).to.have.length(1)
      expect(ends[0]).to.include({ provider: 'far', model: 'm' })
    })

    it('ends what is answered in neutral form when it is over, fails, or is abandoned', async () => {
      const generate = () => told.answer?.generate?.({} as never, 'm', scope) as AsyncIterable<unknown>
      for await (const _ of generate()) expect(ends).to.deep.equal([])
      expect(ends.at(-1)).to.include({ operation: 'generate' }).and.have.property('firstByte')
      expect(ends.at(-1)).not.to.have.any.keys('cancelled', 'error', 'protocol')
      for await (const _ of generate()) break
      expect(ends.at(-1)).to.include({ cancelled: true })
      const embedding = async (): Promise<unknown> => told.answer?.embed?.({} as never, 'm', scope)
      const embed = await embedding().catch((error: unknown) => error)
      expect(embed).to.include({ code: 'upstream_error' })
      expect(ends.at(-1)?.error).to.include({ code: 'upstream_error' })
      own.answer.generate = async function* () {
        yield {
          type: 'failure',
          failure: { status: 500, code: null, type: 't', message: 'a prompt', param: null },
        } as never
      }
      for await (const _ of generate()) expect(ends.pop()?.error).to.deep.equal({ code: 'upstream_error' })
      expect(() => told.answer?.decide?.({} as never, 'm', scope)).to.throw(GatewayError)
      expect(ends.at(-1)?.error).to.include({ code: 'upstream_timeout' })
      expect(ends).to.have.length(4)
    })
  })
})
