import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { parse } from 'yaml'
import { root, sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

describe('cli/schema', () => {
  let here: Sandbox
  before(async () => {
    here = await sandbox()
  })
  after(() => here.remove())

  const valid = async (schema: string, file: string): Promise<unknown> => {
    const ajv = new Ajv2020({ strict: false, formats: { uri: true } })
    const validate = ajv.compile(JSON.parse(await readFile(join(here.folder, 'out', schema), 'utf8')) as object)
    return validate(parse(await readFile(file, 'utf8'))) || validate.errors
  }

  it('writes schemas that the shipped files fit', async () => {
    const { status, out } = await here.run('schema', '--out', 'out')
    expect(status).to.equal(0)
    expect(out).to.deep.equal([
      'out/pipeline.schema.json  written',
      'out/sluice.schema.json    written',
      'out/fixture.schema.json   written',
      'out/sluice.example.yaml   written',
    ])
    expect(await valid('pipeline.schema.json', join(root, 'pipelines/chat-completions.yaml'))).to.equal(true)
    expect(await valid('pipeline.schema.json', join(root, 'pipelines/generate.yaml'))).to.equal(true)
    expect(await valid('sluice.schema.json', join(root, 'config/sluice.yaml'))).to.equal(true)
    expect(await valid('fixture.schema.json', join(root, 'pipelines/chat-completions.test.yaml'))).to.equal(true)
    expect(await valid('fixture.schema.json', join(root, 'pipelines/generate.yaml'))).to.not.equal(true)
  })

  it('writes an example that is accepted and changes nothing', async () => {
    await here.run('schema', '--out', 'out')
    expect(await here.run('check', 'out/sluice.example.yaml')).to.deep.equal({
      status: 0,
      out: ['1 file: nothing wrong'],
      error: [],
    })
  })

  it('writes nothing while a plugin is missing', async () => {
    await here.write('broken.yaml', 'plugins: [./nowhere]\n')
    const { status, out, error } = await here.run('schema', '--out', 'none', '--config', 'broken.yaml')
    expect(status).to.equal(1)
    expect(out).to.deep.equal([])
    expect(error[0]).to.equal('broken.yaml:1:11: there is no file or folder "./nowhere" [plugin]')
  })
})
