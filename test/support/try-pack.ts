// Tries the packed file as a newcomer does: installed into an empty folder, started there without a word, asked by its own
// "curl", given a configuration by "init", a provider, a plugin with its test and one with a page of the console beside it.
// Run by CI; needs Chromium, and the npm registry or its cache.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fencedBlocks } from '../../engine/cli/check-file.ts'
import { openBrowser } from '../console/support/browser.ts'
import { initialize, stdio } from '../mcp/program.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'sluice-pack-'))
const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name: string }
const launcher = join(folder, 'node_modules', name, 'engine', 'bin', 'sluice.cjs')
const { PATH = '', HOME = '' } = process.env
const quiet = { PATH, HOME, PORT: '0' }

// What npm, when it started this script, took from the settings of the checkout: a newcomer has none of them.
const ours = readFileSync(join(root, '.npmrc'), 'utf8').matchAll(/^([a-z-]+)=/gm)
const settings = new Set([...ours].map(([, name = '']) => `npm_config_${name.replaceAll('-', '_')}`))
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.has(name)))

const npm = (words: readonly string[], cwd: string) =>
  execFileSync('npm', [...words, '--loglevel=error'], {
    cwd,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
const sluice = (words: readonly string[], more: Record<string, string> = {}) =>
  execFileSync(process.execPath, [launcher, ...words], { cwd: folder, env: { ...quiet, ...more }, encoding: 'utf8' })

const write = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

const key = 'sk-sluice-0123456789abcdef0123456789abcdef0123456789a'
const records = `providers: [{ name: acme, type: acme, word: really }]
models: [{ name: m, provider: acme }]
mcp_servers: [${JSON.stringify(stdio('tools'))}]
api_keys: [{ name: try, key: ${key}, mcp_servers: [tools] }]
`
const accept = 'application/json, text/event-stream'

/** A plugin with a module for threads, which fails unless `sluice` and `sluice/kit` are the engine that runs. */
const ownPlugin = {
  'plugins/own/index.ts': `import { GatewayError, definePlugin, defineStage } from 'sluice'
    import { asGatewayError, moduleBeside } from 'sluice/kit'
    const stage = defineStage({
      name: 'own', summary: 'Try the engine.', needs: ['ingress'], provides: ['reply'],
      config: { type: 'object', additionalProperties: false, properties: {} },
      body: { type: 'object', properties: { refuse: { type: 'boolean', default: false } } } as const,
      build: (_, host) => async ({ input }) => {
        const own = new GatewayError('budget_exceeded', {}, { status: 402 })
        if (input.refuse) throw own
        const fromThread = await host.work(moduleBeside('work', import.meta.url), 'sluice', 60_000)
        const value = { sameEngine: asGatewayError(own) === own, fromThread }
        return { reply: { status: 200, headers: {}, body: { kind: 'json', value } } }
      },
    })
    export default definePlugin({ name: 'own', summary: 'Tries the engine.', stages: [stage] })
    `,
  'plugins/own/work.ts': `import { GatewayError } from 'sluice'
    import { asGatewayError } from 'sluice/kit'
    export default function work(word: string): boolean {
      const error = new GatewayError('invalid_request', { reason: word })
      return asGatewayError(error) === error
    }
    `,
  'pipelines/own.yaml': `name: own
summary: Tries the engine.
routes: [POST /own]
stages: [{ auth: { with: key } }, own]
`,
}

const mistakes = `listen: { port: many }
plugin: []
providers:
  - { name: "a b", type: compatible, base_url: ftp://x }
  - { name: c, type: compatibel }
models:
  - { name: m, provider: d, pricing: { input: -1 }, supports_images: perhaps, colour: red }
api_keys:
  - { name: k, key: sk-a, rate_limit: { requests: 0, period: 40d }, budget: { usd: 1.00000001, period: year } }
server_config:
  logging: { level: loud }
  smart_routing: { enabled: 3, modes: 4 }
`

/** Names every module that is loaded, on standard error. */
const tellLoads = `import { registerHooks } from 'node:module'
registerHooks({ load: (url, given, next) => (console.error('loads ' + url), next(url, given)) })
`
/** What a start and a first answer may load, below `node_modules`. */
const atStart = new RegExp(
  `^(${name}/(engine/bin/sluice.cjs|dist/engine/(cli/main|index|kit|store/worker).js|dist/engine/config/prepared/\\w+.cjs|` +
    'dist/engine/chunks/(command|reading|gateway|rolldown-runtime|key-value|key-value-database|thread-\\w+)-[\\w-]{8}.js)|' +
    'better-sqlite3/.*|ajv/dist/(runtime/.*|2020.js)|ajv-formats/dist/formats.js|fast-deep-equal/index.js)$',
)

/** Starts the gateway, lets `use` read what it printed, and ends it. */
async function served(
  words: readonly string[],
  printed: RegExp,
  use: (output: string, log: () => string) => Promise<void>,
  more: Record<string, string> = {},
) {
  const gateway = spawn(process.execPath, [launcher, ...words], { cwd: folder, env: { ...quiet, ...more } })
  const ended = once(gateway, 'exit')
  let output = ''
  let log = ''
  gateway.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  try {
    await new Promise<void>((resolve, reject) => {
      gateway.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (printed.test(output)) resolve()
      })
      void ended.then(() => reject(new Error(`it ended: ${output}${log}`)))
    })
    await use(output, () => log)
  } finally {
    // The second signal ends it at once.
    gateway.kill('SIGTERM')
    gateway.kill('SIGTERM')
    await ended
  }
}

/** Asks a gateway for one answer and returns the model's words. */
async function ask(url: string, key: string, body: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  equal(response.status, 200, await response.clone().text())
  const answer = (await response.json()) as { choices: { message: { content: string } }[] }
  return answer.choices[0]?.message.content ?? ''
}

/** Follows the link of the first start, and makes a record on the page of the plugin "closures". */
async function makeOnPage(link: string): Promise<void> {
  const browser = await openBrowser()
  ok(browser, 'there is no chromium on PATH')
  try {
    const page = await browser.newPage()
    const wrong: string[] = []
    page.on('pageerror', (error) => wrong.push(String(error)))
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
    await page.goto(link)
    await page.getByRole('textbox', { name: 'Username' }).fill('admin')
    for (const name of ['Password', 'Repeat password'])
      await page.getByRole('textbox', { name, exact: true }).fill('a long sentence of ours')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('link', { name: 'Closures' }).click()
    await page.getByRole('button', { name: 'New' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('winter')
    await page.getByRole('combobox', { name: 'Model' }).fill('m')
    await page.getByRole('option', { name: 'm', exact: true }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'winter' }).waitFor()
    await page.getByRole('link', { name: 'Closures' }).click()
    await page
      .getByRole('table', { name: 'Closures' })
      .getByRole('row', { name: /^winter m planned/ })
      .waitFor()
    deepEqual(wrong, [])
  } finally {
    await browser.close()
  }
}

try {
  const packed = npm(['pack', '--pack-destination', folder], root).trim().split('\n').at(-1) ?? ''
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, packed)], folder)
  rmSync(join(folder, packed))

  let [firstKey, firstBody] = ['', '']
  await served([], /-d '.*'\n/, async (output) => {
    match(output, /There is no config\/sluice\.yaml yet/)
    const [, url = '', key = '', body = ''] =
      /curl (\S+)\/v1\/chat\/completions .*Bearer (\S+)'.*-d '(.*)'\n/s.exec(output) ?? []
    match(await ask(url, key, body), /Hello, world/)
    ;[firstKey, firstBody] = [key, body]
    const page = await (await fetch(url)).text()
    for (const [, file = ''] of page.matchAll(/"(\/assets\/[^"]+)"/g))
      equal((await fetch(url + file)).status, 200, file)
    match(page, /"\/assets\/app-[^"]+\.js"/)
  })
  console.log('the empty folder answers, and shows the console')

  // Every room that most processes never enter is loaded on first use.
  write('loaded.mjs', tellLoads)
  await served(
    [],
    /serves on http/,
    async (output, log) => {
      const [url = ''] = /http:\S+/.exec(output) ?? []
      match(await ask(url, firstKey, firstBody), /Hello, world/)
      const loaded = log().matchAll(/^loads .*\/node_modules\/(.*)$/gm)
      const strange = [...loaded].map(([, module = '']) => module).filter((module) => !atStart.test(module))
      deepEqual(strange, [])
    },
    { NODE_OPTIONS: `--import=${join(folder, 'loaded.mjs')}` },
  )
  console.log('a start and an answer load nothing that they do not need')

  match(sluice(['init'], { GROQ_API_KEY: 'no-key' }), /name: groq\/\*/)
  ok(!readFileSync(join(folder, 'config/sluice.yaml'), 'utf8').includes('no-key'))
  match(sluice(['check']), /nothing wrong/)

  const readme = readFileSync(join(root, 'plugins/README.md'), 'utf8')
  const [provider] = fencedBlocks(readme, ['ts'])
  writeFileSync(join(folder, 'acme.ts'), provider?.text ?? '')
  // A provider with a wire format of its own, out of both doors.
  const own = readFileSync(join(root, 'test/seams/provider/plugin.ts'), 'utf8').replaceAll(
    "name: 'acme'",
    "name: 'talk'",
  )
  writeFileSync(join(folder, 'talk.ts'), own)
  writeFileSync(join(folder, 'config/sluice.yaml'), `plugins: [./acme.ts, ./talk.ts, ./plugins]\n${records}`)
  match(sluice(['check']), /nothing wrong/)
  for (const type of ['acme', 'talk']) match(sluice(['test', '--provider', type]), /^(\d+) of \1 checks passed$/m)
  await served([], /serves on http/, async (output) => {
    const [url = ''] = /http:\S+/.exec(output) ?? []
    equal(await ask(url, key, '{"model":"m","messages":[{"role":"user","content":"hi"}]}'), 'really')
  })
  console.log('a provider beside it answers')

  match(sluice(['new', 'stage', 'hello']), /Next: put it into a pipeline/)
  ok(readdirSync(join(folder, 'plugins')).includes('hello.ts'))
  for (const [name, text] of Object.entries(ownPlugin)) write(name, text)
  match(sluice(['check']), /nothing wrong/)
  match(sluice(['list', 'stages', 'hello']), /Refuse models of a given prefix/)
  await served([], /serves on http/, async (output) => {
    const [url = ''] = /http:\S+/.exec(output) ?? []
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const post = (path: string, body: object) =>
      fetch(url + path, { method: 'POST', headers: { ...headers, accept }, body: JSON.stringify(body) })

    const own = await post('/own', {})
    equal(own.status, 200, await own.clone().text())
    deepEqual(await own.json(), { sameEngine: true, fromThread: true })
    equal((await post('/own', { refuse: true })).status, 402)

    // The tokenizer in its thread, which a client does not wait for when it starts slowly.
    const counted = await post('/v1/messages/count_tokens', { model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    equal(counted.status, 200, await counted.clone().text())
    equal(typeof ((await counted.json()) as { input_tokens: unknown }).input_tokens, 'number')

    const mcp = await post('/servers/tools/mcp', initialize())
    equal(mcp.status, 200, await mcp.clone().text())
    match(await mcp.text(), /protocolVersion/)
    equal((await fetch(`${url}/`)).status, 200)
    const wrong = await post('/v1/chat/completions', { model: 'm', messages: 'none' })
    equal(wrong.status, 400)
    match(await wrong.text(), /"param":"messages"/)
  })
  match(sluice(['key', 'create', '--name', 'made']), /^sk-sluice-/)
  console.log('a plugin beside it has the engine that runs, in threads too; MCP servers and the console answer')

  write('plugins/closures.ts', readFileSync(join(root, 'test/seams/pages/closures.ts'), 'utf8'))
  await served([], /#token=/, (output) => makeOnPage(/http\S+#token=\S+/.exec(output)?.[0] ?? ''))
  console.log('the page of a plugin beside it makes a record, in a browser that was set up')

  sluice(['new', 'plugin', 'notes'])
  execFileSync(process.execPath, ['--test'], { cwd: folder, encoding: 'utf8' })
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{ "compilerOptions": { "module": "nodenext", "target": "es2024", "strict": true, "noEmit": true, "skipLibCheck": true, "types": [] }, "files": ["acme.ts", "talk.ts", "plugins/closures.ts", "plugins/notes/index.ts"] }',
  )
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { stdio: 'inherit' })
  console.log('the test of a new plugin passes, and editors know the types')

  // What the package brings ready-made finds what a checkout finds, at the same places.
  for (const own of ['plugins', 'pipelines']) rmSync(join(folder, own), { recursive: true })
  writeFileSync(join(folder, 'config/sluice.yaml'), mistakes)
  const [found, expected] = [launcher, join(root, 'engine/bin/sluice.cjs')].map((program) =>
    spawnSync(process.execPath, [program, 'check'], { cwd: folder, env: quiet, encoding: 'utf8' }),
  )
  equal(found?.status, 1)
  equal(found?.stdout, expected?.stdout)
  ok((found?.stdout.split('\n').length ?? 0) > 8, found?.stdout)
  console.log('mistakes are found as in a checkout')

  rmSync(join(folder, 'config'), { recursive: true })
  match(sluice(['test']), /^[1-9]\d* passing$/m)
  console.log(`the shipped fixtures pass; ${readdirSync(folder).length} entries in the folder`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
