import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { rm } from 'node:fs/promises'
import { sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

describe('cli/init', () => {
  let here: Sandbox
  beforeEach(async () => {
    here = await sandbox()
    await rm(join(here.folder, 'config'), { recursive: true })
  })
  afterEach(() => here.remove())

  const written = () => readFile(join(here.folder, 'config/sluice.yaml'), 'utf8')

  it('writes the providers whose variables are set, and their models', async () => {
    const { status } = await here.run(['init'], {
      ANTHROPIC_API_KEY: 'canary-text',
      GEMINI_API_KEY: 'canary-text',
      GROQ_API_KEY: 'canary-text',
    })
    expect(status).to.equal(0)
    const text = await written()
    expect(text.split('\n')[0]).to.equal('# yaml-language-server: $schema=./sluice.schema.json')
    expect(text.match(/name: ([^ ,\n]+)/g)).to.deep.equal([
      'name: echo',
      'name: anthropic',
      'name: gemini',
      'name: groq',
      'name: echo',
      'name: anthropic/*',
      'name: gemini/*',
      'name: groq/*',
    ])
    expect(text).to.contain('api_key: "${GROQ_API_KEY}"')
    expect(text).not.to.contain('canary')
    expect(await readFile(join(here.folder, 'config/sluice.schema.json'), 'utf8')).to.contain('"preset"')
    const { out } = await here.run(['check'], { ANTHROPIC_API_KEY: 'x', GEMINI_API_KEY: 'x', GROQ_API_KEY: 'x' })
    expect(out).to.have.length(2)
    expect(out[0]).to.contain('note: no vendor is on')
  })

  it('finds the variables of clouds, of which several belong together', async () => {
    const aws = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE', AWS_SECRET_ACCESS_KEY: 'canary-text' }
    const azure = { AZURE_OPENAI_ENDPOINT: 'https://name.openai.azure.com/', AZURE_OPENAI_API_KEY: 'canary-text' }
    expect((await here.run(['init'], { ...aws, ...azure })).status).to.equal(0)
    const text = await written()
    const names = text.match(/(?<=name: )[^ ,\n]+/g)?.join(' ')
    expect(names).to.equal('echo azure bedrock echo azure/* bedrock/*')
    expect(text).not.to.contain('canary')
    const { status, out } = await here.run(['check'], { ...aws, ...azure })
    expect([status, out.length]).to.deep.equal([0, 2])
  })

  it('writes what needs no account, and how to go on, where nothing is set', async () => {
    expect((await here.run('init')).status).to.equal(0)
    expect(await written()).to.match(/^vendors: environment #/m)
    const { status, out } = await here.run('check')
    expect(status).to.equal(0)
    expect(out.at(-1)).to.contain('nothing wrong')
  })

  it('overwrites nothing', async () => {
    await here.write('config/sluice.yaml', 'models: []\n')
    const { status, error } = await here.run('init')
    expect(status).to.equal(2)
    expect(error).to.deep.equal(['sluice: config/sluice.yaml already exists; nothing was written'])
    expect(await written()).to.equal('models: []\n')
  })
})
