import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { startCommand } from './process.ts'
import { root, sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

describe('cli/main', () => {
  let here: Sandbox
  before(async () => {
    here = await sandbox()
  })
  after(() => here.remove())

  it('explains itself', async () => {
    const { status, out } = await here.run('--help')
    expect(status).to.equal(0)
    const commands = out.slice(out.indexOf('Commands:') + 1).flatMap((line) => /^ {2}(\w+)/.exec(line)?.[1] ?? [])
    const own = ['serve', 'health', 'check', 'init', 'explain', 'list', 'schema', 'test', 'new']
    expect(commands.slice(0, own.length)).to.deep.equal(own)
    // Those of plugins.
    expect(commands.slice(own.length, -1)).to.include.members(['audit', 'key', 'logs'])
    expect(commands.at(-1)).to.equal('help')
  })

  it('explains a command with the options that all have', async () => {
    const { status, out } = await here.run('help', 'serve')
    expect(status).to.equal(0)
    expect(out[0]).to.equal('Usage: sluice serve [options]')
    expect(out.join('\n')).to.match(/--no-watch[\s\S]*--config <file>[\s\S]*--json/)
  })

  it('tells its version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    expect(await here.run('--version')).to.deep.equal({ status: 0, out: [version], error: [] })
  })

  for (const words of [['nonsense'], ['check', '--nonsense'], ['explain'], ['list', 'nonsense'], ['new', 'provider']])
    it(`answers 2 to wrong use: sluice ${words.join(' ')}`, async () => {
      const { status, out, error } = await here.run(...words)
      expect(status).to.equal(2)
      expect(out).to.deep.equal([])
      expect(error.join('')).to.not.equal('')
    })

  it('ends in peace when nobody reads on', async () => {
    const command = startCommand(here.folder, {}, 'list', '--markdown')
    command.leave()
    expect(await command.ended).to.equal(0)
    expect(command.error).to.deep.equal([])
  })

  it('suggests the command that was meant', async () => {
    const { error } = await here.run('chekc')
    expect(error).to.deep.equal(["sluice: unknown command 'chekc'", '(Did you mean check?)'])
  })

  it('serves where no command is named', async () => {
    const { status, out, error } = await here.run('--config', 'config', '--json')
    expect({ status, out, error }).to.deep.equal({ status: 1, out: [], error: [] })
  })

  it('takes the configuration from an option, before or behind the command', async () => {
    const wrong = 'other.yaml:1:1: cannot be read: ENOENT [file]'
    expect((await here.run('--config', 'other.yaml', 'check')).out).to.include(wrong)
    expect((await here.run('check', '--config', 'other.yaml')).out).to.include(wrong)
  })

  it('loads no command before it is asked for', () => {
    for (const file of ['main.ts', 'program.ts']) {
      const text = readFileSync(join(root, 'engine/cli', file), 'utf8')
      const loaded = [...text.matchAll(/^import (?!type).* from '([^']+)'/gm)].map(([, specifier]) => specifier)
      expect(
        loaded.filter(
          (specifier) =>
            !specifier?.startsWith('node:') &&
            ![
              'commander',
              '../version.ts',
              '../config/shipped.ts',
              './kinds.ts',
              './program.ts',
              './terminal.ts',
            ].includes(specifier ?? ''),
        ),
      ).to.deep.equal([])
    }
  })
})
