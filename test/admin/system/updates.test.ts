import { expect } from 'chai'
import fc from 'fast-check'
import type { Json } from '../../../engine/index.ts'
import service, { isNewer, versionIn } from '../../../plugins/system/updates.ts'
import type { Updates } from '../../../plugins/system/updates.ts'
import { startAdmin } from '../../support/admin.ts'
import { ConfigurationError } from '../../../engine/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'

describe('a newer version', function () {
  this.timeout(300_000)

  const open = async (url?: string): Promise<Updates> => {
    const opened = await service.open?.({ log: { warn() {} } } as never)
    const configured = await opened?.configure({}, {}, (url === undefined ? {} : { updates: url }) as never)
    return configured?.view as Updates
  }
  const url = 'https://updates.example/latest'

  it('is asked for once, however many want to know', async () => {
    const asked: string[] = []
    const view = await open(url)
    const read = (from: string) => Promise.resolve<Json>({ version: `1.${asked.push(from)}.0` })
    const all = await Promise.all([1, 2, 3].map(() => view.latest('1.0.0', read)))
    for (const one of [...all, await view.latest('1.1.0', read)]) {
      expect(Object.keys(one ?? {})).to.deep.equal(['checked_at', 'latest', 'newer'])
      expect(one?.['latest']).to.equal('1.1.0')
      expect(one?.['checked_at']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
    expect(all.map((one) => one?.['newer'])).to.deep.equal([true, true, true])
    expect((await view.latest('1.1.0', read))?.['newer']).to.equal(false)
    expect(asked).to.deep.equal([url])
  })

  it('is not asked for again at once when that failed', async () => {
    let asked = 0
    const view = await open(url)
    const read = () => {
      asked += 1
      return Promise.reject(new Error('away'))
    }
    for (let time = 0; time < 3; time++)
      expect(await view.latest('1.0.0', read)).to.deep.include({ latest: null, newer: false })
    expect(asked).to.equal(1)
  })

  it('is not asked for unless the file says where', async () => {
    const read = () => Promise.reject(new Error('asked'))
    expect(await (await open()).latest('1.0.0', read)).to.equal(null)
  })

  it('is read in the forms of registries and of releases', () => {
    expect(versionIn({ version: '1.2.3' })).to.equal('1.2.3')
    expect(versionIn({ tag_name: 'v1.2.3' })).to.equal('1.2.3')
    for (const strange of [
      null,
      'x',
      [],
      {},
      { version: 7 },
      { version: '1.2' },
      { version: '<b>1.2.3' },
      { version: `1.2.3-${'a'.repeat(99)}` },
    ])
      expect(versionIn(strange), JSON.stringify(strange)).to.equal(undefined)
  })

  it('is compared as numbers, and a release follows its previews', () => {
    const part = fc.nat(99)
    const version = fc.tuple(part, part, part)
    fc.assert(
      fc.property(version, version, (left, right) => {
        const weight = ([major, minor, patch]: readonly number[]) =>
          Number(major) * 1e4 + Number(minor) * 100 + Number(patch)
        expect(isNewer(left.join('.'), right.join('.'))).to.equal(weight(left) > weight(right))
      }),
    )
    expect(isNewer('1.0.0', '1.0.0-beta.1')).to.equal(true)
    expect(isNewer('1.0.0-beta.2', '1.0.0-beta.1')).to.equal(false)
    expect(isNewer('1.0.0-beta.1', '1.0.0')).to.equal(false)
  })

  it('is never asked for at a private address, whatever the file says', async () => {
    const upstream = await scriptedUpstream()
    const address = `${upstream.url.replace('http:', 'https:')}/latest`
    const gateway = await startAdmin({ records: { updates: { url: address } } })
    try {
      const { status, body } = await gateway.asAdmin('GET /api/system/info')
      expect(status).to.equal(200)
      expect(body['update']).to.deep.include({ latest: null, newer: false })
      expect((await gateway.asAdmin('GET /api/system/info')).body['update']).to.deep.equal(body['update'])
      expect(upstream.requests).to.deep.equal([])
      expect(gateway.lines.filter((line) => line.includes('newest version'))).to.have.length(1)
      expect(JSON.stringify(body)).to.not.include('127.0.0.1')
    } finally {
      await gateway.close()
      await upstream.close()
    }
  })

  it('has an address that starts with https', async () => {
    const error = await startAdmin({ records: { updates: { url: 'http://updates.example' } } }).catch(
      (one: unknown) => one,
    )
    expect(error).to.be.instanceOf(ConfigurationError)
    expect((error as Error).message).to.match(/^sluice\.yaml:\d+:\d+: must be an address that starts with https/)
  })
})
