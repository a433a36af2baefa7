import { setTimeout as sleep } from 'node:timers/promises'
import { equal, ok } from 'node:assert/strict'
import { group } from './check.ts'
import { collect } from '../kit.ts'
import { reading, zeros } from './rig.ts'

export const takes = group('takes', (check, _, checkLong) => {
  check('any status as an answer, with its headers', async (rig) => {
    const answer = await rig.answered({
      status: 429,
      headers: { 'Retry-After': '7', 'X-Two': ['a', 'b'] },
      body: { error: 'busy' },
    })
    equal(answer.status, 429)
    equal(answer.headers['retry-after'], '7')
    equal(answer.headers['x-two'], 'a, b')
    equal((await collect(answer.body, 1_000)).toString(), '{"error":"busy"}')
  })

  check('a final answer after early hints (faults A19)', async (rig) => {
    const raw = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
    const answer = await rig.answered({ raw })
    equal(answer.status, 200)
    equal((await collect(answer.body, 1_000)).toString(), 'ok')
  })

  check('a final answer after 100 Continue that nobody asked for, however it arrives (faults A19)', async (rig) => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
    const final = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
    const whole = interim + 'HTTP/1.1 100 \r\nx: y\r\n\r\n' + final
    const provider = rig.open()
    for (const raw of [whole, ...[1, 9, 20, 24, 26, 40].map((at) => [whole.slice(0, at), whole.slice(at)])]) {
      rig.upstream.answer({ raw, ending: 'close' })
      const answer = await rig.send(provider)
      equal(answer.status, 200)
      equal((await collect(answer.body, 1_000)).toString(), 'ok')
    }
  })

  check('a body that looks like 100 Continue', async (rig) => {
    const says = 'HTTP/1.1 100 Continue\r\n\r\n'
    const chunks = ['one', says, 'two', says]
    const answer = await rig.answered({ chunks, every: 5 })
    equal((await collect(answer.body, 1_000)).toString(), chunks.join(''))
  })

  check('every byte in order, though the body is opened late', async (rig) => {
    const chunks = Array.from({ length: 200 }, (_, index) => `${index};`.padEnd(2_000, '.'))
    const answer = await rig.answered({ chunks })
    await rig.upstream.closed()
    equal((await collect(answer.body, 1_000_000)).toString(), chunks.join(''))
  })

  check('little of a body that nobody opens, and lets go of it at the idle limit', async (rig) => {
    rig.upstream.answer({ chunks: zeros(Infinity) }, { body: {} })
    const provider = rig.open()
    await rig.send(provider, rig.limited({ idle: 150 }))
    for (let index = 0; index < 30; index++) await collect((await rig.send(provider)).body, 1_000)
    await rig.upstream.closed()
    ok(Number(rig.upstream.requests[0]?.sent) < 32 * 1024 * 1024)
  })

  check('nothing while its reader has paused (faults B3)', async (rig) => {
    const total = 64 * 1024 * 1024
    rig.upstream.answer({ chunks: zeros(total) }, { body: {} })
    const provider = rig.open()
    const reader = reading(await rig.send(provider))
    await reader.some
    reader.flow.pause()
    const { size } = reader
    // Gives a provider that ignores the pause enough time to read megabytes.
    for (let index = 0; index < 30; index++) await collect((await rig.send(provider)).body, 1_000)
    const [big] = rig.upstream.requests
    ok(reader.size - size <= 64 * 1024)
    equal(big?.blocked, true)
    ok(big?.sent < total / 2)
    reader.flow.resume()
    await reader.over
    equal(reader.size, total)
    equal(reader.error, undefined)
  })

  checkLong('no offence at a pause that is longer than the idle limit', async (rig) => {
    rig.upstream.answer({ chunks: zeros(4 * 1024 * 1024) })
    const reader = reading(await rig.send(rig.open(), rig.limited({ idle: 1_000 })))
    await reader.some
    reader.flow.pause()
    // Longer than the limit: only real time can show that a pause does not count.
    await sleep(1_200)
    equal(reader.error, undefined)
    reader.flow.resume()
    await reader.over
    equal(reader.size, 4 * 1024 * 1024)
  })
})
