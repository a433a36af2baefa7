import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { startServe } from '../../engine/cli/process.ts'
import type { Serving } from '../../engine/cli/process.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { begin, bytesOf, fingerprint, upload } from './form.ts'

const megabyte = 1024 * 1024
const plugin = join(import.meta.dirname, 'plugin')
const usage = `
name: memory
summary: What the process takes.
public: true
routes: [GET /memory]
stages: [acme-memory]
`
const key = 'sk-upload-0123456789abcdef0123456789abcdef'
const models = [
  { name: 'w', provider: 'deaf', upstream_model: 'deaf-1', fallbacks: ['second'] },
  { name: 'second', provider: 'vendor', upstream_model: 'vendor-2026-large' },
  { name: 'acme', provider: 'acme' },
]

describe('a large upload', () => {
  let server: Server
  let serving: Serving
  let folder: string
  let url: string
  /** What the vendor got: the hash of its bytes, their number, and the length that it was told. */
  const got: string[] = []
  before(async () => {
    server = createServer((request, response) => {
      const hash = createHash('sha256')
      let size = 0
      request.on('data', (chunk: Buffer) => {
        hash.update(chunk)
        size += chunk.length
      })
      request.on('end', () => {
        got.push(`${hash.digest('hex')} ${size} ${request.headers['content-length']}`)
        response.setHeader('content-type', 'application/json').end('{"text":"heard"}')
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    folder = await mkdtemp(join(tmpdir(), 'sluice-upload-'))
    await mkdir(join(folder, 'pipelines'))
    await writeFile(join(folder, 'pipelines', 'memory.yaml'), usage)
    const vendor = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await writeFile(
      join(folder, 'sluice.yaml'),
      stringify({
        listen: { port: 0 },
        database: { url: `sqlite:${folder}/data/sluice.db` },
        plugins: [plugin],
        pipelines: './pipelines',
        providers: [
          { name: 'deaf', type: 'acme', fails: true },
          { name: 'vendor', type: 'native', base_url: vendor, api_key: 'upstream-key' },
          { name: 'acme', type: 'acme' },
        ],
        models,
        api_keys: [{ name: 'test', key }],
      }),
    )
    serving = startServe(folder, { SLUICE_CONFIG: 'sluice.yaml' }, '--json')
    await serving.until(() => serving.out.some((line) => line.includes('"url"')))
    ;({ url } = Object.assign({}, ...serving.out.map((line) => JSON.parse(line) as object)) as { url: string })
  })
  after(async () => {
    await serving.remove()
    server.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** The most bytes of memory that the gateway ever had. */
  const most = async () => ((await (await fetch(`${url}/memory`)).json()) as { most: number }).most

  for (const place of ['first', 'last'] as const)
    it(`passes in little memory and is sent again to the next candidate, the model's name ${place}`, async function () {
      this.timeout(600_000)
      // What every upload needs is there before it is measured.
      for (let round = 0; round < 20; round++) await upload(url, key, { model: 'w', size: megabyte, place })
      const before = await most()
      expect(await upload(url, key, { model: 'w', size: 200 * megabyte, place })).to.deep.equal({
        status: 200,
        body: '{"text":"heard"}',
      })
      expect((await most()) - before).to.be.below(32 * megabyte)
      const [hash, , , size] = fingerprint({ model: 'vendor-2026-large', size: 200 * megabyte, place }).split(' ')
      expect(got.at(-1)).to.equal(`${hash} ${size} ${size}`)
    })
})

describe('the body of an upload', function () {
  this.timeout(300_000)
  let gateway: RunningGateway
  const start = async (settings: GatewaySettings = {}) => {
    gateway = await startGateway({
      plugins: [plugin],
      providers: [{ name: 'acme', type: 'acme' }],
      models: [{ name: 'acme', provider: 'acme', upstream_model: 'acme-2026' }],
      ...settings,
    })
  }
  afterEach(() => gateway.close())

  const send = (form: Partial<Parameters<typeof bytesOf>[0]>) =>
    upload(gateway.url, gateway.key, { model: 'acme', size: 3 * megabyte, place: 'last', ...form })
  /** Resolves once no file of an upload is open. Only Linux tells. */
  const forgotten = async () => {
    for (let open = 1; open > 0;) {
      const descriptors = await readdir('/proc/self/fd').catch(() => [])
      const files = await Promise.all(descriptors.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => '')))
      open = files.filter((file) => file.includes('/spool/')).length
    }
  }

  for (const place of ['first', 'last'] as const)
    for (const [where, size] of [
      ['held', 1],
      ['held', 200_000],
      ['on disk', 300_000],
      ['on disk', 3 * megabyte],
    ] as const)
      it(`of ${size} bytes, the model's name ${place}, is ${where} and may be read in parts, more than once`, async () => {
        await start()
        const { status, body } = await send({ size, place })
        expect(status, body).to.equal(200)
        const text = `${fingerprint({ model: 'acme-2026', size, place })} ${where}`
        expect(JSON.parse(body)).to.deep.equal({ text })
        await forgotten()
      })

  it('is refused when it is malformed at its very end, before a provider is asked', async () => {
    await start()
    const { status, body } = await send({ end: '--the-boundary\r\n' })
    expect(status).to.equal(400)
    expect(body).to.contain('The form is malformed: it has no end.')
    expect((await gateway.rows()).map(({ provider }) => provider)).to.deep.equal([null])
    await forgotten()
  })

  it('is refused when it names its model twice, however far apart', async () => {
    await start()
    const end = '--the-boundary\r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n--the-boundary--\r\n'
    const { status, body } = await send({ end })
    expect(status).to.equal(400)
    expect(body).to.contain('Invalid value at model: it is there more than once.')
    await forgotten()
  })

  it('is refused as soon as it is larger than its pipeline allows', async () => {
    await start()
    const { status, body } = await send({ size: 513 * megabyte })
    expect(status).to.equal(413)
    expect(body).to.contain('larger than 536870912 bytes')
    await forgotten()
  }).timeout(600_000)

  it('is refused where there is no room for it on disk, and leaves the room to others', async () => {
    await start({ limits: { spool: 2 * megabyte } })
    const { status, body, wait } = await send({})
    expect([status, wait]).to.deep.equal([503, '1'])
    expect(JSON.parse(body)).to.deep.include({ error: { ...JSON.parse(body).error, code: 'overloaded' } })
    await forgotten()
    for (let round = 0; round < 3; round++) expect((await send({ size: megabyte })).status).to.equal(200)
    await forgotten()
  })

  it('is refused where the disk takes none, and the operator is told', async () => {
    const data = await mkdtemp(join(tmpdir(), 'sluice-upload-'))
    await writeFile(join(data, 'spool'), '')
    await start({ folder: data })
    expect((await send({})).status).to.equal(503)
    expect((await send({ size: 1000 })).status).to.equal(200)
    const told = gateway.lines.map((line) => JSON.parse(line) as { msg: string; err?: { code?: string } })
    expect(told.filter(({ msg }) => msg === 'a large body cannot be written to disk')).to.have.length(1)
    await rm(data, { recursive: true })
  })

  it('leaves nothing behind when its client leaves in the middle', async () => {
    await start()
    const asking = begin(gateway.url, gateway.key)
    const broken = once(asking, 'error')
    for (const bytes of [...bytesOf({ model: 'acme', size: 2 * megabyte, place: 'last' })].slice(0, -3))
      if (!asking.write(bytes)) await once(asking, 'drain')
    asking.destroy(new Error('gone'))
    await broken
    expect((await gateway.rows(1))[0]).to.include({ result: 'client_closed' })
    await forgotten()
  })

  it('is cut at the end of draining, and leaves nothing behind', async () => {
    await start()
    const asking = begin(gateway.url, gateway.key)
    const broken = once(asking, 'error').catch(() => undefined)
    const answered = once(asking, 'response').catch(() => undefined)
    asking.write(Buffer.concat([...bytesOf({ model: 'acme', size: 400_000, place: 'first' })].slice(0, -1)))
    for (let open = false; !open;) {
      const files = await readdir('/proc/self/fd').catch(() => undefined)
      if (!files) break
      const links = await Promise.all(files.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => '')))
      open = links.some((file) => file.includes('/spool/'))
    }
    await gateway.engine.close(100)
    await Promise.race([broken, answered])
    asking.destroy()
    await forgotten()
  })

  it('stands in no folder by any name', async () => {
    const data = await mkdtemp(join(tmpdir(), 'sluice-upload-'))
    await start({ folder: data })
    const asking = begin(gateway.url, gateway.key)
    asking.on('error', () => undefined)
    asking.write(Buffer.concat([...bytesOf({ model: 'acme', size: 400_000, place: 'first' })].slice(0, -1)))
    for (let found: string[] | undefined; found === undefined;)
      found = await readdir(join(data, 'spool')).catch(() => undefined)
    await until(async () => (await readdir(join(data, 'spool'))).length === 0)
    const descriptors = await readdir('/proc/self/fd').catch(() => [])
    const modes: number[] = []
    for (const path of descriptors.map((one) => `/proc/self/fd/${one}`)) {
      const file = await readlink(path).catch(() => '')
      if (file.includes(`${data}/spool/`)) modes.push((await stat(path)).mode & 0o777)
    }
    if (descriptors.length > 0) expect(modes, 'only its owner may read it').to.deep.equal([0o600])
    asking.destroy()
    await forgotten()
    await rm(data, { recursive: true })
  })
})
