import { cp, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import { configuration, root, sandbox } from '../engine/cli/sandbox.ts'

const recipes = join(root, 'docs', 'recipes')

/** Those of guards are parts of configurations: test/guards/recipes.test.ts tries them. */
const isOfPipelines = (file: string) => file !== join(recipes, 'guards')

describe('recipes', () => {
  it('hold, each with its fixture, beside the shipped pipelines', async () => {
    const here = await sandbox({
      'config/sluice.yaml': configuration.replace(
        /^models:.*$/m,
        'models: [{ name: small, provider: echo }, { name: large, provider: echo }]',
      ),
    })
    try {
      await cp(recipes, join(here.folder, 'pipelines'), { recursive: true, filter: isOfPipelines })
      // The plugins that some of them use.
      const isPlugin = (file: string) => isOfPipelines(file) && !file.endsWith('.yaml')
      await cp(recipes, join(here.folder, 'plugins'), { recursive: true, filter: isPlugin })
      const { status: checked, out: found } = await here.run('check')
      expect(checked, found.join('\n')).to.equal(0)
      const files = (await readdir(recipes)).map((file) => basename(file))
      const fixtures = files.filter((file) => file.endsWith('.test.yaml'))
      const pipelines = files.filter((file) => file.endsWith('.yaml') && !file.endsWith('.test.yaml'))
      expect(fixtures.map((file) => file.replace('.test.yaml', '.yaml')).sort()).to.deep.equal(pipelines.sort())
      const { status, out } = await here.run('test', ...fixtures.map((file) => join('pipelines', file)))
      expect(status, out.join('\n')).to.equal(0)
      expect(out.at(-1)).to.match(/^\d+ passing$/)
    } finally {
      await here.remove()
    }
  })
})
