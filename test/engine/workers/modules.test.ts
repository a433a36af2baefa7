import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { importFile } from '../../../engine/workers/modules.ts'
import * as engine from '../../../engine/index.ts'
import { WorkerPool } from '../../../engine/workers/pool.ts'
import { testFolder } from '../config/folder.ts'
import type { TestFolder } from '../config/folder.ts'

const copy = {
  'node_modules/sluice/package.json': '{ "name": "sluice", "type": "module", "exports": "./index.js" }',
  'node_modules/sluice/index.js': 'export class GatewayError {}\n',
}
const plugin = `import { GatewayError } from 'sluice'
import { word } from './word.ts'
const given: unknown = { GatewayError, word }
export default given
`

describe('modules of plugins', () => {
  let folder: TestFolder
  beforeEach(async () => {
    folder = await testFolder({ 'plugin.ts': plugin, 'word.ts': "export const word: string = 'one'\n" })
  })
  afterEach(() => folder.remove())

  const load = (hash: string) => {
    const files = ['plugin.ts', 'word.ts'].map((name) => join(folder.path, name))
    return importFile(files[0] ?? '', { files, hash })
  }

  it('import the engine that runs by its name, though another copy is near', async () => {
    await folder.write(copy)
    expect(await load('a')).to.deep.equal({ GatewayError: engine.GatewayError, word: 'one' })
    await folder.write({ 'word.ts': "export const word: string = 'two'\n" })
    expect(await load('b')).to.deep.equal({ GatewayError: engine.GatewayError, word: 'two' })
  })

  it('are ES modules in TypeScript, whatever the package.json near them says', async () => {
    await folder.write({ 'package.json': '{ "type": "commonjs" }' })
    expect(await load('c')).to.include({ word: 'one' })
  })

  it('import it in worker threads too', async function () {
    this.timeout(300_000)
    await folder.write({
      'package.json': '{ "type": "commonjs" }',
      'work.ts': "import { isObject } from 'sluice/kit'\nexport default (input: unknown): boolean => isObject(input)\n",
    })
    const pool = new WorkerPool({ threads: 1 })
    try {
      expect(await pool.run(pathToFileURL(join(folder.path, 'work.ts')), {}, 600_000)).to.equal(true)
    } finally {
      await pool.close()
    }
  })
})
