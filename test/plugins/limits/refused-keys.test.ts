import { expect } from 'chai'
import { RefusedKeys } from '../../../plugins/limits/refused-keys.ts'
import { startGateway } from '../../support/gateway.ts'
import { keysOf } from '../../support/keys.ts'
import type { RunningGateway } from '../../support/gateway.ts'

describe('plugins/limits/refused-keys', function () {
  this.timeout(300_000)

  let gateway: RunningGateway
  afterEach(() => gateway.close())

  const ask = (key: string) => fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })

  it('answers 429 to unknown keys of an address that sent too many, and still serves known ones', async () => {
    const refused_per_address = { requests: 2, period: '30d' }
    gateway = await startGateway({ server_config: { rate_limits: { refused_per_address } } })
    const made = await keysOf(gateway.engine).create({ name: 'made' })
    expect((await ask(made.text)).status).to.equal(200)
    for (const key of ['sk-guess-1', 'sk-guess-2']) expect((await ask(key)).status).to.equal(401)
    const refused = await ask('sk-guess-3')
    expect(refused.status).to.equal(429)
    expect(Number(refused.headers.get('retry-after'))).to.be.greaterThan(1_000)
    const { error } = (await refused.json()) as { error: { code: string; message: string } }
    expect(error.code).to.equal('rate_limit_exceeded')
    expect(error.message).to.match(/^Too many unknown API keys came from this address\. Try again in \d+ s\.$/)
    expect((await ask(gateway.key)).status).to.equal(200)
    expect((await ask(made.text)).status).to.equal(200)
    // A missing key is no guess.
    expect((await fetch(`${gateway.url}/v1/models`)).status).to.equal(401)
  })

  it('counts a whole network of IPv6 as one address, whose owner has all of it', async () => {
    gateway = await startGateway()
    const buckets: string[] = []
    const refused = new RefusedKeys({ requests: 1, period: '1m' }, {
      take: (wish: { readonly rates: readonly { readonly bucket: string }[] }) => {
        buckets.push(...wish.rates.map(({ bucket }) => bucket))
        return Promise.resolve({})
      },
    } as unknown as ConstructorParameters<typeof RefusedKeys>[1])
    for (const address of ['2001:db8:0:1::1', '2001:db8::1:ffff:0:0:1', '2001:db8:0:2::1', '192.0.2.1', '192.0.2.2'])
      await refused.count(address)
    expect(new Set(buckets)).to.have.property('size', 4)
    expect(buckets[0]).to.equal(buckets[1])
  })

  it('answers 401 as often as it is asked without the setting', async () => {
    gateway = await startGateway()
    for (let count = 0; count < 20; count++) expect((await ask(`sk-guess-${count}`)).status).to.equal(401)
  })
})
