import { join } from 'node:path'
import { expect } from 'chai'
import { printDiagnostic } from '../../engine/config/diagnostics.ts'
import { fixtureFormat } from '../../engine/cli/fixture/format.ts'
import { fileFormat } from '../../engine/config/settings.ts'
import { sectionsSchema } from '../../engine/records/sections.ts'
import { loadPlugins } from '../../engine/components/load-plugins.ts'
import { proveSchema } from '../../engine/config/validate.ts'
import { attemptFormat } from '../../engine/config/format.ts'
import { registry } from './registry.ts'
import { root } from './sources.ts'

interface Setting {
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Setting>>
}

interface OptionSchemas {
  readonly properties?: Readonly<Record<string, { readonly 'x-setting'?: string; readonly default?: unknown }>>
}

describe('the schemas of the product', () => {
  it('are right in each of its components: no start looks', async () => {
    const report = (): never => expect.fail('there is a folder of plugins')
    const places = { root, configFile: join(root, 'config/sluice.yaml') }
    const { registry: own, diagnostics } = await loadPlugins([{ text: './plugins', report }], places)
    expect(diagnostics.map(printDiagnostic)).to.deep.equal([])
    expect([...own.stages.keys()].sort()).to.deep.equal([...(await registry()).stages.keys()].sort())
  })

  it('have the same default for an option of a step and for the setting that gives it', async () => {
    const own = await registry()
    const schemas = [...[...own.stages.values()].map(({ config }) => config), attemptFormat] as OptionSchemas[]
    const options = schemas.flatMap(({ properties = {} }) => Object.values(properties))
    const settings = sectionsSchema(own.services) as Setting
    const named = options.flatMap(({ 'x-setting': setting, default: usual }) => (setting ? [{ setting, usual }] : []))
    expect(named).to.have.length.above(6)
    for (const { setting, usual } of named) {
      const found = setting.split('.').reduce<Setting | undefined>((at, name) => at?.properties?.[name], settings)
      expect(found?.default, setting).to.deep.equal(usual)
    }
  })

  it('are right for the files of an operator', async () => {
    for (const schema of [fileFormat(await registry()), fixtureFormat]) proveSchema(schema)
  })
})
