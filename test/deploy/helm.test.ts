import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from 'mocha'
import Ajv from 'ajv'
import { expect } from 'chai'
import { parse, parseAllDocuments } from 'yaml'
import { sandbox } from '../engine/cli/sandbox.ts'
import { root } from '../rules/sources.ts'
import { missingJudge, onPath } from '../support/services.ts'

/**
 * Helm takes minutes to build where there is no other way to get it, so not every machine has it: golden renders are
 * judged everywhere, and a digest tells that they are those of the chart. `UPDATE_GOLDEN=1` renders them again.
 */
const chart = join(root, 'deploy/helm/sluice')
const values = join(import.meta.dirname, 'helm')
const golden = join(root, 'test/golden/helm')
const names = ['default', 'sqlite', 'two', 'ingress', 'everything']
const update = process.env['UPDATE_GOLDEN'] === '1'
const [oldest, newest] = ['1.27.0', '1.37.0']
/** Of other projects; the schemas of Kubernetes do not know them. */
const foreign = ['HTTPRoute', 'ServiceMonitor']

interface Container {
  readonly securityContext: object
  readonly volumeMounts: readonly {
    readonly mountPath: string
    readonly subPath?: string
    readonly readOnly?: boolean
  }[]
}
interface PodSpec {
  readonly automountServiceAccountToken: boolean
  readonly securityContext: object
  readonly terminationGracePeriodSeconds?: number
  readonly containers: readonly Container[]
}
interface Rendered {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: PodSpec & {
    readonly replicas?: number
    readonly selector?: object
    readonly strategy?: { readonly type: string }
    readonly template?: { readonly metadata: { readonly annotations?: object }; readonly spec: PodSpec }
  }
}

const read = (path: string) => readFileSync(path, 'utf8')
const goldenOf = (name: string) => join(golden, `${name}.yaml`)
const objectsOf = (name: string) =>
  parseAllDocuments(read(goldenOf(name)))
    .map((document) => document.toJS() as Rendered | null)
    .filter((one) => one !== null)

/** The digest of all that golden renders are made of: the dashboard is left out of them. */
function digest(): string {
  const all = [chart, values].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('dashboards'))
      .map((name) => join(folder, name)),
  )
  const sum = createHash('sha256')
  for (const path of all.filter((one) => statSync(one).isFile()).sort())
    sum.update(path.slice(root.length)).update(read(path))
  return sum.digest('hex')
}

describe('the chart', () => {
  const schema = JSON.parse(read(join(chart, 'values.schema.json'))) as Described
  interface Described {
    readonly description?: string
    readonly type?: string
    readonly properties?: Readonly<Record<string, Described>>
    readonly additionalProperties?: unknown
  }

  it('is of the version of the gateway', () => {
    const { version } = JSON.parse(read(join(root, 'package.json'))) as { version: string }
    const { appVersion, apiVersion, kubeVersion } = parse(read(join(chart, 'Chart.yaml'))) as Record<string, string>
    expect([appVersion, apiVersion, kubeVersion]).to.deep.equal([version, 'v2', '>=1.27-0'])
  })

  it('describes every value, refuses those that it does not know, and has valid ones to begin with', () => {
    const undescribed = (part: Described, path: string): string[] =>
      Object.entries(part.properties ?? {}).flatMap(([name, inner]) => [
        ...(inner.description?.endsWith('.') ? [] : [path + name]),
        ...(inner.properties && inner.additionalProperties !== false ? [`${path}${name} is open`] : []),
        ...undescribed(inner, `${path}${name}.`),
      ])
    expect(undescribed(schema, '')).to.deep.equal([])
    const given = parse(read(join(chart, 'values.yaml'))) as Record<string, unknown>
    const valid = new Ajv.default({ strict: false, allErrors: true }).compile(schema)
    expect(valid(given), JSON.stringify(valid.errors)).to.equal(true)
    expect(
      Object.keys(schema.properties ?? {})
        .filter((name) => name !== 'global')
        .sort(),
    ).to.deep.equal(Object.keys(given).sort())
    expect(valid({ ...given, replicaCuont: 2 })).to.equal(false)
    for (const name of names) expect(valid(parse(read(join(values, `${name}.yaml`)))), name).to.equal(true)
  })

  it('has the dashboard that stands beside it: UPDATE_GOLDEN=1 copies it', () => {
    if (update) cpSync(join(root, 'deploy/grafana/sluice.json'), join(chart, 'dashboards/sluice.json'))
    expect(read(join(chart, 'dashboards/sluice.json'))).to.equal(read(join(root, 'deploy/grafana/sluice.json')))
  })

  it('has golden renders that are made of it: UPDATE_GOLDEN=1 npx mocha test/deploy/helm.test.ts, with helm', () => {
    if (!update) expect(read(join(golden, 'digest')).trim()).to.equal(digest())
  })
})

describe('helm', function () {
  this.timeout(600_000)
  const helm = onPath('helm')
  before(function (this: Context) {
    if (helm !== undefined) return
    console.log('      skipped: no helm on PATH (go install helm.sh/helm/v3/cmd/helm@latest)')
    this.skip()
  })
  const run = (...words: string[]) => spawnSync(helm ?? '', words, { encoding: 'utf8' })
  const render = (version: string, ...words: string[]) =>
    run('template', 'try', chart, '--namespace', 'models', '--kube-version', version, ...words)

  it('has nothing to say about the chart', () => {
    for (const name of names) {
      const { stdout, status } = run(
        'lint',
        '--strict',
        chart,
        '--kube-version',
        newest,
        '-f',
        join(values, `${name}.yaml`),
      )
      expect([status, stdout.match(/\[(WARNING|ERROR)\]/g)], stdout).to.deep.equal([0, null])
    }
  })

  for (const name of names)
    it(`renders what is golden: ${name}`, () => {
      const [before, now] = [oldest, newest].map((version) => render(version, '-f', join(values, `${name}.yaml`)))
      expect(now?.stderr).to.equal('')
      // The dashboard stands beside the chart already.
      const text = (now?.stdout ?? '').replace(/( {2}sluice\.json: \|\n)(?: {4}.*\n| *\n)+/, '$1    {}\n')
      if (update) writeFileSync(goldenOf(name), text)
      expect(text).to.equal(read(goldenOf(name)))
      expect(before?.stdout).to.equal(now?.stdout)
    })

  after(() => {
    if (update && helm !== undefined) writeFileSync(join(golden, 'digest'), `${digest()}\n`)
  })

  const several = ['--set', 'replicaCount=2']
  for (const [what, words, ...sentences] of [
    [
      'several Pods that share nothing',
      several,
      'Several Pods need one database: set database.url to a PostgreSQL (postgres://…).',
      'Several Pods need one key-value store: set keyValue.url to a Redis (redis://…).',
      'Several Pods need one master secret: put SLUICE_SECRET into the Secret (existingSecret or secret).',
    ],
    [
      'autoscaling of the same',
      ['--set', 'autoscaling.enabled=true'],
      'Several Pods need one database: set database.url to a PostgreSQL (postgres://…).',
      'Several Pods need one key-value store: set keyValue.url to a Redis (redis://…).',
      'Several Pods need one master secret: put SLUICE_SECRET into the Secret (existingSecret or secret).',
    ],
    [
      'several Pods with a database of one',
      [...several, '--set', 'secret.SLUICE_SECRET=s,secret.DB=sqlite:a.db,database.url=${DB},keyValue.url=redis://r'],
      'Several Pods need one database: set database.url to a PostgreSQL (postgres://…).',
    ],
    [
      'several Pods whose Secret has empty entries',
      [
        ...several,
        '--set-string',
        'secret.SLUICE_SECRET=,secret.DB=,secret.KV=,database.url=${DB},keyValue.url=${KV}',
        '--set-json',
        'env=[{"name":"SLUICE_SECRET","value":""}]',
      ],
      'Several Pods need one database: set database.url to a PostgreSQL (postgres://…).',
      'Several Pods need one key-value store: set keyValue.url to a Redis (redis://…).',
      'Several Pods need one master secret: put SLUICE_SECRET into the Secret (existingSecret or secret).',
    ],
    [
      'several Pods on one volume',
      [
        ...several,
        '--set',
        'existingSecret=e,database.url=postgres://p/s,keyValue.url=redis://r,persistence.enabled=true',
      ],
      'persistence is for one Pod: several must not share a volume.',
    ],
    [
      'a password where everybody sees it',
      ['--set', 'database.url=postgres://u:word@p/s,keyValue.url=redis://:word@r'],
      'database.url has a password, which everybody who reads Pods would see; put the address into the Secret, and write ${NAME} here.',
      'keyValue.url has a password, which everybody who reads Pods would see; put the address into the Secret, and write ${NAME} here.',
    ],
    [
      'an entry of no Secret',
      ['--set', 'secret.OTHER=a,database.url=${DATABASE_URL}'],
      'database.url is ${DATABASE_URL}, but neither existingSecret nor secret has DATABASE_URL.',
    ],
    [
      'a database that is given in the configuration',
      ['--set', 'config.database.url=sqlite:a.db,config.key_value.url=redis://r'],
      'config.database is set; set database.url instead, which is checked.',
      'config.key_value is set; set keyValue.url instead, which is checked.',
    ],
    [
      'a grace period that kills what is under way',
      ['--set', 'config.shutdown.deadline=2m'],
      'terminationGracePeriodSeconds is 45, but shutdown.notice and shutdown.deadline of the configuration take 125 seconds: requests under way would be killed.',
    ],
    [
      'two of what there is one of',
      ['--set', 'existingSecret=e,secret.A=b,existingConfigMap=c,config.pipelines=p'],
      'existingSecret and secret are both set; leave out one of them.',
      'existingConfigMap and config are both set; leave out one of them.',
    ],
    [
      'what leads nowhere',
      ['--set', 'ingress.enabled=true,httpRoute.enabled=true,serviceMonitor.enabled=true'],
      'ingress.enabled needs ingress.hosts.',
      'httpRoute.enabled needs httpRoute.parentRefs.',
      'serviceMonitor.enabled needs serviceMonitor.credentials: the Secret with an API key that may read metrics.',
    ],
    [
      'an autoscaler without a measure, and with its ends exchanged',
      [
        '--set',
        'existingSecret=e,database.url=postgres://p/s,keyValue.url=redis://r,autoscaling.enabled=true,autoscaling.minReplicas=9,autoscaling.targetCPUUtilizationPercentage=0',
      ],
      'autoscaling.maxReplicas is less than autoscaling.minReplicas.',
      'autoscaling needs targetCPUUtilizationPercentage or targetInFlight.',
    ],
  ] as const satisfies readonly (readonly [string, readonly string[], ...string[]])[])
    it(`refuses ${what}`, () => {
      const { stderr, status } = render(newest, ...words)
      expect(status).to.equal(1)
      const said = [...stderr.matchAll(/^- (.*)$/gm)].map(([, sentence]) => sentence)
      expect(said, stderr).to.have.members(sentences)
    })

  /** Addresses, by the value in which they stand. */
  const secret: Readonly<Record<string, readonly string[]>> = {
    'database.url': [
      'postgres://user:p@ss@host/db',
      'postgres://user:p/w?d#1@host/db',
      'postgres://user@server:word@host/db',
      'postgresql://user:12345@host:5432/db',
      'postgres://user:p%40%3Ass@host/db',
      'postgres://host/db?user=u&password=word',
      'postgres://user@host:5432/db?sslPassword=word',
      'postgres://user:${word}@host/db',
      'postgres://user:$$(PGPASSWORD)@host/db',
      'postgres://user:$(PGPASSWORD)word@host/db',
      'postgres://user:$(PGPASSWORD)@word@host/db',
      'postgres://host/db?password=$(PGPASSWORD)word',
      'postgres://[a:b]@host/db',
      'postgres://host/db?page_token=a&access_token=b',
    ],
    'keyValue.url': [
      'redis://:secret@host',
      'rediss://:secret@host:6379/0',
      'rediss://user:s@host',
      'redis://host?password=s',
    ],
  }
  for (const [place, urls] of Object.entries(secret))
    for (const url of urls)
      it(`refuses the password in ${url}`, () => {
        const env = JSON.stringify([{ name: 'OTHER_URL', value: url }])
        const given = ['--set-json', `${place}=${JSON.stringify(url)}`, '--set-json', `env=${env}`]
        const { stderr } = render(newest, ...given)
        expect(stderr).to.include(`${place} has a password, which everybody who reads Pods would see`)
        expect(stderr).to.include('env has OTHER_URL with a password, which everybody who reads Pods would see')
      })

  it('takes addresses without a password', () => {
    const urls = {
      'database.url': [
        'postgres://host/db',
        'postgres://user@host:5432/db?application_name=a@b',
        'postgres://host:5432',
        'postgres://user@[::1]:5432/db?sslmode=verify-full&sslkey=/srv/key&passfile=/srv/pass',
        'postgres://one:5432,two:5432/db',
        'postgres://user:@host/db',
      ],
      'keyValue.url': ['redis://host:6379/0', 'rediss://user@host:6379', 'redis://[::1]:6379'],
    }
    for (const [place, all] of Object.entries(urls))
      for (const url of all) {
        const { status, stderr } = render(newest, '--set-json', `${place}=${JSON.stringify(url)}`)
        expect([url, status, stderr]).to.deep.equal([url, 0, ''])
      }
    const env = [
      { name: 'A', value: 'http://a:8080/x' },
      { name: 'B', value: '5' },
      { name: 'C', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'D', value: 'http://[fd00::1]:4318/x@y' },
      { name: 'E', value: 'postgres://user@[fd00::1]:5432/db?application_name=a@b' },
      { name: 'F', value: 'https://x/?next_page_token=abc&pageToken=5' },
      // Kubernetes puts in what another entry has, such as of a Secret.
      { name: 'G', value: 'postgres://sluice:$(PGPASSWORD)@db/sluice' },
      { name: 'H', value: 'postgres://sluice:$(PGPASSWORD)@[fd00::1]:5432/sluice?application_name=a@b' },
      { name: 'I', value: 'postgres://db/sluice?user=u&password=$(PGPASSWORD)&sslmode=require' },
    ]
    const { status, stderr } = render(newest, '--set-json', `env=${JSON.stringify(env)}`)
    expect([status, stderr]).to.deep.equal([0, ''])
  })

  it('refuses a typo, and a version of Kubernetes that is too old', () => {
    expect(render(newest, '--set', 'replicaCuont=2').stderr).to.match(/replicaCuont/)
    expect(render(newest, '--set', 'persistence.enabeld=true').stderr).to.match(/enabeld/)
    expect(render(newest, '--set', 'database.url=mysql://a').stderr).to.match(/database\/url|database\.url/)
    expect(render('1.26.0').stderr).to.include('kubeVersion: >=1.27-0')
  })

  it('takes durations that only the gateway knows', () => {
    expect(render(newest, '--set', 'config.shutdown.deadline=${DEADLINE}').status).to.equal(0)
    expect(render(newest, '--set', 'config.shutdown.deadline=500ms,terminationGracePeriodSeconds=6').status).to.equal(0)
  })

  it('tells how to reach the gateway, and what is lost', () => {
    // Only an installation shows notes: a copy of the chart has them as an object.
    const folder = mkdtempSync(join(tmpdir(), 'sluice-chart-'))
    try {
      const copy = join(folder, 'sluice')
      cpSync(chart, copy, { recursive: true })
      const text = read(join(copy, 'templates/NOTES.txt'))
      rmSync(join(copy, 'templates/NOTES.txt'))
      writeFileSync(
        join(copy, 'templates/notes.yaml'),
        `{{ define "notes" }}${text}{{ end }}notes: |\n{{ include "notes" . | indent 2 }}\n`,
      )
      const notes = (...words: string[]) => {
        const { stdout, stderr } = run(
          'template',
          'try',
          copy,
          '--namespace',
          'models',
          '--kube-version',
          newest,
          '-s',
          'templates/notes.yaml',
          ...words,
        )
        expect(stderr).to.equal('')
        return (parse(stdout) as { notes: string }).notes
      }
      expect(notes())
        .to.include('kubectl --namespace models port-forward service/try-sluice 8080:8080')
        .and.include('lost with its Pod')
      expect(notes('-f', join(values, 'ingress.yaml'))).to.include('https://gateway.example')
      expect(notes('-f', join(values, 'sqlite.yaml')))
        .to.include('"secret" is for trials')
        .and.not.include('lost')
      expect(notes('-f', join(values, 'two.yaml'))).not.to.include('WARNING')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('golden renders of the chart', () => {
  for (const version of [oldest, newest])
    it(`are valid for Kubernetes ${version}`, function () {
      const program =
        onPath('kubernetes-validate') ??
        missingJudge(this, 'no kubernetes-validate on PATH (pip install kubernetes-validate)')
      const { stdout, stderr, status } = spawnSync(program, ['-k', version, '--strict', ...names.map(goldenOf)], {
        encoding: 'utf8',
      })
      const said = (stdout + stderr).split('\n').filter((line) => line !== '')
      const wrong = said.filter(
        (line) => !line.startsWith('INFO') && !foreign.some((kind) => line.includes(`schema for kind ${kind} `)),
      )
      expect([wrong, status]).to.deep.equal([[], 0])
      expect(said.filter((line) => line.includes('passed for resource deployment/'))).to.have.length(names.length)
    })

  it('have configurations and pipelines that the gateway accepts', async () => {
    const here = await sandbox()
    try {
      const checked: string[] = []
      for (const name of names) {
        const files = Object.assign({}, ...objectsOf(name).map(({ data }) => data)) as Record<string, string>
        if (files['sluice.yaml'] === undefined) continue
        for (const [file, text] of Object.entries(files).filter(([file]) => file.endsWith('.yaml')))
          await here.write(file === 'sluice.yaml' ? 'config/sluice.yaml' : `pipelines/${file}`, text)
        const { status, out } = await here.run(['check', '--strict'], { ACME_KEY: 'sk-acme-key', HOST: '0.0.0.0' })
        expect(status, `${name}: ${out.join('\n')}`).to.equal(0)
        checked.push(name)
      }
      expect(checked).to.deep.equal(['sqlite', 'everything'])
    } finally {
      await here.remove()
    }
  })

  it('give Pods no rights, and write only where they must', () => {
    for (const name of names) {
      const pods = objectsOf(name).flatMap(({ kind, spec }) =>
        kind === 'Deployment' && spec.template ? [spec.template.spec] : kind === 'Pod' ? [spec] : [],
      )
      expect(pods).to.have.length(2)
      for (const pod of pods) {
        expect(pod.automountServiceAccountToken).to.equal(false)
        expect(pod.securityContext).to.deep.include({
          runAsNonRoot: true,
          runAsUser: 65532,
          fsGroup: 65532,
          seccompProfile: { type: 'RuntimeDefault' },
        })
        for (const { securityContext, volumeMounts } of pod.containers) {
          expect(securityContext).to.deep.equal({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          })
          const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath)
          expect(writable.filter((path) => !['/srv/data', '/tmp'].includes(path))).to.deep.equal([])
          // A file that is mounted alone would not change with its ConfigMap.
          expect(volumeMounts.filter(({ subPath }) => subPath !== undefined)).to.deep.equal([])
        }
      }
    }
  })

  it('let nothing that selects the Pods of the gateway select the one of a test', () => {
    for (const name of names) {
      const objects = objectsOf(name)
      const labels = objects.find(({ kind }) => kind === 'Pod')?.metadata.labels ?? {}
      const selects = (selector: object | undefined) =>
        Object.entries(selector ?? { none: 'selects it' }).every(([label, value]) => labels[label] === value)
      const service = objects.find(({ kind }) => kind === 'Service')?.spec.selector as object
      const deployment = objects.find(({ kind }) => kind === 'Deployment')?.spec.selector as { matchLabels: object }
      expect(Object.keys(service)).to.have.length(2)
      expect([selects(service), selects(deployment.matchLabels)]).to.deep.equal([false, false])
    }
  })

  it('replace Pods without a gap, but for one that has a volume, and restart none for a configuration', () => {
    const deploymentOf = (name: string) => objectsOf(name).find(({ kind }) => kind === 'Deployment')?.spec
    expect(names.map((name) => deploymentOf(name)?.strategy?.type)).to.deep.equal([
      'RollingUpdate',
      'Recreate',
      'RollingUpdate',
      'RollingUpdate',
      'RollingUpdate',
    ])
    expect(names.map((name) => deploymentOf(name)?.replicas)).to.deep.equal([1, 1, 2, 1, undefined])
    expect(deploymentOf('sqlite')?.template?.spec.terminationGracePeriodSeconds).to.equal(60)
    const annotations = names.map((name) => Object.keys(deploymentOf(name)?.template?.metadata.annotations ?? {}))
    expect(annotations).to.deep.equal([[], ['checksum/secret'], [], [], ['checksum/secret', 'example.com/team']])
  })
})
