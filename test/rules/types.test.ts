import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { testFolder } from '../engine/config/folder.ts'
import { root, sourcesOf } from './sources.ts'

/** A stage of an outsider: it uses a shipped service and record, the kit, and a slot of its own. */
const outsider = `import { defineStage, noConfig } from 'sluice'
import type { Records, Services, Slots } from 'sluice'
import { Telling } from 'sluice/kit'

declare module 'sluice' {
  interface Slots {
    'acme.told': Telling
  }
}

export const service: keyof Services = 'sessions'
export const record: keyof Records = 'model'
export const slot: keyof Slots = 'acme.told'
export default defineStage({
  name: 'acme',
  summary: 'A stage.',
  config: noConfig,
  needs: ['request'],
  provides: ['acme.told'],
  uses: ['sessions'],
  build: (_, host, { sessions }) => ({ request }) => {
    host.log.debug({ sessions, model: request.model })
    return { 'acme.told': new Telling() }
  },
})
`

describe('the types behind the doors', () => {
  it('are those of the contract, with all that shipped plugins add to it', async () => {
    const adding = (await sourcesOf('plugins')).filter(({ text }) => /^declare module /m.test(text))
    const types = readFileSync(join(root, 'types/sluice.ts'), 'utf8')
    const imported = [...types.matchAll(/^import '\.\.\/(.+)'$/gm)].map(([, path]) => path)
    expect(imported).to.deep.equal(adding.map(({ path }) => path).sort())
  })

  it('let an outsider in any folder name shipped services, records and slots, and find what does not exist', async function () {
    this.timeout(300_000)
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2024',
      lib: ['esnext'],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      paths: { sluice: [join(root, 'types/sluice.ts')], 'sluice/kit': [join(root, 'engine/kit.ts')] },
    }
    const folder = await testFolder({
      'acme.ts': outsider,
      'wrong.ts': outsider.replace("uses: ['sessions']", "uses: ['sesions']"),
      'tsconfig.json': JSON.stringify({ compilerOptions, files: ['acme.ts', 'wrong.ts'] }),
    })
    try {
      const compiler = join(root, 'node_modules/typescript/bin/tsc')
      const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder.path], {
        cwd: folder.path,
        encoding: 'utf8',
      })
      expect(stdout).to.match(/^wrong\.ts\(\d+,\d+\): .*"sesions"/m)
      expect(stdout.split('\n').filter((line) => /^\S/.test(line) && !line.startsWith('wrong.ts'))).to.deep.equal([])
    } finally {
      await folder.remove()
    }
  })
})
