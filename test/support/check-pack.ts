// Reads `npm pack --dry-run --json` and refuses a tarball that lacks what users need, brings what they do not, or has
// pages with links to what it lacks.
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { linksIn } from './links.ts'

const output = readFileSync(0, 'utf8')
const [pack] = JSON.parse(output.slice(output.indexOf('['))) as { files: { path: string }[] }[]
const paths = pack?.files.map(({ path }) => path) ?? []
const allowed =
  /^(engine\/bin\/|dist\/(console|engine|plugins|types)\/|pipelines\/|config\/[^/]+$|deploy\/|docs\/|(engine|plugins)\/README\.md$|package\.json$|README\.md$|SECURITY\.md$|LICENSE$|CHANGELOG\.md$)/
const needed = [
  'engine/bin/sluice.cjs',
  'dist/console/index.html',
  'dist/console/assets/scheme.js',
  'dist/engine/LICENCES.md',
  'dist/engine/index.js',
  'dist/engine/kit.js',
  'dist/engine/kit.d.ts',
  'dist/types/sluice.d.ts',
  'dist/engine/cli/main.js',
  'dist/engine/config/prepared/first.cjs',
  'dist/engine/store/worker.js',
  'dist/engine/workers/entry.js',
  'dist/plugins/access/index.js',
  'dist/plugins/counting/count.js',
  'pipelines/chat-completions.yaml',
  'pipelines/chat-completions.test.yaml',
  'config/sluice.yaml',
  'deploy/grafana/sluice.json',
  'deploy/helm/sluice/Chart.yaml',
  'deploy/helm/sluice/templates/deployment.yaml',
  'deploy/prometheus/rules.yaml',
  'deploy/systemd/sluice.service',
  'LICENSE',
  'README.md',
  'plugins/README.md',
  'docs/services.md',
]
const extra = paths.filter((path) => !allowed.test(path))
const missing = needed.filter((path) => !paths.includes(path))
const holds = (target: string) => paths.some((path) => path === target || path.startsWith(`${target}/`))
const dead = paths
  .filter((path) => path.endsWith('.md'))
  .flatMap((page) =>
    linksIn(readFileSync(join(import.meta.dirname, '..', '..', page), 'utf8'))
      .filter((link) => !holds(posix.join(posix.dirname(page), link).replace(/\/$/, '')))
      .map((link) => `${page}: ${link}`),
  )
for (const path of extra) console.error(`not meant to be packed: ${path}`)
for (const path of missing) console.error(`missing from the package: ${path}`)
for (const link of dead) console.error(`a link to what is not packed: ${link}`)
console.log(`${paths.length} files packed`)
process.exit(extra.length + missing.length + dead.length === 0 ? 0 : 1)
