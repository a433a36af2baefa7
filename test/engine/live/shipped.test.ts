import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { loadConfiguration } from '../../../engine/live/load-configuration.ts'
import type { Configuration } from '../../../engine/records/configuration.ts'
import { testFolder } from '../config/folder.ts'
import type { TestFolder } from '../config/folder.ts'

const stage = (name: string, summary: string) => `export default {
  kind: 'stage', name: '${name}', summary: '${summary}', needs: [], provides: ['reply'],
  config: { type: 'object', additionalProperties: false, properties: {} },
  build: () => () => ({ reply: { status: 204, headers: {}, body: { kind: 'json', value: null } } }),
}
`
const pipeline = (name: string, summary: string, stages = 'brought') =>
  `name: ${name}\nsummary: ${summary}\nroutes: [GET /${name}]\npublic: true\nstages: [${stages}]\n`

describe('what the product brings', () => {
  let folder: TestFolder
  let shipped: { plugins: string; pipelines: string; config: string }
  beforeEach(async () => {
    folder = await testFolder({
      'product/plugins/brought.ts': stage('brought', 'Shipped.'),
      'product/pipelines/one.yaml': pipeline('one', 'Shipped.'),
      'product/pipelines/two.yaml': pipeline('two', 'Shipped.'),
      'product/config.yaml': 'server_config: { logging: { level: warn } }\n',
      'here/notes.txt': '',
    })
    const at = (name: string) => `${folder.path}/product/${name}`
    shipped = { plugins: at('plugins'), pipelines: at('pipelines'), config: at('config.yaml') }
  })
  afterEach(() => folder.remove())

  const load = (file = 'config/sluice.yaml'): Promise<Configuration> =>
    loadConfiguration({ file, root: `${folder.path}/here`, environment: {}, shipped })
  const summaries = ({ pipelines }: Configuration) =>
    Object.fromEntries(pipelines.map(({ name, summary }) => [name, summary]))
  const findings = ({ diagnostics }: Configuration) => diagnostics.map(printDiagnostic)

  it('is all there in an empty folder, and a configuration is missed by nobody', async () => {
    const configuration = await load()
    expect(findings(configuration)).to.deep.equal([])
    expect(configuration.without).to.equal('config/sluice.yaml')
    expect(configuration.settings?.server_config.logging.level).to.equal('warn')
    expect(summaries(configuration)).to.deep.equal({ one: 'Shipped.', two: 'Shipped.' })
    expect(configuration.folders).to.include.members([
      `${folder.path}/here/config`,
      `${folder.path}/here`,
      shipped.pipelines,
    ])
  })

  it('gives way to a configuration; one that somebody names must be there', async () => {
    await folder.write({ 'here/config/sluice.yaml': '' })
    const configuration = await load()
    expect(findings(configuration)).to.deep.equal([])
    expect(configuration.without).to.equal(undefined)
    expect(configuration.settings?.server_config.logging.level).to.equal('info')
    expect(findings(await load('config/other.yaml'))).to.deep.equal([
      'config/other.yaml:1:1: cannot be read: ENOENT [file]',
    ])
  })

  it('gives way to pipelines in files of the same name, whatever their ending; others are added', async () => {
    await folder.write({
      'here/pipelines/one.yml': pipeline('one', 'Mine.'),
      'here/pipelines/three.yaml': pipeline('three', 'Mine.'),
    })
    const configuration = await load()
    expect(findings(configuration)).to.deep.equal([])
    expect(summaries(configuration)).to.deep.equal({ one: 'Mine.', two: 'Shipped.', three: 'Mine.' })
    await folder.write({ 'here/pipelines/four.yaml': pipeline('two', 'Mine.') })
    expect(findings(await load())).to.satisfy((lines: string[]) => lines.some((line) => line.includes('[duplicate')))
  })

  it('loses an endpoint to an empty file', async () => {
    await folder.write({ 'here/pipelines/one.yaml': '\n' })
    const configuration = await load()
    expect(findings(configuration)).to.deep.equal([])
    expect(summaries(configuration)).to.deep.equal({ two: 'Shipped.' })
    await folder.write({ 'here/pipelines/new.yaml': '' })
    expect(findings(await load())).to.have.length(1)
  })

  it('gives way to components of the same kind and name, but not to two of them', async () => {
    await folder.write({ 'here/plugins/mine.ts': stage('brought', 'Mine.') })
    const configuration = await load()
    expect(findings(configuration)).to.deep.equal([])
    expect(configuration.registry.stages.get('brought')?.summary).to.equal('Mine.')
    await folder.write({ 'here/plugins/again.ts': stage('brought', 'Again.') })
    expect(findings(await load())).to.deep.equal([
      'plugins/mine.ts:1:1: the stage "brought" is already there: plugins/again.ts [duplicate]',
    ])
  })

  it('is loaded once, though a configuration names it', async () => {
    await folder.write({
      'here/config/sluice.yaml': `plugins: ['${shipped.plugins}', '${shipped.plugins}/brought.ts']\npipelines: '${shipped.pipelines}'\n`,
    })
    const configuration = await load()
    expect(findings(configuration)).to.deep.equal([])
    expect(configuration.files.filter((file) => file.endsWith('.ts'))).to.have.length(1)
  })

  it('stands in for no folder but the usual ones', async () => {
    await folder.write({ 'here/config/sluice.yaml': 'plugins: [./plugins, ./mine]\npipelines: ./mine\n' })
    expect(findings(await load())).to.deep.equal([
      'config/sluice.yaml:1:22: there is no file or folder "./mine" [plugin]',
      'config/sluice.yaml:2:12: there is no folder "mine" [pipelines]',
    ])
  })
})
