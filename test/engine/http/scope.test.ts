import { performance } from 'node:perf_hooks'
import { expect } from 'chai'
import { ExchangeScope } from '../../../engine/http/scope.ts'

describe('the scope of an exchange', () => {
  let clock = 0

  beforeEach(() => {
    clock = 1_000
    performance.now = () => clock
  })
  // The clock itself stands on the prototype.
  afterEach(() => void Reflect.deleteProperty(performance, 'now'))

  it('counts the time of each stage since the last one ended, and adds up other times that have one name', () => {
    const scope = new ExchangeScope()
    const lap = (name: string, milliseconds: number) => {
      clock += milliseconds
      scope.lap({ name, path: name, inTry: name === 'call' }, 'ok')
    }
    lap('parse', 3)
    lap('call', 20)
    clock += 200
    scope.begin()
    lap('call', 10)
    scope.time('upstream', 20)
    scope.time('tokenize', 1)
    scope.time('upstream', 5)
    expect(scope.times).to.deep.equal([
      { name: 'upstream', milliseconds: 25 },
      { name: 'tokenize', milliseconds: 1 },
    ])
    expect(scope.elapsed()).to.equal(233)
    expect(scope.laps.map(({ stage, ...lap }) => ({ path: stage.path, ...lap }))).to.deep.equal([
      { path: 'parse', at: 0, milliseconds: 3, outcome: 'ok' },
      { path: 'call', at: 3, milliseconds: 20, attempt: 1, outcome: 'ok' },
      { path: 'call', at: 223, milliseconds: 10, attempt: 1, outcome: 'ok' },
    ])
  })

  it('tells each listener once that it was aborted, newest first, but none that was taken back', () => {
    const scope = new ExchangeScope()
    const told: string[] = []
    const forget: (() => void)[] = []
    scope.onAbort(() => told.push('last'))
    forget.push(scope.onAbort(() => told.push('taken back while it was told')))
    scope.onAbort(() => told.push('taken back before'))()
    scope.onAbort(({ message }) => {
      told.push(`first ${message}`)
      forget.forEach((each) => each())
      scope.onAbort(() => told.push('late'))
    })
    scope.abort(new Error('left'))
    scope.abort(new Error('again'))
    expect(told).to.deep.equal(['first left', 'late', 'last'])
    expect(scope.signal.aborted).to.equal(true)
  })
})
