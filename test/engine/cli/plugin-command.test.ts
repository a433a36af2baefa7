import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { configuration, sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const plugin = `
import { defineCommand, definePlugin } from 'sluice'

const options = { type: 'object', additionalProperties: false, properties: { folder: { type: 'string', description: 'A folder.' } } }

export default definePlugin({
  name: 'looks',
  summary: 'Looks.',
  commands: [
    defineCommand({
      name: 'look',
      summary: 'Look.',
      options,
      arguments: ['folder'],
      async run({ folder }, _services, { environment, inFolder, out }) {
        out(environment['COLOUR'] ?? 'no colour')
        if (folder) out(await inFolder(folder, ['api_keys'], async ({ api_keys: keys }) => keys.declared.map(({ name }) => name).join()))
        return 0
      },
    }),
  ],
})
`

describe('cli/plugin-command', () => {
  let here: Sandbox
  beforeEach(async () => {
    here = await sandbox({ 'plugins/looks.ts': plugin })
  })
  afterEach(() => here.remove())

  it('opens nothing for a command without services, whose configuration may have mistakes', async () => {
    await here.write('config/sluice.yaml', `${configuration}nonsense: 1\n`)
    const { status, out, error } = await here.run(['look'], { COLOUR: 'red' })
    expect({ status, out, error }).to.deep.equal({ status: 0, out: ['red'], error: [] })
    expect(existsSync(join(here.folder, 'data'))).to.equal(false)
  })

  it('opens services for the configuration of another folder, with the variables of its .env', async () => {
    const there = join(here.folder, 'there')
    const keys = 'api_keys: [{ name: other, key: "${OTHER_KEY}" }]\n'
    await here.write('there/config/sluice.yaml', `${configuration}database: { url: 'sqlite:${there}/own.db' }\n${keys}`)
    await here.write('there/.env', 'OTHER_KEY=key-of-the-other\n')
    const { status, out } = await here.run('look', there)
    expect({ status, out }).to.deep.equal({ status: 0, out: ['no colour', 'other'] })
    expect(existsSync(join(there, 'own.db'))).to.equal(true)
    expect(existsSync(join(here.folder, 'data'))).to.equal(false)
  })

  it('tells what is wrong with that configuration', async () => {
    await here.write('there/config/sluice.yaml', 'providers: 7\n')
    const { status, error } = await here.run('look', join(here.folder, 'there'))
    expect(status).to.equal(2)
    expect(error.join('\n')).to.match(/^sluice: config\/sluice.yaml:1:12: must/)
  })
})
