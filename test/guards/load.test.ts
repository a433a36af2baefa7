import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'

describe('guards: the worst regular expression', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      records: {
        guards: [
          {
            name: 'worst',
            kind: 'regex',
            patterns: ['(?:a|b)*?(?:a|b){200}c'],
            action: 'mask',
            timeout: '2s',
            default: false,
          },
        ],
      },
    })
  })
  after(() => gateway.close())

  it('over a megabyte ends in its time, and holds no other request up', async function () {
    this.timeout(60_000)
    const ask = (content: string, headers: Record<string, string> = {}) =>
      gateway.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content }] }, headers)
    await (await ask('warm')).text()
    const started = performance.now()
    const worst = ask(('ab'.repeat(120) + 'c').repeat(4_150), { 'x-gateway-guards': 'worst' })
    const state = { isOver: false }
    const over = worst.then((response) => {
      state.isOver = true
      return response
    })
    const waits: number[] = []
    while (!state.isOver) {
      const began = performance.now()
      await (await ask('hello')).text()
      waits.push(performance.now() - began)
    }
    const response = await over
    expect(response.status).to.equal(503)
    expect(performance.now() - started).to.be.below(2_000 + 5_000)
    // One of them parses the megabyte, and two busy cores share the rest.
    waits.sort((left, right) => left - right)
    expect(waits.length).to.be.above(5)
    expect(waits[Math.floor(waits.length / 2)]).to.be.below(250)
  })
})
