import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadConfiguration, withStored } from '../../../engine/live/load-configuration.ts'
import type { StoredRecord } from '../../../engine/store/records.ts'
import { shipped } from '../../../engine/config/shipped.ts'
import { startServe } from './process.ts'
import type { Serving } from './process.ts'
import { configuration, sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const environment = { OPENAI_API_KEY: 'canary-text', GROQ_API_KEY: 'canary-text' }

describe('cli vendors of the environment', function () {
  this.timeout(120_000)
  let here: Sandbox
  let serving: Serving | undefined
  beforeEach(async () => {
    here = await sandbox()
  })
  afterEach(async () => {
    await serving?.remove()
    serving = undefined
    await here.remove()
  })
  const check = async (text: string) => {
    await here.write('config/sluice.yaml', text)
    return here.run(['check'], environment)
  }
  const load = () => loadConfiguration({ file: 'config/sluice.yaml', root: here.folder, environment })
  const namesOf = ({ settings }: Awaited<ReturnType<typeof load>>) => ({
    providers: settings?.providers.map(({ name }) => name),
    models: settings?.models.map(({ name }) => name),
  })

  it('are on after init as before it, and check names their variables', async () => {
    await rm(join(here.folder, 'config'), { recursive: true })
    expect((await here.run('init')).status).to.equal(0)
    const { status, out } = await here.run(['check'], environment)
    expect(status).to.equal(0)
    expect(out[0]).to.match(
      /^config\/sluice\.yaml:\d+:\d+: note: .*"openai" \(OPENAI_API_KEY\).*"groq" \(GROQ_API_KEY\) \[vendors\]$/,
    )
    expect(out.join('\n')).not.to.contain('canary')
    expect(namesOf(await load()).models).to.deep.equal(['echo', 'openai/*', 'groq/*'])
  })

  it('are off with "off", and where nothing is said', async () => {
    for (const text of [configuration, `vendors: off\n${configuration}`]) {
      expect((await check(text)).out).to.have.length(1)
      expect(namesOf(await load())).to.deep.equal({ providers: ['echo'], models: ['echo'] })
    }
    expect((await check(`vendors: on\n${configuration}`)).status).to.equal(1)
  })

  it('give way to records of the same name, in the file and in the database', async () => {
    const own = '{ name: openai, type: native, base_url: "https://own.test/v1", api_key: "text-of-own" }'
    await check(`vendors: environment\nproviders: [${own}]\nmodels: [{ name: groq/*, provider: openai }]\n`)
    const files = await load()
    expect(namesOf(files)).to.deep.equal({ providers: ['openai', 'groq'], models: ['groq/*'] })
    expect(files.settings?.providers[0]?.config['base_url']).to.equal('https://own.test/v1')

    await check(`vendors: environment\n${configuration}`)
    const value = { name: 'groq', type: 'echo' }
    const stored = { type: 'provider', name: 'groq', version: 1, value, createdAt: 0, updatedAt: 0 } as StoredRecord
    const both = withStored(await load(), { revision: 1, records: [stored] })
    expect(both.leftOut).to.deep.equal([])
    expect(namesOf(both)).to.deep.equal({ providers: ['echo', 'openai', 'groq'], models: ['echo', 'openai/*'] })
  })

  it('stand in findings with the file and line of their own', async () => {
    await check(`vendors: environment\n${configuration}`)
    const { records, files } = await load()
    const { given } = records.get('provider')!.find(({ name }) => name === 'groq')!
    const { file, line } = given.source.report(given.path, '', '')
    expect(file).to.match(/config\/sluice\.yaml$/)
    expect((await readFile(shipped.config, 'utf8')).split('\n')[line - 1]).to.contain('name: groq')
    expect(files).to.include(shipped.config)
  })

  it('are switched on and off by a reload', async () => {
    const listen = 'listen: { port: 0 }\napi_keys: [{ name: text, key: text-of-the-key }]\nproviders: []\n'
    const on = 'vendors: environment\nmodels: [{ name: mine, provider: groq, upstream_model: one }]\n'
    await here.write('config/sluice.yaml', listen)
    const process = (serving = startServe(here.folder, environment))
    const live = () => process.error.filter((line) => line.includes('the configuration is live')).length
    const port = () => /http:\/\/[\d.]+:\d+/.exec([...process.out, ...process.error].join('\n'))?.[0]
    await process.until(() => live() === 1 && port() !== undefined)
    const models = async () => {
      const answer = await fetch(`${port()}/v1/models`, { headers: { authorization: 'Bearer text-of-the-key' } })
      return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
    }
    expect(await models()).to.deep.equal([])
    await here.write('config/sluice.yaml', listen + on)
    await process.until(() => live() === 2)
    expect(await models()).to.include('mine')
    await here.write('config/sluice.yaml', `${listen}vendors: off\n`)
    await process.until(() => live() === 3)
    expect(await models()).to.deep.equal([])
  })
})
