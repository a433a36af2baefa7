import { expect } from 'chai'
import type { Dispatcher } from 'undici'
import type { Answer } from '../../../../engine/index.ts'
import { UpstreamRequest } from '../../../../engine/kit/upstream/request.ts'

const timeouts = { connect: 0, firstByte: 0, idle: 0, total: 0 }
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** An exchange whose HTTP client the test plays, and what its reader has heard. */
async function begun() {
  const moves: string[] = []
  const controller = {
    rawHeaders: [],
    pause: () => moves.push('pause'),
    resume: () => moves.push('resume'),
    abort: () => moves.push('abort'),
  } as unknown as Dispatcher.DispatchController
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const exchange = new UpstreamRequest('m', timeouts, { onAbort: () => () => undefined }, { resolve, reject })
  exchange.onRequestStart(controller)
  exchange.onResponseStart(controller, 200, { 'content-type': 'text/plain' })
  const { body } = await promise
  const heard: string[] = []
  const open = () =>
    body.open({
      data: (chunk) => heard.push(Buffer.from(chunk).toString()),
      end: () => heard.push('<end>'),
      fail: ({ message }) => heard.push(`<${message}>`),
    })
  const data = (text: string) => exchange.onResponseData(controller, Buffer.from(text))
  return { exchange, controller, moves, heard, open, data }
}

describe('the body of an exchange', () => {
  it('hands on as one what arrived together, after the call that brought it', async () => {
    const { exchange, heard, open, data } = await begun()
    data('a')
    open()
    data('b')
    expect(heard).to.deep.equal([])
    await turn()
    expect(heard).to.deep.equal(['ab'])
    data('c')
    data('d')
    exchange.onResponseEnd()
    await turn()
    expect(heard).to.deep.equal(['ab', 'cd', '<end>'])
  })

  it('holds what comes while its reader pauses, and stops the socket at 64 KiB', async () => {
    const { moves, heard, open, data } = await begun()
    const flow = open()
    await turn()
    flow.pause()
    data('x'.repeat(65_535))
    expect(moves).to.deep.equal(['resume', 'pause'])
    data('y')
    expect(moves).to.deep.equal(['resume', 'pause', 'pause'])
    await turn()
    expect(heard).to.deep.equal([])
    flow.resume()
    await turn()
    expect(heard).to.deep.equal([`${'x'.repeat(65_535)}y`])
    expect(moves.at(-1)).to.equal('resume')
  })

  it('gives what came before the connection broke, then the failure', async () => {
    const { exchange, controller, heard, open, data } = await begun()
    open()
    data('a')
    exchange.onResponseError(controller, Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    await turn()
    expect(heard).to.deep.equal(['a', '<The provider of "m" failed: its answer broke off.>'])
  })

  it('gives nothing more once it is cancelled', async () => {
    const { exchange, moves, heard, open, data } = await begun()
    const flow = open()
    data('a')
    flow.cancel(new Error('left'))
    exchange.onResponseEnd()
    await turn()
    expect(heard).to.deep.equal([])
    expect(moves).to.deep.equal(['abort'])
  })
})
