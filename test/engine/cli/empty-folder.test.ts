import { mkdtemp, realpath, rm, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startCommand } from './process.ts'
import type { Serving } from './process.ts'

const pipeline =
  'name: hi\nsummary: Says how it fares.\npublic: true\nroutes: [GET /hi]\nstages: [{ health: { report: ready } }]\n'

describe('cli in an empty folder', function () {
  this.timeout(300_000)
  let folder: string
  let serving: Serving | undefined
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-empty-')))
  })
  afterEach(async () => {
    await serving?.remove()
    serving = undefined
    await rm(folder, { recursive: true, force: true })
  })

  it('serves, shows a key and where the configuration would be, and takes up what is written there', async () => {
    const process = startCommand(folder, { PORT: '0', GROQ_API_KEY: 'no-key' })
    serving = process
    await process.until(() => process.out.some((line) => line.includes('Hello, world')))
    const said = process.out.join('\n')
    expect(said).to.match(/There is no config\/sluice\.yaml yet; "sluice init" writes one\. .*echo, groq\/\*\./)
    expect(
      said
        .slice(said.indexOf('There is no'), said.indexOf('Try it:'))
        .split('\n')
        .filter((line) => line !== ''),
    ).to.have.length.below(5)
    expect(said).to.match(/^\d+ providers are off until their variables are set; "sluice check" names them\.$/m)
    const [, url = '', key = ''] = /curl (\S+)\/v1\/chat\/completions .*Bearer (\S+)'/s.exec(said) ?? []
    const models = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    expect(await models.json()).to.have.nested.property('data[0].id', 'echo')

    await mkdir(join(folder, 'pipelines'))
    await writeFile(join(folder, 'pipelines', 'hi.yaml'), pipeline)
    const live = () => process.error.filter((line) => line.includes('the configuration is live')).length
    await process.until(() => live() > 1)
    expect((await fetch(`${url}/hi`)).status).to.equal(200)
  })
})
