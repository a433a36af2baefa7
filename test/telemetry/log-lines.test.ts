import { expect } from 'chai'
import { makeLog, traced, untraced } from '../../engine/telling/log.ts'

const traceparent = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`

describe('lines of the log about an exchange', () => {
  const lines: { trace_id?: string }[] = []
  const log = makeLog({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line) as object) } })
  const traceSaid = (id: string) => {
    log.info({ id }, 'said')
    return lines.at(-1)?.trace_id
  }

  it('have the trace that it has by then, and none when it is over, whatever became of its trace', () => {
    const scope = { id: 'one', trace: { traceparent: traceparent('a') } }
    traced(scope)
    expect(traceSaid('one')).to.equal('a'.repeat(32))
    scope.trace = { traceparent: traceparent('b') }
    expect(traceSaid('one')).to.equal('b'.repeat(32))
    untraced(scope)
    expect(traceSaid('one')).to.equal(undefined)
  })

  it('have a trace that somebody who is told of it gives late', () => {
    const scope: { id: string; trace?: { traceparent: string }; told: object } = { id: 'late', told: {} }
    traced(scope)
    expect(traceSaid('late')).to.equal(undefined)
    scope.trace = { traceparent: traceparent('c') }
    expect(traceSaid('late')).to.equal('c'.repeat(32))
    untraced(scope)
    expect(traceSaid('late')).to.equal(undefined)
  })

  it('of a job that has begun keep its trace when the request that began it is over', () => {
    const request = { id: 'job', trace: { traceparent: traceparent('d') } }
    const job = { id: 'job', trace: { traceparent: traceparent('e') } }
    traced(request)
    traced(job)
    untraced(request)
    expect(traceSaid('job')).to.equal('e'.repeat(32))
    untraced(job)
    expect(traceSaid('job')).to.equal(undefined)
  })
})
