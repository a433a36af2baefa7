import { cp, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { shippedRoutes } from '../support/routes.ts'

const home = resolve(import.meta.dirname, '..', '..')

describe('admin: places on the machine', function () {
  this.timeout(300_000)

  let folder: string
  let gateway: AdminGateway
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-places-')))
  })
  afterEach(async () => {
    await gateway.close()
    await rm(folder, { recursive: true, force: true })
  })
  const start = async (pipelines?: string) => {
    gateway = await startAdmin({
      ...(pipelines === undefined ? {} : { pipelines }),
      providers: [{ name: 'gone', type: 'compatible', base_url: 'http://127.0.0.1:9' }],
      models: [{ name: 'm', provider: 'gone' }],
    })
  }

  /** The detail of a request that fails at a stage. */
  const failed = async () => {
    const asked = await gateway.post('/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(asked.status).to.equal(502)
    const { id } = await gateway.row(({ status }) => status === 502)
    return (await gateway.asAdmin(`GET /api/logs/${id}`)).body['error_detail'] as JsonObject
  }

  /** Every answer to a GET without a parameter, and the plans of pipelines, by route. */
  const answers = async () => {
    const routes = (await shippedRoutes())
      .filter(({ method, path }) => method === 'GET' && path.startsWith('/api/') && !/[:*]|\/tail$/.test(path))
      .map(({ path }) => path)
    const pipelines = ['chat-completions', 'generate', 'route', 'logs-list']
    const asked = [...routes, ...pipelines.map((name) => `/api/config/pipelines/${name}`)]
    return Promise.all(
      asked.map(async (path) => {
        const response = await fetch(gateway.url + path, {
          headers: { authorization: `Bearer ${gateway.admin.token}` },
        })
        return [path, await response.text()] as const
      }),
    )
  }

  const telling = async () => {
    const told = await answers()
    expect(told.length).to.be.above(20)
    return told.filter(([, text]) => text.includes(home) || text.includes(folder)).map(([path]) => path)
  }

  it('are in no answer: files of the package are named relative to it', async () => {
    await start()
    expect((await failed())['at']).to.match(/^pipelines\/generate\.yaml:\d+:\d+ \(call\)$/)
    expect(await telling()).to.deep.equal([])
  })

  it('are in no answer: other files are named relative to the folder of the gateway', async () => {
    const pipelines = join(folder, 'pipelines')
    await cp(join(home, 'pipelines'), pipelines, { recursive: true })
    await start(pipelines)
    expect((await failed())['at']).to.match(/^\.\.\/sluice-places-\w+\/pipelines\/generate\.yaml:\d+:\d+ \(call\)$/)
    expect(await telling()).to.deep.equal([])
    await writeFile(join(pipelines, 'wrong.yaml'), 'name: wrong\nstages: [nothing]\n')
    const { status, body } = await gateway.asAdmin('POST /api/config/reload')
    expect(status).to.equal(422)
    expect(JSON.stringify(body)).not.to.include(folder)
    const shown = (await gateway.asAdmin('GET /api/config/status')).body['error'] as { findings: { file: string }[] }
    expect(shown.findings[0]?.file).to.match(/^\.\.\/sluice-places-\w+\/pipelines\/wrong\.yaml$/)
    expect(await telling()).to.deep.equal([])
  })
})
