// Tries the packed file as a newcomer does: installed into an empty folder, started there without a word, asked by its own
// "curl", given a configuration by "init" and a provider in a file beside it. Run by CI; needs the npm registry or its cache.
import { equal, match, ok } from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fencedBlocks } from '../../engine/cli/check-file.ts'

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

/** Starts the gateway, lets `use` read what it printed, and ends it. */
async function served(words: readonly string[], printed: RegExp, use: (output: string) => Promise<void>) {
  const gateway = spawn(process.execPath, [launcher, ...words], { cwd: folder, env: quiet })
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
    await use(output)
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

try {
  const packed = npm(['pack', '--pack-destination', folder], root).trim().split('\n').at(-1) ?? ''
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, packed)], folder)
  rmSync(join(folder, packed))

  await served([], /-d '.*'\n/, async (output) => {
    match(output, /There is no config\/sluice\.yaml yet/)
    const [, url = '', key = '', body = ''] =
      /curl (\S+)\/v1\/chat\/completions .*Bearer (\S+)'.*-d '(.*)'\n/s.exec(output) ?? []
    match(await ask(url, key, body), /Hello, world/)
    const page = await (await fetch(url)).text()
    for (const [, file = ''] of page.matchAll(/"(\/assets\/[^"]+)"/g))
      equal((await fetch(url + file)).status, 200, file)
    match(page, /"\/assets\/app-[^"]+\.js"/)
  })
  console.log('the empty folder answers, and shows the console')

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
  writeFileSync(
    join(folder, 'config/sluice.yaml'),
    'plugins: [./acme.ts, ./talk.ts]\nproviders: [{ name: acme, type: acme, word: really }]\nmodels: [{ name: m, provider: acme }]\n',
  )
  match(sluice(['check']), /nothing wrong/)
  for (const type of ['acme', 'talk']) match(sluice(['test', '--provider', type]), /^(\d+) of \1 checks passed$/m)
  const key = sluice(['key', 'create', '--name', 'try']).trim()
  await served([], /serves on http/, async (output) => {
    const [url = ''] = /http:\S+/.exec(output) ?? []
    equal(await ask(url, key, '{"model":"m","messages":[{"role":"user","content":"hi"}]}'), 'really')
  })
  console.log('a provider beside it answers')

  rmSync(join(folder, 'config'), { recursive: true })
  match(sluice(['test']), /^[1-9]\d* passing$/m)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{ "compilerOptions": { "module": "nodenext", "target": "es2024", "strict": true, "noEmit": true, "skipLibCheck": true, "types": [] }, "files": ["acme.ts", "talk.ts"] }',
  )
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { stdio: 'inherit' })
  console.log(
    `the shipped fixtures pass, and editors know the types; ${readdirSync(folder).length} entries in the folder`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
