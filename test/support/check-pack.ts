// Reads `npm pack --dry-run --json` and refuses a tarball that lacks what users need or brings what they do not.
import { readFileSync } from 'node:fs'

const output = readFileSync(0, 'utf8')
const [pack] = JSON.parse(output.slice(output.indexOf('['))) as { files: { path: string }[] }[]
const paths = pack?.files.map(({ path }) => path) ?? []
const allowed =
  /^(engine\/bin\/|dist\/(engine|plugins|types)\/|pipelines\/|config\/|docs\/|plugins\/README\.md$|package\.json$|README\.md$|LICENSE$|CHANGELOG\.md$)/
const needed = [
  'engine/bin/sluice.cjs',
  'dist/engine/index.js',
  'dist/engine/kit.js',
  'dist/engine/kit.d.ts',
  'dist/types/sluice.d.ts',
  'dist/engine/cli/main.js',
  'dist/engine/conformance/suite.js',
  'dist/plugins/access/index.js',
  'pipelines/chat-completions.yaml',
  'pipelines/chat-completions.test.yaml',
  'config/sluice.yaml',
  'LICENSE',
  'README.md',
  'plugins/README.md',
  'docs/services.md',
]
const extra = paths.filter((path) => !allowed.test(path))
const missing = needed.filter((path) => !paths.includes(path))
for (const path of extra) console.error(`not meant to be packed: ${path}`)
for (const path of missing) console.error(`missing from the package: ${path}`)
console.log(`${paths.length} files packed`)
process.exit(extra.length + missing.length === 0 ? 0 : 1)
