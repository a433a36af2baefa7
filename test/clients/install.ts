import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** The clients, pinned. */
const packages = { '@openai/codex': '0.169.0', '@anthropic-ai/claude-code': '2.1.329' } as const

type Name = keyof typeof packages

/** The folder they are installed into; it is kept, so that only the first run takes long. */
const folder = join(tmpdir(), `sluice-clients-${userInfo().uid}`)

/** Installs the clients unless they are there, and gives the command that starts each. */
export function installClients(): { readonly codex: readonly string[]; readonly claude: readonly string[] } {
  mkdirSync(folder, { recursive: true })
  const names = Object.keys(packages) as Name[]
  if (names.some((name) => installed(name) !== packages[name])) {
    console.log(`installing ${names.map((name) => `${name}@${packages[name]}`).join(' and ')} into ${folder} …`)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
    // What runs is the binary of the platform; neither package needs its install script for it.
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
  }
  const found = createRequire(join(folder, 'index.js'))
  return {
    codex: [process.execPath, join(folder, 'node_modules/@openai/codex/bin/codex.js')],
    claude: [process.execPath, found.resolve('@anthropic-ai/claude-code/cli-wrapper.cjs')],
  }
}

function installed(name: Name): string | undefined {
  try {
    const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')
    return (JSON.parse(text) as { version: string }).version
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
