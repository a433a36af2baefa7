import { mock } from 'node:test'
import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import type { KeyValue } from '../../../engine/index.ts'
import { openRedisKeyValue } from '../../../engine/store/key-value-redis.ts'
import { makeLog } from '../../../engine/telling/log.ts'
import { Secrets } from '../../../engine/secrets/redaction.ts'
import type { OpenKeyValue } from '../../../engine/store/key-value.ts'
import { network } from '../../../engine/kit.ts'
import { Attempts } from '../../../plugins/members/attempts.ts'
import { FailureTimes } from '../../../plugins/members/failure-times.ts'
import { redis } from '../../support/services.ts'

const minute = 60_000
const unshared = { shared: false } as KeyValue
const log = makeLog({ level: 'silent', secrets: new Secrets() })

describe('plugins/members/attempts', () => {
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: Date.now() }))
  afterEach(() => mock.timers.reset())

  let attempts: Attempts
  beforeEach(() => (attempts = new Attempts(new FailureTimes(unshared))))

  /** What an attempt with a wrong or right password gives: whether it was right, or the seconds to wait. */
  const attempt = async (username: string, address: string, isRight = false, by = attempts) => {
    try {
      return (await by.run({ username, address }, () => Promise.resolve(isRight || undefined))) ?? false
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      return `${error.code} ${error.failure.retryAfter}`
    }
  }

  it('makes somebody who fails wait 1, 2, 4 … 300 seconds', async () => {
    for (let failures = 0; failures < 5; failures++) expect(await attempt('ann', '10.0.0.1')).to.equal(false)
    const pauses = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    for (const pause of pauses) {
      expect(await attempt('ann', '10.0.0.1', true)).to.equal(`too_many_attempts ${pause}`)
      mock.timers.tick(pause * 1_000 - 1)
      expect(await attempt('Ann', '10.0.0.1', true)).to.equal('too_many_attempts 1')
      mock.timers.tick(1)
      expect(await attempt('ann', '10.0.0.1')).to.equal(false)
    }
    // From another address.
    expect(await attempt('ann', '10.0.0.2', true)).to.equal(true)
    mock.timers.tick(300_000)
    expect(await attempt('ann', '10.0.0.1', true)).to.equal(true)
    for (let failures = 0; failures < 5; failures++) expect(await attempt('ann', '10.0.0.1')).to.equal(false)
  })

  it('lets an address fail 30 times in 15 minutes', async () => {
    for (let failures = 0; failures < 30; failures++) {
      expect(await attempt(`name-${failures}`, '10.0.0.1')).to.equal(false)
      mock.timers.tick(1_000)
    }
    expect(await attempt('ann', '10.0.0.1', true)).to.equal(`too_many_attempts ${15 * 60 - 30}`)
    expect(await attempt('ann', '10.0.0.2', true)).to.equal(true)
    mock.timers.tick(15 * minute - 30_000)
    expect(await attempt('ann', '10.0.0.1', true)).to.equal(true)
  })

  it('lets a name fail 100 times in 15 minutes', async () => {
    for (let failures = 0; failures < 100; failures++)
      expect(await attempt('ann', `10.0.0.${failures}`)).to.equal(false)
    expect(await attempt('ann', '10.0.1.1', true)).to.equal(`too_many_attempts ${15 * 60}`)
    expect(await attempt('bob', '10.0.1.1', true)).to.equal(true)
    mock.timers.tick(15 * minute)
    expect(await attempt('ann', '10.0.1.1', true)).to.equal(true)
  })

  it('counts neither what succeeds nor what cannot be checked', async () => {
    for (let times = 0; times < 40; times++) {
      expect(await attempt('ann', '10.0.0.1', true)).to.equal(true)
      const unchecked = attempts.run({ username: 'ann', address: '10.0.0.1' }, () => Promise.reject(new Error('away')))
      expect(await unchecked.catch((error: Error) => error.message)).to.equal('away')
    }
    // What is refused by one limit does not count for the others.
    for (let times = 0; times < 40; times++) await attempt('bob', '10.0.0.2')
    expect(await attempt('eve', '10.0.0.2', true)).to.equal(true)
  })

  it('takes a household for one address', () => {
    const same = ['2001:db8:1:2::1', '2001:DB8:1:2:3:4:5:6', '2001:0db8:0001:0002::', '2001:db8:1:2::10.0.0.1']
    for (const address of same) expect(network(address), address).to.equal('2001:db8:1:2')
    expect(network('2001:db8:1:3::1')).to.equal('2001:db8:1:3')
    expect(network('::1')).to.equal('0:0:0:0')
    expect(network('fe80::1%eth0')).to.equal('fe80:0:0:0')
    expect(network('::ffff:10.0.0.1')).to.equal('10.0.0.1')
    expect(network('10.0.0.1')).to.equal('10.0.0.1')
  })

  it('forgets the oldest of very many', async () => {
    const times = new FailureTimes(unshared)
    const add = (key: string) =>
      times.change(key, minute, (before) => ({ times: [...before, 1], result: before.length }))
    for (let index = 0; index <= 10_000; index++) await add(`key-${index}`)
    expect([await add('key-10000'), await add('key-0')]).to.deep.equal([1, 0])
  })

  describe('with a key-value store', () => {
    let shared: OpenKeyValue
    before(async function () {
      shared = await openRedisKeyValue((await redis(this)).url, log)
    })
    after(() => shared?.close())

    it('counts the failures of all processes together', async () => {
      const [here, there] = [shared, shared].map((store) => new Attempts(new FailureTimes(store)))
      const name = `ann-${process.pid}`
      for (let failures = 0; failures < 5; failures++)
        expect(await attempt(name, '10.0.0.1', false, failures % 2 === 0 ? here : there)).to.equal(false)
      for (const by of [here, there]) expect(await attempt(name, '10.0.0.1', true, by)).to.equal('too_many_attempts 1')
      mock.timers.tick(1_000)
      expect(await attempt(name, '10.0.0.1', true, there)).to.equal(true)
      expect(await attempt(name, '10.0.0.1', false, here)).to.equal(false)
    })

    it('loses no failure when many processes count at the same time', async () => {
      const name = `bob-${process.pid}`
      const all = Array.from({ length: 12 }, () => new Attempts(new FailureTimes(shared)))
      const answers = await Promise.all(all.map((by) => attempt(name, '10.0.0.9', false, by)))
      expect(answers.filter((answer) => answer === false)).to.have.length(5)
    })
  })

  it('counts by itself while the store does not answer', async () => {
    const away = () => Promise.reject(new GatewayError('store_unavailable'))
    const by = new Attempts(new FailureTimes({ ...unshared, shared: true, get: away, set: away }))
    for (let failures = 0; failures < 5; failures++) expect(await attempt('ann', '10.0.0.1', false, by)).to.equal(false)
    expect(await attempt('ann', '10.0.0.1', true, by)).to.equal('too_many_attempts 1')
  })
})
