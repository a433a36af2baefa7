import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const provider = (fields: string) => `import { GatewayError, defineProvider } from 'sluice'
export default defineProvider({
  name: 'acme',
  summary: 'A test.',
  config: { type: 'object', additionalProperties: false, properties: {} } as const,
  ${fields}
})
`
const answering = (events: string) =>
  provider(`offers: () => [{ operation: 'generate' }],
  open: () => ({ answer: { async *generate() { ${events} } } }),`)

describe('cli/test --provider', function () {
  this.timeout(300_000)
  let here: Sandbox
  beforeEach(async () => {
    here = await sandbox()
  })
  afterEach(() => here.remove())

  const failed = async () => {
    const { status, out } = await here.run('test', '--provider', 'acme', '--json')
    expect(status).to.equal(1)
    const outcomes = JSON.parse(out.join('\n')) as { group: string; name: string; problem: string | null }[]
    return outcomes.flatMap(({ group, name, problem }) => (problem === null ? [] : [`${group} ${name}: ${problem}`]))
  }

  it('passes the provider that "sluice new" writes', async () => {
    await here.run('new', 'provider', 'acme')
    const { status, out } = await here.run('test', '--provider', 'acme')
    expect(out.at(-1)).to.match(/^(\d+) of \1 checks passed$/)
    expect(status).to.equal(0)
  })

  it('passes one that reads the settings of a service', async () => {
    await here.run('new', 'provider', 'acme')
    const text = await readFile(join(here.folder, 'plugins/acme.ts'), 'utf8')
    const reading = text.replace(/open: \((.*?)\) =>/, (_, config: string) => {
      const given = `${config || '_'}, _host, { request_policy: { answer_model: named } }`
      return `uses: ['request_policy'],\n  open: (${given}) => named === 'upstream' && `
    })
    expect(reading).to.include('named')
    await here.write('plugins/acme.ts', reading)
    const { status, out } = await here.run('test', '--provider', 'acme')
    expect(out.at(-1)).to.match(/^(\d+) of \1 checks passed$/)
    expect(status).to.equal(0)
  })

  it('passes a shipped one', async () => {
    const { status, out } = await here.run('test', '--provider', 'echo')
    expect(out.at(-1)).to.match(/^(\d+) of \1 checks passed$/)
    expect(status).to.equal(0)
  })

  it('fails one that offers what nothing serves', async () => {
    await here.write(
      'plugins/acme.ts',
      provider(`offers: () => [{ operation: 'embed', protocol: 'embeddings' }], open: () => ({}),`),
    )
    expect(await failed()).to.deep.equal(['declares what somebody serves: nothing sends "embeddings"'])
  })

  it('fails one whose events are out of order, and says which', async () => {
    await here.write(
      'plugins/acme.ts',
      answering(
        `yield { type: 'start' }; yield { type: 'delta', index: 0, text: 'x' }; yield { type: 'finish', stop: 'end' }`,
      ),
    )
    const [first] = await failed()
    expect(first).to.equal('answers a stream of events in their order: event 1 (delta): no item 0 is open')
  })

  it('fails one that throws what is in no table of codes', async () => {
    await here.write('plugins/acme.ts', answering(`throw new Error('my own words')`))
    expect((await failed()).join('\n')).to.contain('my own words')
  })

  it('knows no type that is not there, and takes no fixtures beside it', async () => {
    const { status, error } = await here.run('test', '--provider', 'ecko')
    expect(status).to.equal(2)
    expect(error).to.deep.equal(['sluice: no provider type "ecko"; did you mean "echo"?'])
    expect((await here.run('test', 'a.test.yaml', '--provider', 'echo')).status).to.equal(2)
  })
})
