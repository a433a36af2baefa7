import { expect } from 'chai'
import { httpLimits } from '../../engine/config/limits.ts'
import { rawClient, request, statuses } from '../engine/http/raw-client.ts'
import { startAdmin, password } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import type { GatewaySettings } from '../support/gateway.ts'

const mebibyte = 1024 * 1024
const [hostile, other] = ['sk-hostile-0123456789abcdef', 'sk-other-0123456789abcdef01']
const json = 'content-type: application/json'

describe('bodies that a client holds back', function () {
  this.timeout(300_000)
  let gateway: AdminGateway
  const held: { readonly socket: { destroy(): void } }[] = []
  const start = async (settings: GatewaySettings) => {
    gateway = await startAdmin({
      ...settings,
      api_keys: [
        { name: 'hostile', key: hostile },
        { name: 'other', key: other },
      ],
    })
  }
  afterEach(async () => {
    for (const { socket } of held.splice(0)) socket.destroy()
    await gateway.close()
  })

  /** Begins a request and sends `sent` bytes of its body. */
  const begin = async (route: string, headers: readonly string[], sent: number) => {
    const client = await rawClient(gateway)
    held.push(client)
    client.write(request(route, [json, ...headers]) + 'x'.repeat(sent))
    return client
  }

  /** The statuses of a tenant's requests with bodies of 500 kB, several at a time. */
  const served = async (count: number) => {
    const body = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'x'.repeat(500_000) }] })
    const ask = async () => {
      const found: number[] = []
      for (let index = 0; index < count / 4; index++) {
        const headers = { authorization: `Bearer ${other}`, 'content-type': 'application/json' }
        const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
        await response.arrayBuffer()
        found.push(response.status)
      }
      return found
    }
    return (await Promise.all(Array.from({ length: 4 }, ask))).flat()
  }
  const all = (count: number) => Array.from({ length: count }, () => 200)

  it('of 300 sign-ins keep nobody else from being served, nor from signing in', async () => {
    await start({ limits: { bodies: 16 * mebibyte } })
    const large = await Promise.all(
      Array.from({ length: 300 }, () => begin('POST /api/auth/login', ['content-length: 1048570'], 60_000)),
    )
    for (const client of large) expect(statuses(await client.until(/ 413 /))).to.deep.equal([413])
    await Promise.all(Array.from({ length: 300 }, () => begin('POST /api/auth/login', ['content-length: 8192'], 8_000)))
    expect(await served(20)).to.deep.equal(all(20))
    const signedIn = await gateway.asNobody('POST /api/auth/login', { username: 'admin', password })
    expect(signedIn.status).to.equal(200)
  })

  it('of one key keep no other key from being served', async () => {
    await start({ limits: { bodies: 16 * mebibyte } })
    const headers = [`authorization: Bearer ${hostile}`, 'content-length: 1048570']
    const clients = await Promise.all(
      Array.from({ length: 40 }, () => begin('POST /v1/chat/completions', headers, 1_047_000)),
    )
    const refused = clients.map((client) => client.until(/ 503 /))
    await some(refused, 32)
    expect(await served(20)).to.deep.equal(all(20))
    expect((await gateway.asAdmin('PATCH /api/config/server/logging', { level: 'warn' })).status).to.equal(200)
  })

  it('of a public route must be whole in time, however steadily they arrive', async () => {
    await start({ limits: { look: 20, unauthenticated: { ...httpLimits.unauthenticated, arrival: 300 } } })
    const client = await begin('POST /api/auth/login', ['content-length: 8192'], 1)
    const drip = setInterval(() => client.write('x'), 10)
    const text = await client.until(/request_timeout/).finally(() => clearInterval(drip))
    expect(statuses(text)).to.deep.equal([408])
  })

  it('of a public route have 8 KiB at most, with or without a length', async () => {
    await start({})
    const sized = await begin('POST /api/auth/login', ['content-length: 8193'], 0)
    expect(await sized.until(/8192 bytes/)).to.contain('request_too_large')
    const chunked = await begin('POST /api/auth/login', ['transfer-encoding: chunked'], 0)
    for (let index = 0; index < 3; index++) chunked.write(`1000\r\n${'x'.repeat(4096)}\r\n`)
    expect(await chunked.until(/8192 bytes/)).to.contain('request_too_large')
    const answer = await gateway.asNobody('POST /api/auth/login', { username: 'x'.repeat(9_000), password })
    expect([answer.status, answer.code]).to.deep.equal([413, 'request_too_large'])
  })
})

/** Resolves once so many of them have. */
function some(promises: readonly Promise<unknown>[], count: number): Promise<void> {
  let left = count
  return new Promise((resolve, reject) => {
    for (const promise of promises) promise.then(() => --left === 0 && resolve(), reject)
  })
}
