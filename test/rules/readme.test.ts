import { spawnSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect } from 'chai'
import { programOf } from '../../engine/cli/list.ts'
import { makeProgram } from '../../engine/cli/program.ts'
import { fencedBlocks } from '../../engine/cli/check-file.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startFolder } from '../support/folder.ts'
import { registry } from './registry.ts'
import { root } from './sources.ts'

const pages = ['README.md', 'docs/operator.md', 'plugins/README.md', 'engine/README.md']
const read = (name: string) => readFileSync(join(root, name), 'utf8')

/** The lines of a page's shell blocks, without comments. */
const commandsOf = (page: string) =>
  fencedBlocks(read(page), ['sh']).flatMap(({ text }) =>
    text.split('\n').flatMap((line) => {
      const command = line.replace(/\s+#.*$/, '').trim()
      return command === '' ? [] : [command]
    }),
  )

/** Why the command line would not take these words. */
function problemOf(words: readonly string[], program: Command): string | undefined {
  let command = program
  const rest = [...words]
  while (rest[0] !== undefined && command.commands.length > 0) {
    const next = command.commands.find((one) => one.name() === rest[0])
    if (next === undefined) return `no command "${rest[0]}"`
    command = next
    rest.shift()
  }
  const known = [...command.options, ...program.options].map(({ long }) => long)
  const unknown = rest.filter((word) => word.startsWith('--') && !known.includes(word))
  if (unknown.length > 0) return `no option ${unknown.join()}`
  const options = rest.filter((word) => word.startsWith('--')).length
  const most = command.registeredArguments.some(({ variadic }) => variadic)
    ? Infinity
    : command.registeredArguments.length
  // Each option takes one value at most.
  return rest.length - options > most + options ? 'too many words' : undefined
}

describe('the read-mes', () => {
  it('begin with what works in a checkout', () => {
    expect(commandsOf('README.md').slice(0, 2)).to.deep.equal(['npm ci', 'npm start'])
  })

  it('and all other texts name no package of a registry, and "npx sluice" only for a checkout', () => {
    const { name } = JSON.parse(read('package.json')) as { name: string }
    const installs = new RegExp(
      `(npm (i|install|add|exec)|npx|yarn add|pnpm (add|dlx)|bunx)( -\\S+)* ${name}\\b|-p ${name}\\b|node_modules/${name}\\b`,
    )
    const files = globSync(
      ['README.md', '{docs,plugins,pipelines,config,engine,console/src,test/support}/**/*.{md,yaml,json,ts,tsx,cjs}'],
      { cwd: root, exclude: (path) => path.includes('node_modules') },
    )
    expect(files).to.include.members(['README.md', 'engine/bin/sluice.cjs', 'test/support/try-pack.ts'])
    const shown = files.flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => installs.test(line))
        .map((line) => `${file}: ${line}`),
    )
    expect(shown.filter((line) => !/in a checkout/i.test(line))).to.deep.equal([])
  })

  it('show commands that exist', async () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const silent = { out: () => {}, error: () => {}, style: (_: unknown, text: string) => text }
    const program = programOf(
      await registry(),
      { environment: {}, folder: root, interactive: false, ...silent },
      makeProgram,
    )
    const shown = pages.flatMap((page) => commandsOf(page).flatMap((line) => line.split(' && ')))
    expect(shown.length).to.be.above(15)
    const wrong = shown.flatMap((line) => {
      const [tool, ...words] = line.split(/\s+/)
      const script = words[0] === 'run' ? words[1] : words[0]
      if (tool === 'npm') return script === 'ci' || (script ?? '') in scripts ? [] : [`${line}: no script`]
      const problem = tool === 'sluice' ? problemOf(words, program) : 'of another tool'
      return problem === undefined ? [] : [`${line}: ${problem}`]
    })
    expect(wrong).to.deep.equal([])
  })

  it('show a provider that serves as it is, with the configuration beside it', async function () {
    this.timeout(300_000)
    const [code] = fencedBlocks(read('plugins/README.md'), ['ts'])
    const [settings] = fencedBlocks(read('plugins/README.md'), ['yaml'])
    const here = await sandbox({ 'acme.ts': code?.text ?? '', 'config/sluice.yaml': settings?.text ?? '' })
    try {
      expect((await here.run('check')).out.at(-1)).to.contain('nothing wrong')
      const { out } = await here.run('test', '--provider', 'acme')
      expect(out.at(-1)).to.match(/^(\d+) of \1 checks passed$/)
    } finally {
      await here.remove()
    }
    const gateway = await startFolder(
      {
        plugins: ['./acme.ts'],
        providers: [{ name: 'acme', type: 'acme', word: 'really' }],
        models: [{ name: 'm', provider: 'acme' }],
      },
      { 'acme.ts': code?.text ?? '' },
    )
    try {
      const messages = [{ role: 'user' as const, content: 'hi' }]
      const chat = await openai(gateway).chat.completions.create({ model: 'm', messages })
      expect(chat.choices[0]?.message.content).to.equal('really')
      const streamed = anthropic(gateway).messages.stream({ model: 'm', messages, max_tokens: 9 })
      expect(await streamed.finalText()).to.equal('really')
    } finally {
      await gateway.close()
    }
  })

  it('show a test of a plugin that passes', async function () {
    this.timeout(300_000)
    const tests = fencedBlocks(read('plugins/README.md'), ['ts']).filter(({ text }) =>
      text.includes("'sluice/testing'"),
    )
    expect(tests).to.have.length(1)
    const here = await sandbox({ 'package.json': '{}', 'reach.test.ts': tests[0]?.text ?? '' })
    try {
      await here.run('new', 'plugin', 'notes', '--out', 'index.ts')
      await mkdir(join(here.folder, 'node_modules'))
      await symlink(root, join(here.folder, 'node_modules', 'sluice'), 'dir')
      const { stdout, status } = spawnSync(process.execPath, ['--test'], { cwd: here.folder, encoding: 'utf8' })
      expect(status, stdout).to.equal(0)
      expect(stdout).to.match(/pass 3\n/)
    } finally {
      await here.remove()
    }
  })

  it('show plugins that load, with the pipelines and models that they name', async function () {
    this.timeout(300_000)
    const [, ...all] = fencedBlocks(read('plugins/README.md'), ['ts'])
    const blocks = all.filter(({ text }) => !text.includes("'sluice/testing'"))
    const plugins = [...blocks, ...fencedBlocks(read('docs/telling.md'), ['ts'])]
    expect(plugins).to.have.length.above(3)
    const files = plugins.map(({ text }, index) => [`own/plugin-${index}.ts`, text] as const)
    const [, ...pipelines] = fencedBlocks(read('plugins/README.md'), ['yaml'])
    const asks = '{ pipeline: jury, model: echo }'
    const here = await sandbox({
      ...Object.fromEntries(files),
      'config/sluice.yaml': `plugins: [${files.map(([file]) => `./${file}`).join()}]
providers: [{ name: echo, type: echo }]
models: [{ name: echo, provider: echo }]
`,
      ...Object.fromEntries(pipelines.map(({ text }, index) => [`pipelines/block-${index}.yaml`, text])),
      'pipelines/judged.yaml': `name: judged
summary: Judged first.
protocol: chat
routes: [POST /judged]
stages: [auth: { with: key }, parse, ask-first: ${asks}, use: prepare, use: generate]
finally: [use: settle]
`,
    })
    try {
      const { out } = await here.run('check')
      expect(out.at(-1), out.join('\n')).to.contain('nothing wrong')
    } finally {
      await here.remove()
    }
  })

  it('show a wire format that is spoken', async function () {
    this.timeout(300_000)
    const page = read('docs/wire-formats.md')
    const [plugin] = fencedBlocks(page, ['ts'])
    const [settings, fixture] = fencedBlocks(page, ['yaml'])
    const here = await sandbox({
      'plugins/parrot.ts': plugin?.text ?? '',
      'config/sluice.yaml': settings?.text ?? '',
      'pipelines/parrot.test.yaml': fixture?.text ?? '',
    })
    try {
      const { out } = await here.run(['check'], { PARROT_KEY: 'x' })
      expect(out.at(-1), out.join('\n')).to.contain('nothing wrong')
      const tested = await here.run('test', 'pipelines/parrot.test.yaml')
      expect(tested.out.at(-1), tested.out.join('\n')).to.equal('2 passing')
    } finally {
      await here.remove()
    }
  })

  it('show services that count, sign in and are shown', async function () {
    this.timeout(300_000)
    const page = read('docs/services.md')
    const [tally, desk] = fencedBlocks(page, ['ts']).map(({ text }) => text)
    const [settings, endpoints] = fencedBlocks(page, ['yaml']).map(({ text }) => text)
    const echo = 'providers: [{ name: echo, type: echo }]\nmodels: [{ name: echo, provider: echo }]\n'
    const plugins = { 'plugins/tally.ts': tally ?? '', 'plugins/desk.ts': desk ?? '' }
    const here = await sandbox({
      ...plugins,
      'pipelines/desk.yaml': endpoints ?? '',
      'config/sluice.yaml': `${settings}\n${echo}`,
    })
    try {
      const { out } = await here.run('check')
      expect(out.at(-1), out.join('\n')).to.contain('nothing wrong')
    } finally {
      await here.remove()
    }
    const limited = `name: limited
summary: Limited.
protocol: chat
routes: [POST /limited]
stages: [auth: { with: key }, tally-limit, parse, use: prepare, use: generate]
finally: [use: settle]
`
    const gateway = await startFolder(
      {
        plugins: ['./plugins'],
        server_config: { tally: { requests: 1 }, desk: { token: 'the-word-of-the-chief' } },
        providers: [{ name: 'echo', type: 'echo' }],
        models: [{ name: 'echo', provider: 'echo' }],
      },
      { ...plugins, 'pipelines/desk.yaml': endpoints ?? '', 'pipelines/limited.yaml': limited },
    )
    try {
      const asked = async (model: string) =>
        (await gateway.ask('/limited', { model, messages: [{ role: 'user', content: 'Hi' }] })).status
      expect([await asked('none'), await asked('echo'), await asked('echo')]).to.deep.equal([404, 200, 429])
      const member = { authorization: 'Bearer the-word-of-the-chief' }
      const greeted = await gateway.ask('/api/desk/chief', { to: 'Ann', times: 2 }, member)
      expect(await greeted.json()).to.deep.equal({ text: 'Chief greets Ann. Chief greets Ann.' })
      expect((await gateway.ask('/api/desk/chief', { to: 'Ann' })).status).to.equal(401)
      expect((await gateway.ask('/api/desk/greet', { to: '' })).status).to.equal(422)
    } finally {
      await gateway.close()
    }
  })

  it('show a configuration without a mistake', async () => {
    const [settings] = fencedBlocks(read('docs/operator.md'), ['yaml'])
    const here = await sandbox({ 'config/sluice.yaml': settings?.text ?? '' })
    try {
      const keys = { OPENAI_API_KEY: 'x', ANTHROPIC_API_KEY: 'x', GROQ_API_KEY: 'x' }
      expect((await here.run(['check'], keys)).out).to.have.length(1)
    } finally {
      await here.remove()
    }
  })
})
