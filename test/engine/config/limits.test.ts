import { expect } from 'chai'
import { httpLimits } from '../../../engine/config/limits.ts'

describe('the limits of a request', () => {
  it('let a body be silent for a minute', () => expect(httpLimits.silence).to.equal(60_000))
  it('let it arrive within an hour', () => expect(httpLimits.request).to.equal(60 * 60_000))
})

describe('the limits of a socket', () => {
  it('let it stay open for 60 minutes', () => expect(httpLimits.sockets.age).to.equal(60 * 60_000))
  it('let a message have 64 MiB', () => expect(httpLimits.sockets.message).to.equal(64 * 1024 * 1024))
})
