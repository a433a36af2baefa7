import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { parse } from 'yaml'
import { root } from '../rules/sources.ts'
import { freePort } from '../support/free-port.ts'
import { missing, onPath } from '../support/services.ts'
import { until } from '../support/until.ts'

interface Service {
  readonly image: string
  readonly profiles?: readonly string[]
  readonly user?: string
  readonly read_only?: boolean
  readonly tmpfs?: readonly string[]
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly stop_grace_period?: string
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly command?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly depends_on?: Readonly<Record<string, object>>
  readonly healthcheck?: { readonly test: readonly string[] }
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const text = read('compose.yaml')
const compose = parse(text) as { readonly services: Readonly<Record<string, Service>>; readonly volumes: object }
const { sluice, redis, ...others } = compose.services as { sluice: Service; redis: Service } & Record<string, Service>

describe('compose.yaml', () => {
  it('is valid by the schema of the Compose Specification', () => {
    // Of compose-go 2.16.2 (Apache-2.0), with which Docker Compose reads it.
    const schema = JSON.parse(read('test/deploy/compose-spec.json')) as object
    const ajv = new Ajv2020.default({ strict: false, allErrors: true })
    addFormats.default(ajv)
    ajv.addFormat('duration', true).addFormat('expose', true).addFormat('ports', true)
    const valid = ajv.compile(schema)
    expect(valid(compose), JSON.stringify(valid.errors, null, 2)).to.equal(true)
    expect(valid({ ...compose, services: { sluice: { ...sluice, read_onyl: true } } })).to.equal(false)
  })

  it('gives the gateway nothing that it does not need', () => {
    expect(sluice).to.deep.include({
      user: '65532:65532',
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      volumes: ['data:/srv/data', './config:/srv/config:ro'],
    })
    const { version } = JSON.parse(read('package.json')) as { version: string }
    expect(sluice.image).to.equal(`sluice:${version}`)
  })

  it('waits for what is under way, and for the services that are there', () => {
    // 5 s of notice and 30 s until the deadline are the defaults.
    expect(Number(/^(\d+)s$/.exec(sluice.stop_grace_period ?? '')?.[1])).to.be.greaterThan(35)
    expect(sluice.depends_on).to.deep.equal({
      redis: { condition: 'service_healthy', required: false },
      postgres: { condition: 'service_healthy', required: false },
    })
    for (const name of ['redis', 'postgres']) expect(compose.services[name]?.healthcheck?.test).to.be.an('array')
  })

  it('starts the gateway alone unless a profile is named, and is reached from this machine alone', () => {
    expect(Object.entries(compose.services).filter(([, { profiles }]) => profiles === undefined)).to.have.length(1)
    const ports = Object.values(compose.services).flatMap((service) => service.ports ?? [])
    expect(ports).to.have.length(3)
    for (const port of ports) expect(port).to.match(/^127\.0\.0\.1:\d+:\d+$/)
  })

  it('pins images by their full version, and holds no password', () => {
    for (const { image } of Object.values({ redis, ...others }))
      expect(image).to.match(/:v?\d+\.\d+(\.\d+)?(-alpine)?$/)
    const given = [...text.matchAll(/^\s*\w*(?:PASSWORD|KEY|SECRET)\w*:\s*(.*)$/gm)].map(([, value]) => value)
    expect(given).to.have.length(3)
    for (const value of given) expect(value).to.match(/^\$\{[A-Z_]+:-\}$/)
  })

  it('mounts what is there', () => {
    const mounted = Object.values(compose.services).flatMap((service) => service.volumes ?? [])
    const places = mounted.map((volume) => volume.split(':')[0] ?? '')
    const files = places.filter((place) => place.startsWith('./'))
    expect(files).to.have.length(4)
    expect(files.filter((file) => !existsSync(join(root, file)))).to.deep.equal([])
    expect(
      places.filter((place) => !place.startsWith('./')).filter((name) => !(name in compose.volumes)),
    ).to.deep.equal([])
    // What Prometheus and Grafana find there.
    const { rule_files, scrape_configs } = parse(read('deploy/prometheus/prometheus.yaml')) as {
      rule_files: string[]
      scrape_configs: { job_name: string; authorization: { credentials_file: string } }[]
    }
    expect(rule_files.filter((name) => !existsSync(join(root, 'deploy/prometheus', name)))).to.deep.equal([])
    expect(scrape_configs[0]).to.deep.include({ job_name: 'sluice' })
    expect(scrape_configs[0]?.authorization.credentials_file).to.equal('/run/secrets/metrics_key')
    const dashboards = parse(read('deploy/grafana/provisioning/dashboards/sluice.yaml')) as {
      providers: { options: { path: string } }[]
    }
    expect(compose.services['grafana']?.volumes).to.include(
      `./deploy/grafana/sluice.json:${dashboards.providers[0]?.options.path}/sluice.json:ro`,
    )
  })

  it('starts no Grafana without a password, and lets the one with it take the place of the shell', () => {
    const words = (compose.services['grafana']?.entrypoint ?? []).map((word) => word.replaceAll('$$', '$'))
    const [shell = '', ...given] = words.map((word) => word.replace('/run.sh', 'echo started'))
    const { PATH = '' } = process.env
    const run = (password: string) =>
      spawnSync(shell, given, { env: { PATH, GF_SECURITY_ADMIN_PASSWORD: password }, encoding: 'utf8' })
    expect(run('').status).not.to.equal(0)
    expect(run('').stderr).to.include('GRAFANA_PASSWORD must stand in .env')
    expect(run('two words').stdout).to.equal('started\n')
    expect(words.at(-1)).to.match(/; exec \/run\.sh$/)
  })

  it('starts a Redis that wants the password, in no argument of a process, and none without it', async function () {
    if (onPath('redis-server') === undefined) missing(this, 'no redis-server on PATH')
    const port = await freePort()
    // Compose makes one dollar of two.
    const [shell = '', ...words] = (redis.command ?? []).map((word) => word.replaceAll('$$', '$'))
    const changed = words.map((word) => word.replace('appendonly yes', `port ${port}\\nsave ""`))
    expect(changed.join()).to.include(String(port))
    const { PATH = '' } = process.env
    const without = spawnSync(shell, changed, { env: { PATH }, encoding: 'utf8' })
    expect(without.status).not.to.equal(0)
    expect(without.stderr).to.include('must stand in .env')
    const password = 'two words, 100% and $HOME'
    const TMPDIR = mkdtempSync(join(tmpdir(), 'sluice-compose-'))
    const child = spawn(shell, changed, {
      env: { PATH, TMPDIR, REDIS_PASSWORD: password },
      cwd: TMPDIR,
      stdio: 'ignore',
    })
    const ended = once(child, 'exit')
    try {
      const [, check = ''] = redis.healthcheck?.test ?? []
      const asked = check.replaceAll('$$', '$').replace('redis-cli', `redis-cli -p ${port}`)
      const healthy = (given: string) =>
        spawnSync('sh', ['-c', asked], { env: { PATH, REDIS_PASSWORD: given } }).status === 0
      await until(() => healthy(password))
      expect(healthy('another one')).to.equal(false)
      expect(spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout).not.to.include(password)
      const client = new Redis(port, '127.0.0.1', { password })
      expect(await client.ping()).to.equal('PONG')
      client.disconnect()
    } finally {
      // Nothing stands between the first process, which is told to stop, and Redis.
      child.kill('SIGTERM')
      await ended
      rmSync(TMPDIR, { recursive: true })
    }
  })
})
