import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { deepEqual, equal, ok } from 'node:assert/strict'
import { group } from './check.ts'
import { collect } from '../kit.ts'
import { scriptedUpstream } from './upstream.ts'
import { reading, zeros } from './rig.ts'

export const fails = group('fails', (check, checkWhen, checkLong) => {
  check('as unreachable when the connection is refused (faults A1)', async (rig) => {
    const gone = await scriptedUpstream()
    await gone.close()
    const provider = rig.openAt(gone.url)
    for (let index = 0; index < 20; index++) {
      const error = await rig.failure(rig.send(provider))
      equal(error.code, 'upstream_unreachable')
      deepEqual(error.tags, ['connect'])
      equal(error.failure.status, 502)
    }
  })

  check('as unreachable when there is no TLS', async (rig) => {
    const provider = rig.openAt(rig.upstream.url.replace('http:', 'https:'))
    equal((await rig.failure(rig.send(provider))).code, 'upstream_unreachable')
  })

  checkWhen({ field: 'timeouts' }, 'when no connection comes about in time', async (rig) => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const provider = rig.openAt(url, { timeouts: { connect: '80ms' } })
    const started = performance.now()
    const error = await rig.failure(rig.send(provider))
    equal(error.code, 'upstream_timeout')
    deepEqual(error.tags, ['connect', 'timeout'])
    ok(performance.now() - started >= 79)
    await rig.closeKept()
    silent.close()
  })

  check('in time when nothing is answered, and closes the connection (faults A2)', async (rig) => {
    rig.upstream.answer({ silent: true })
    const started = performance.now()
    const error = await rig.failure(rig.send(rig.open(), rig.limited({ firstByte: 120 })))
    ok(performance.now() - started >= 119)
    equal(error.code, 'upstream_timeout')
    deepEqual(error.tags, ['timeout'])
    await rig.upstream.closed()
  })

  checkWhen({ field: 'timeouts' }, 'when its own limits say so, whatever the pipeline allows', async (rig) => {
    rig.upstream.answer({ silent: true })
    const error = await rig.failure(rig.send(rig.open({ timeouts: { first_byte: '50ms' } })))
    equal(error.facts['limit'], 'firstByte')
    await rig.upstream.closed()
  })

  checkLong('in time when a stream falls silent (faults A3)', async (rig) => {
    rig.upstream.answer({ frames: ['1', '2', '3'], ending: 'hang' })
    const reader = reading(await rig.send(rig.open(), rig.limited({ idle: 500 })))
    await reader.over
    equal(reader.text, 'data: 1\n\ndata: 2\n\ndata: 3\n\n')
    const error = rig.harmless(reader.error)
    equal(error.code, 'upstream_timeout')
    equal(error.facts['limit'], 'idle')
    await rig.upstream.closed()
  })

  checkLong('in time when a stream drips for ever (faults A20)', async (rig) => {
    rig.upstream.answer({ chunks: zeros(Infinity, 1), every: 20 })
    const started = performance.now()
    const reader = reading(await rig.send(rig.open(), rig.limited({ total: 1_000 })))
    await reader.over
    ok(performance.now() - started >= 999)
    equal(rig.harmless(reader.error).facts['limit'], 'total')
    ok(reader.size > 1)
    await rig.upstream.closed()
  })

  check('when the connection is reset in the middle, after all that arrived (faults A4)', async (rig) => {
    rig.upstream.answer({ frames: ['1', '2', '3'], ending: 'reset', every: 5 })
    const reader = reading(await rig.send(rig.open()))
    await reader.over
    equal(rig.harmless(reader.error).code, 'upstream_error')
    equal('data: 1\n\ndata: 2\n\ndata: 3\n\n'.startsWith(reader.text), true)
  })

  check('when the connection ends before the body does', async (rig) => {
    for (const head of ['content-length: 99', 'transfer-encoding: chunked']) {
      rig.upstream.answer({ raw: `HTTP/1.1 200 OK\r\n${head}\r\n\r\n5\r\nabcde\r\n`, ending: 'close' })
      const reader = reading(await rig.send(rig.open()))
      await reader.over
      equal(rig.harmless(reader.error).code, 'upstream_error')
    }
  })

  check('when the connection closes before an answer', async (rig) => {
    for (const ending of ['close', 'reset'] as const) {
      rig.upstream.answer({ raw: '', ending })
      const error = await rig.failure(rig.send(rig.open()))
      equal(error.code, 'upstream_error')
      deepEqual(error.tags, ['connect'])
    }
  })

  check('at a redirect, and asks nobody else (faults A17)', async (rig) => {
    const other = await scriptedUpstream()
    for (const status of [301, 302, 303, 307, 308]) {
      rig.upstream.answer({ status, headers: { location: `${other.url}/stolen` }, body: {} })
      const error = await rig.failure(rig.send(rig.open()))
      equal(error.code, 'upstream_invalid_response')
      equal(error.failure.status, 502)
    }
    equal(other.requests.length, 0)
    equal(other.sockets, 0)
    await other.close()
  })

  check('at headers too large or too many (faults A18)', async (rig) => {
    const heads = [`x: ${'y'.repeat(20_000)}\r\n`, 'a: b\r\n'.repeat(10_000), 'a:\r\n'.repeat(300)]
    for (const head of heads) {
      rig.upstream.answer({ raw: `HTTP/1.1 200 OK\r\n${head}content-length: 2\r\n\r\nok` })
      equal((await rig.failure(rig.send(rig.open()))).code, 'upstream_invalid_response')
      await rig.upstream.closed()
    }
  })

  check('at what is not HTTP (faults A18)', async (rig) => {
    rig.upstream.answer({ raw: 'SSH-2.0-x\r\n\r\n' })
    equal((await rig.failure(rig.send(rig.open()))).code, 'upstream_invalid_response')
    rig.upstream.answer({ raw: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n' })
    const error = await rig.failure(rig.send(rig.open()).then((answer) => collect(answer.body, 1_000)))
    equal(error.code, 'upstream_invalid_response')
    await rig.upstream.closed()
  })

  check('at a body that is encoded though none was asked for (faults A11)', async (rig) => {
    for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity']) {
      rig.upstream.answer({ headers: { 'content-encoding': encoding }, body: {} })
      equal((await rig.failure(rig.send(rig.open()))).code, 'upstream_invalid_response')
    }
  })

  check('at a body beyond a reader’s limit, and reads no more of it (faults A10)', async (rig) => {
    const answer = await rig.answered({ chunks: zeros(Infinity) })
    const error = await rig.failure(collect(answer.body, 1024 * 1024))
    equal(error.code, 'upstream_invalid_response')
    await rig.upstream.closed()
    ok(Number(rig.upstream.requests[0]?.sent) < 64 * 1024 * 1024)
  })

  check('without a word of what the upstream echoes (faults A21)', async (rig) => {
    rig.upstream.answer(({ rawHeaders }) => ({ raw: `HTTP/1.1 ${rawHeaders.join(' ')}\r\n\r\n` }))
    equal((await rig.failure(rig.send(rig.open()))).code, 'upstream_invalid_response')
  })
})
