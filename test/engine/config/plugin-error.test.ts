import { join } from 'node:path'
import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { loadPlugins } from '../../../engine/components/load-plugins.ts'
import { testFolder } from './folder.ts'

/** What is told of a plugin of these files. */
async function told(files: Record<string, string>): Promise<string | undefined> {
  const folder = await testFolder(files)
  try {
    const entries = [{ text: './mine', report: () => expect.fail('the entry is not at fault') }]
    const { diagnostics } = await loadPlugins(entries, { root: folder.path, configFile: join(folder.path, 's.yaml') })
    return diagnostics.map(printDiagnostic).join('\n')
  } finally {
    await folder.remove()
  }
}

describe('what keeps a plugin from loading is told at its place', () => {
  const cases: Record<string, readonly [Record<string, string>, RegExp]> = {
    'a wrong character': [
      { 'mine/a.ts': 'const a = 1\nexport default {\n  x: 1 +* 2,\n}\n' },
      /^mine\/a\.ts:3:\d+: cannot be loaded: .*\[plugin\]$/,
    ],
    'syntax that is not erased': [
      { 'mine/a.ts': '\nenum X { a }\nexport default X\n' },
      /^mine\/a\.ts:2:1: cannot be loaded: .*enum.*; types are only stripped; write in JavaScript what becomes code \[plugin\]$/,
    ],
    'a line that throws': [
      { 'mine/a.ts': 'const a: number = 1\n\nexport default { a: nope.x }\n' },
      /^mine\/a\.ts:3:21: cannot be loaded: nope is not defined/,
    ],
    'a line that throws in an inner file': [
      {
        'mine/index.ts': "import { word } from './inner.ts'\nexport default word\n",
        'mine/inner.ts': "\n  throw new Error('no')\nexport const word = 1\n",
      },
      /^mine\/inner\.ts:2:9: cannot be loaded: no/,
    ],
    'an import of a file that is not there': [
      { 'mine/a.ts': "const a = 1\nimport x from './nowhere.ts'\nexport default [a, x]\n" },
      /^mine\/a\.ts:2:18: cannot be loaded: Cannot find module [^;]*$/,
    ],
    'an import of a file without its extension': [
      { 'mine/a.ts': "\nimport x from './inner'\nexport default x\n", 'mine/inner.ts': 'export default 1\n' },
      /^mine\/a\.ts:2:\d+: cannot be loaded: Cannot find module .*; the import of a file must include its extension, such as "\.ts" \[plugin\]\n/,
    ],
    'an import of a package that is not there': [
      { 'mine/a.ts': "\nimport x from 'no-such-package'\nexport default x\n" },
      /^mine\/a\.ts:2:16: cannot be loaded: Cannot find package/,
    ],
    'an import of what is not exported': [
      {
        'mine/index.ts': "\nimport { nothing } from './inner.ts'\nexport default nothing\n",
        'mine/inner.ts': 'export const word = 1\n',
      },
      /^mine\/index\.ts:2:\d+: cannot be loaded: .*nothing.*; if that is a type, say "import type" \[plugin\]$/,
    ],
    'a component that is none': [
      { 'mine/a.ts': "const a = 1\n\nexport default { kind: 'nonsense', a }\n" },
      /^mine\/a\.ts:3:1: "nonsense" is not a kind of component \[component\]$/,
    ],
  }
  for (const [name, [files, pattern]] of Object.entries(cases))
    it(name, async () => {
      expect(await told(files)).to.match(pattern)
    })
})
