import { spawnSync } from 'node:child_process'
import { mkdir, readFile, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { root, sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const config = `
server_config: { my_count: { requests: 1 } }
providers: [{ name: my-acme, type: acme, sentence: "Hello you." }]
models: [{ name: my-model, provider: my-acme }]
`
const pipeline = `
name: guarded
summary: Chat behind a rule.
protocol: chat
routes: [POST /chat]
without: [limit, allow, reserve, breaker, price, charge, log]
stages:
  - auth
  - my-count-limit
  - parse
  - my-rule: { prefix: internal- }
  - resolve
  - requested
  - attempt: { do: [translate, call, translate-back] }
`
const fixture = `
pipeline: guarded
tests:
  - name: answers
    request: { model: my-model, messages: [{ role: user, content: hi }] }
    expect: { reply: { body: { choices: [{ message: { content: Hello you. }, finish_reason: stop }] } } }
  - name: refuses
    request: { model: internal-model, messages: [{ role: user, content: hi }] }
    expect: { reply: { status: 404, body: { error: { code: model_not_found } } } }
`

describe('cli/new', () => {
  let here: Sandbox
  beforeEach(async () => {
    // What "npm init" writes would make Node take the files for CommonJS.
    here = await sandbox({ 'package.json': '{ "type": "commonjs" }' })
  })
  afterEach(() => here.remove())

  it('writes a provider, a stage and a service that work as they are', async () => {
    expect((await here.run('new', 'provider', 'acme')).status).to.equal(0)
    expect((await here.run('new', 'stage', 'my-rule')).status).to.equal(0)
    expect((await here.run('new', 'service', 'my-count')).status).to.equal(0)
    await here.write('config/sluice.yaml', config)
    await here.write('pipelines/guarded.yaml', pipeline)
    await here.write('guarded.test.yaml', fixture)
    expect((await here.run('check')).status).to.equal(0)
    expect((await here.run('list', 'services', 'my_count')).status).to.equal(0)
    const { status, out } = await here.run('test', 'guarded.test.yaml')
    expect(out.at(-1)).to.equal('2 passing')
    expect(status).to.equal(0)
  })

  it('writes a plugin and a test of it, which passes', async () => {
    await here.write('package.json', '{ "type": "module" }')
    expect((await here.run('new', 'plugin', 'my-notes')).status).to.equal(0)
    expect((await here.run('check')).status).to.equal(0)
    // As an installation would bring it.
    await mkdir(join(here.folder, 'node_modules'))
    await symlink(root, join(here.folder, 'node_modules', 'sluice'), 'dir')
    const { stdout, status } = spawnSync(process.execPath, ['--test'], { cwd: here.folder, encoding: 'utf8' })
    expect(status, stdout).to.equal(0)
    expect(stdout).to.match(/pass 2\n/)
    const { status: again, error } = await here.run('new', 'plugin', 'my-notes')
    expect([again, error[0]]).to.deep.equal([
      2,
      `sluice: ${join('plugins', 'my-notes', 'index.ts')} already exists; nothing was written`,
    ])
    await rm(join(here.folder, 'plugins/my-notes/index.ts'))
    expect((await here.run('new', 'plugin', 'my-notes')).error[0]).to.equal(
      `sluice: ${join('plugins', 'my-notes', 'index.test.ts')} already exists; nothing was written`,
    )
    expect(await readdir(join(here.folder, 'plugins/my-notes'))).to.deep.equal(['index.test.ts'])
  })

  it('writes what the compiler and the linter accept', async function () {
    this.timeout(300_000)
    await here.write('package.json', '{ "type": "module" }')
    await here.run('new', 'provider', 'acme')
    await here.run('new', 'stage', 'my-rule')
    await here.run('new', 'service', 'my-count')
    await here.run('new', 'plugin', 'my-notes')
    const options = {
      noEmit: true,
      typeRoots: [join(root, 'node_modules/@types')],
      paths: {
        sluice: [join(root, 'engine/index.ts')],
        'sluice/testing': [join(root, 'engine/testing.ts')],
      },
    }
    const project = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: options,
      include: [],
      files: ['acme.ts', 'my-rule.ts', 'my-count.ts', 'my-notes/index.ts', 'my-notes/index.test.ts'].map(
        (file) => `plugins/${file}`,
      ),
    }
    await here.write('tsconfig.json', JSON.stringify(project))
    const tools = [
      ['typescript/bin/tsc', '-p', here.folder],
      ['oxlint/bin/oxlint', '--config', join(root, '.oxlintrc.json'), join(here.folder, 'plugins')],
    ] as const
    for (const [tool, ...words] of tools) {
      const program = join(root, 'node_modules', tool)
      const { stdout, status } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' })
      expect(status, stdout).to.equal(0)
    }
  })

  it('says what to do next', async () => {
    const { out } = await here.run('new', 'provider', 'acme', '--out', 'mine/acme.ts')
    expect(out[0]).to.equal('mine/acme.ts is written.')
    expect(out).to.include('  plugins: [./plugins, ./mine/acme.ts]')
    expect((await here.run('new', 'stage', 'rule')).out.join('\n')).to.not.contain('plugins: [')
    expect(out.at(-1)).to.equal('  sluice list providers acme')
    expect((await here.run('new', 'service', 'my-count')).out).to.include('    my_count: { requests: 2 }')
  })

  it('copies a shipped pipeline, which then stands for it', async () => {
    expect((await here.run('new', 'pipeline', 'chat-completions')).status).to.equal(0)
    const copy = await readFile(join(here.folder, 'pipelines/chat-completions.yaml'), 'utf8')
    await here.write('pipelines/chat-completions.yaml', copy.replace(/^summary: .*/m, 'summary: My own.'))
    expect((await here.run('check')).status).to.equal(0)
    expect((await here.run('explain', 'chat-completions')).out.join('\n')).to.contain('My own.')
    const { status, error } = await here.run('new', 'pipeline', 'chat')
    expect(status).to.equal(2)
    expect(error[0]).to.match(/^sluice: no shipped pipeline is "chat".*chat-completions/)
    expect((await here.run('new', 'pipeline', 'chat-completions')).status).to.equal(2)
  })

  it('notes the version of a copy, and check says what one of an earlier version lacks', async () => {
    const folder = join(here.folder, 'pipelines')
    await rm(folder, { recursive: true, force: true })
    for (const name of ['chat-completions', 'route', 'audio'])
      expect((await here.run('new', 'pipeline', name)).status, name).to.equal(0)
    expect((await here.run('check', '--strict')).status).to.equal(0)
    const copy = await readFile(join(folder, 'chat-completions.yaml'), 'utf8')
    const [, version = ''] = /^copied: (\d+\.\d+\.\d+)$/m.exec(copy) ?? []
    expect(await readFile(join(folder, 'audio.yaml'), 'utf8')).to.match(/^ {2}- name: [\w-]+\n {4}copied: /m)
    const lacking = (from: string) =>
      here.write(
        'pipelines/chat-completions.yaml',
        copy.replace(/^copied: .*/m, `copied: ${from}`).replace(/^ +- apply-policy\n/m, ''),
      )
    await lacking('0.0.1')
    const { status, out, error } = await here.run('check')
    expect(status).to.equal(0)
    expect([...out, ...error].join('\n')).to.match(
      /pipelines\/chat-completions\.yaml:\d+:\d+: .*"chat-completions" was copied from version 0\.0\.1 and lacks "apply-policy" of version/,
    )
    expect((await here.run('check', '--strict')).status).to.equal(1)
    await lacking(version)
    expect((await here.run('check', '--strict')).status).to.equal(0)
  })

  it('overwrites nothing', async () => {
    await here.write('plugins/acme.ts', 'mine')
    const { status, error } = await here.run('new', 'provider', 'acme')
    expect(status).to.equal(2)
    expect(error).to.deep.equal(['sluice: plugins/acme.ts already exists; nothing was written'])
    expect(await readFile(join(here.folder, 'plugins/acme.ts'), 'utf8')).to.equal('mine')
  })

  it('refuses names that YAML would not take', async () => {
    for (const name of ['Acme', 'a b', '../x', '-x', '9'])
      expect((await here.run('new', 'stage', '--', name)).status, name).to.equal(2)
  })
})
