import { lookup as resolve } from 'node:dns'
import { expect } from 'chai'
import { FileFetcher } from '../../../../plugins/translation/files/fetch-file.ts'
import type { FetchRules } from '../../../../plugins/translation/files/fetch-file.ts'
import type { Lookup } from '../../../../engine/config/reach.ts'
import { scriptedUpstream } from '../../../support/upstream.ts'
import type { ScriptedUpstream } from '../../../support/upstream.ts'

const usual: FetchRules = { privateAddresses: true, limit: 1000, total: 1500, userAgent: 'sluice/test' }
const pdf = Buffer.from('%PDF-1.7 of a page')
const unreachable = 'its host cannot be reached, or has no public address'
const local: Lookup = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])

describe('fetching a file', () => {
  let server: ScriptedUpstream
  const open: FileFetcher[] = []

  beforeEach(async () => {
    server = await scriptedUpstream()
  })
  afterEach(async () => {
    await Promise.all(open.splice(0).map((fetcher) => fetcher.close()))
    await server.close()
  })

  const fetcher = (rules: Partial<FetchRules> = {}, lookup: Lookup = resolve) => {
    const made = new FileFetcher({ ...usual, ...rules }, lookup)
    open.push(made)
    return made
  }
  const fetched = (url: string, rules?: Partial<FetchRules>, lookup?: Lookup) =>
    fetcher(rules, lookup).fetch(url, AbortSignal.timeout(60_000))
  const reason = (url: string, rules?: Partial<FetchRules>, lookup?: Lookup) =>
    fetched(url, rules, lookup).then(
      () => 'it was fetched',
      (error: Error) => `${error.name}: ${error.message}`,
    )

  it('gives its type, its bytes and its name', async () => {
    server.answer({ body: pdf, headers: { 'content-type': 'application/pdf' } })
    expect(await fetched(`${server.url}/a/my%20page.pdf?token=1`)).to.deep.equal({
      mediaType: 'application/pdf',
      data: pdf.toString('base64'),
      filename: 'my page.pdf',
    })
    expect(server.requests[0]?.path).to.equal('/a/my%20page.pdf?token=1')
  })

  it('sends nothing but what fetching takes', async () => {
    server.answer({ body: pdf })
    await fetched(`${server.url}/`)
    expect(server.requests[0]?.headers).to.deep.equal({
      host: new URL(server.url).host,
      connection: 'close',
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'sluice/test',
    })
  })

  it('connects to the address that was checked', async () => {
    const asked: string[] = []
    const rebinding: Lookup = (name, options, callback) => {
      asked.push(name)
      if (asked.length > 1) callback(null, [{ address: '169.254.169.254', family: 4 }])
      else local(name, options, callback)
    }
    server.answer({ body: pdf })
    const { port } = new URL(server.url)
    const one = fetcher({}, rebinding)
    const url = `http://files.test:${port}/page`
    expect((await one.fetch(url, AbortSignal.timeout(60_000))).filename).to.equal('page')
    const refusal = await one.fetch(url, AbortSignal.timeout(60_000)).catch((error: Error) => error.message)
    expect([refusal, asked, server.requests.length]).to.deep.equal([unreachable, ['files.test', 'files.test'], 1])
  })

  it('refuses every way to write an address inside', async () => {
    const hosts = [
      '127.0.0.1 localhost 127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 １２７.0.0.1',
      '[::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::] 0.0.0.0 10.0.0.1 192.168.0.1 172.16.0.1',
      '169.254.169.254 100.64.0.1 [fd00::1] [fe80::1] [64:ff9b::7f00:1]',
    ].flatMap((line) => line.split(' '))
    for (const host of hosts)
      for (const scheme of ['http', 'https'])
        expect(await reason(`${scheme}://${host}/`, { privateAddresses: false }), host).to.equal(
          `Unfetched: ${unreachable}`,
        )
  })

  it('refuses a name that leads inside as it refuses one that leads nowhere', async () => {
    const nowhere: Lookup = (_name, _options, callback) => callback(new Error('ENOTFOUND'), [])
    const both: Lookup = (_name, _options, callback) =>
      callback(null, [
        { address: '8.8.8.8', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ])
    for (const lookup of [local, nowhere, both])
      expect(await reason('http://files.test/', { privateAddresses: false }, lookup)).to.equal(
        `Unfetched: ${unreachable}`,
      )
  })

  it('refuses other schemes, ports and credentials', async () => {
    const outside = { privateAddresses: false }
    expect(await reason('file:///etc/passwd')).to.equal('Unfetched: only http and https are fetched')
    expect(await reason('ftp://8.8.8.8/')).to.equal('Unfetched: only http and https are fetched')
    expect(await reason('not an address')).to.equal('Unfetched: it is no address')
    expect(await reason('http://a:b@8.8.8.8/')).to.equal('Unfetched: an address with credentials is not fetched')
    expect(await reason('http://8.8.8.8:6379/', outside)).to.equal(
      'Unfetched: only the ports 80 and 443 are fetched from',
    )
  })

  it('follows three redirects and no fourth', async () => {
    const away = (to: string) => ({ status: 302, headers: { location: to } })
    server.answer(away('/b'), away('c'), away(`${server.url}/d.pdf`), { body: pdf })
    expect((await fetched(`${server.url}/a`)).filename).to.equal('d.pdf')
    expect(server.requests.map(({ path }) => path)).to.deep.equal(['/a', '/b', '/c', '/d.pdf'])
    server.answer(away('/again'))
    expect(await reason(`${server.url}/a`)).to.equal('Unfetched: it is redirected more than 3 times')
    expect(server.requests).to.have.length(8)
  })

  it('checks where a redirect leads', async () => {
    const places = ['http://169.254.169.254/latest/meta-data', 'file:///etc/passwd', 'http://a:b@127.0.0.1/', 'http://']
    const reasons: string[] = []
    for (const location of places) {
      server.answer({ status: 307, headers: { location }, chunks: ['never read'], ending: 'hang' })
      reasons.push(await reason(`${server.url}/`))
    }
    expect(reasons).to.deep.equal([
      `Unfetched: ${unreachable}`,
      'Unfetched: only http and https are fetched',
      'Unfetched: an address with credentials is not fetched',
      'Unfetched: it is no address',
    ])
    await server.closed()
  })

  it('refuses what is too large, declared or not, and closes the connection', async () => {
    const large = 'Unfetched: it is larger than 1000 bytes'
    server.answer({ headers: { 'content-length': '1001' }, chunks: ['x'], ending: 'hang' })
    expect(await reason(`${server.url}/`)).to.equal(large)
    server.answer({ chunks: ['x'.repeat(900), 'x'.repeat(101)], ending: 'hang' })
    expect(await reason(`${server.url}/`)).to.equal(large)
    await server.closed()
    server.answer({ body: Buffer.alloc(1000) })
    expect((await fetched(`${server.url}/`)).data).to.have.length(1336)
  })

  it('counts the bytes of all files together', async () => {
    server.answer({ body: Buffer.alloc(800) })
    const one = fetcher()
    await one.fetch(`${server.url}/1`, AbortSignal.timeout(60_000))
    const second = one.fetch(`${server.url}/2`, AbortSignal.timeout(60_000)).catch((error: Error) => error.message)
    expect(await second).to.equal('the files together are larger than 1500 bytes')
  })

  it('does not tell what a server inside answered', async () => {
    server.answer({ status: 403, body: { secret: 'inside' } })
    expect(await reason(`${server.url}/`)).to.equal('Unfetched: it was refused')
  })

  it('refuses a file that comes compressed', async () => {
    server.answer({ headers: { 'content-encoding': 'gzip' }, chunks: ['x'], ending: 'hang' })
    expect(await reason(`${server.url}/`)).to.equal('Unfetched: it is sent compressed, though that was not asked for')
  })

  it('ends with the signal, before the answer and in mid-body', async () => {
    for (const script of [{ silent: true }, { chunks: ['x'], ending: 'hang' as const }]) {
      server.answer(script)
      const before = server.requests.length
      const controller = new AbortController()
      const ended = fetcher()
        .fetch(`${server.url}/`, controller.signal)
        .catch((error: unknown) => error)
      await server.received(before + 1)
      controller.abort(new Error('enough'))
      expect(await ended).to.have.property('message', 'enough')
      await server.closed()
    }
  })

  it('takes a connection that breaks for a host that cannot be reached', async () => {
    server.answer({ headers: { 'content-length': '100' }, chunks: ['x'], ending: 'reset' })
    expect(await reason(`${server.url}/`)).to.equal(`Unfetched: ${unreachable}`)
  })
})
