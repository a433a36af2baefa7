import { join } from 'node:path'
import { expect } from 'chai'
import { printDiagnostic } from '../../engine/config/diagnostics.ts'
import { fixtureFormat } from '../../engine/cli/fixture/format.ts'
import { fileFormat } from '../../engine/config/settings.ts'
import { loadPlugins } from '../../engine/config/load-plugins.ts'
import { proveSchema } from '../../engine/config/validate.ts'
import { registry } from './registry.ts'
import { root } from './sources.ts'

describe('the schemas of the product', () => {
  it('are right in each of its components: no start looks', async () => {
    const report = (): never => expect.fail('there is a folder of plugins')
    const places = { root, configFile: join(root, 'config/sluice.yaml') }
    const { registry: own, diagnostics } = await loadPlugins([{ text: './plugins', report }], places)
    expect(diagnostics.map(printDiagnostic)).to.deep.equal([])
    expect([...own.stages.keys()].sort()).to.deep.equal([...(await registry()).stages.keys()].sort())
  })

  it('are right for the files of an operator', async () => {
    for (const schema of [fileFormat(await registry()), fixtureFormat]) proveSchema(schema)
  })
})
