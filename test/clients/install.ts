import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** The clients that come from npm, pinned. */
const packages = {
  '@openai/codex': '0.169.0',
  '@anthropic-ai/claude-code': '2.1.329',
  '@ai-sdk/openai-compatible': '3.0.92',
  '@anthropic-ai/sdk': '1.11.0',
  ai: '7.0.173',
  openai: '7.55.0',
  'opencode-ai': '1.18.33',
  '@qwen-code/qwen-code': '0.24.4',
} as const
/** Those for Python, pinned. */
const wheels = ['openai==3.54.0', 'anthropic==2.12.0', 'langchain-openai==1.7.3']

type Name = keyof typeof packages

/** The folder they are installed into; it is kept, so that only the first run takes long. */
const folder = join(tmpdir(), `sluice-clients-${userInfo().uid}`)

/** What was installed, for the environment of a client. */
export interface Installed {
  /** Folders with the programs. */
  readonly programs: readonly string[]
  /** The `node_modules` with what a client imports. */
  readonly packages: string
}

/** Installs the clients unless they are there. */
export function installClients(): Installed {
  mkdirSync(join(folder, 'bin'), { recursive: true })
  const names = Object.keys(packages) as Name[]
  if (names.some((name) => installed(name) !== packages[name])) {
    console.log(`installing ${names.map((name) => `${name}@${packages[name]}`).join(', ')} into ${folder} …`)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
  }
  const modules = join(folder, 'node_modules')
  // What runs is the binary of the platform; none of the packages needs its install script for it.
  program('codex', process.execPath, join(modules, '@openai/codex/bin/codex.js'))
  program('claude', process.execPath, join(modules, '@anthropic-ai/claude-code/cli-wrapper.cjs'))
  program('qwen', process.execPath, join(modules, '@qwen-code/qwen-code/cli.js'))
  program('opencode', join(modules, `opencode-${process.platform}-${process.arch}`, 'bin/opencode'))
  return { programs: [join(folder, 'bin'), join(folder, 'python/bin')], packages: modules }
}

/** Installs what the texts for Python import. */
export function installWheels(): void {
  const kept = join(folder, 'python', 'wheels.txt')
  if (existsSync(kept) && readFileSync(kept, 'utf8') === wheels.join('\n')) return
  console.log(`installing ${wheels.join(', ')} into ${folder} …`)
  execFileSync('python3', ['-m', 'venv', join(folder, 'python')], { stdio: 'inherit' })
  execFileSync(join(folder, 'python/bin/pip'), ['install', '--quiet', ...wheels], { stdio: 'inherit' })
  writeFileSync(kept, wheels.join('\n'))
}

function program(name: string, ...command: readonly string[]): void {
  const line = command.map((word) => `'${word}'`).join(' ')
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 })
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
