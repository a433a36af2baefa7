// Bundles the engine and the shipped plugins for a package: few large modules, and nothing left to make at a start that
// can be made here. Run by `npm run build`, which writes the types to the same folders afterwards.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { rolldown } from 'rolldown'
import type { OutputChunk, Plugin } from 'rolldown'
import { minifySync } from 'rolldown/utils'
import { readFolder } from '../../engine/config/files.ts'
import { groupsOf } from '../../engine/components/load-plugins.ts'
import { shipped } from '../../engine/config/shipped.ts'
import { licencesOf } from './licences.ts'
import { prepare } from './prepare.ts'
import type { Prepared } from './prepare.ts'

const root = join(import.meta.dirname, '..', '..')
const out = join(root, process.argv[2] ?? 'dist')

/** Packages with native code, or with threads and files of their own, and those that most processes never load. */
const external =
  /^node:|^(ajv|ajv-formats|better-sqlite3|bullmq|ioredis|kysely|pg|piscina|prom-client|tiktoken|@fastify\/busboy)(\/|$)/

const source = (path: string) => join(root, path)
/** A source's path in the package. */
const placeOf = (file: string) => relative(root, file).replaceAll('\\', '/').replace(/\.ts$/, '.js')
const named = (files: readonly string[]) => Object.fromEntries(files.map((file) => [placeOf(file).slice(0, -3), file]))

/** What runs in threads: it shares nothing with the rest, so that a thread loads only what it needs. */
const threads = [
  'engine/workers/entry',
  'engine/store/worker',
  'plugins/counting/count',
  'plugins/guards/match',
  'plugins/guards/search',
  'plugins/guards/word-search',
  'plugins/routing/fits-schema',
  'plugins/telemetry/print',
  // Signals run on the main thread, too: they are pure, so that they may be there twice.
  'plugins/classification/metadata',
  'plugins/classification/structural',
].map((name) => source(`${name}.ts`))
const plugins = groupsOf(await readFolder(shipped.plugins)).flatMap((group) => group.entries)
/** What is imported by its place: the command line, the doors for plugins, and the shipped plugins. */
const doors = [
  'engine/cli/main',
  'engine/index',
  'engine/kit',
  'engine/testing',
  'engine/cli/fixture/probe',
  'plugins/limits/counter-server',
  'plugins/notifications/ends',
  'plugins/telemetry/totals',
].map((name) => source(`${name}.ts`))

/** A module that others find by `moduleBeside` has a file of its own. */
function checkBeside(code: string, id: string): void {
  for (const [, name = ''] of code.matchAll(/moduleBeside\(['"]([^'"]+)['"], import\.meta\.url\)/g))
    if (![...threads, ...doors].includes(join(dirname(id), `${name}.ts`)))
      throw new Error(`${placeOf(id)} finds "${name}" by its place, so it must be listed in config/packaging/bundle.ts`)
}

const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Lets each source find its neighbours, its package and its entries from where it would be without a bundle. */
const addresses: Plugin = {
  name: 'addresses',
  transform(code, id) {
    if (!id.startsWith(root) || id.includes('node_modules')) return undefined
    // Files that `sluice new` writes find their neighbours from where they are written.
    if (placeOf(id).startsWith('engine/cli/template/')) return undefined
    checkBeside(code, id)
    return code
      .replace(/^const require = createRequire\(import\.meta\.url\)$/m, '')
      .replaceAll('createRequire(import.meta.url)(', 'require(')
      .replace(/\bimport\.meta\.(url|dirname)\b/g, (_, kind: string) => `__${kind}(${JSON.stringify(placeOf(id))})`)
  },
  renderChunk(code, { fileName }) {
    return code.replace(/\b__(url|dirname)\("([^"]*)"\)/g, (_, kind: string, place: string) => {
      const target = posix.relative(posix.dirname(fileName), kind === 'url' ? place : posix.dirname(place))
      const url = `new URL(${JSON.stringify(target.startsWith('.') ? target : `./${target}`)}, import.meta.url)`
      return kind === 'url' ? `${url}.href` : `process.getBuiltinModule('node:url').fileURLToPath(${url})`
    })
  },
  // A single letter beyond Latin-1 would double the memory that the text of a module takes.
  generateBundle(_, output) {
    for (const chunk of Object.values(output))
      if (chunk.type === 'chunk') chunk.code = chunk.code.replace(/[^\0-\xff]/g, escaped)
  },
}

const preparedModule = source('engine/config/prepared.ts')
/** A module that is made here. */
const allPlugins = source('plugins/all.ts')

/** Puts what was prepared in the place of the module that is empty in a checkout. */
const filled = ({ later }: Prepared): Plugin => ({
  name: 'prepared',
  resolveId: (id) => (id === allPlugins ? id : undefined),
  load(id) {
    if (id === allPlugins)
      return `import { join } from 'node:path'
        ${plugins.map((file, index) => `import plugin${index} from ${JSON.stringify(file)}`).join('\n')}
        const path = (place) => join(import.meta.dirname, '..', place)
        export const plugins = new Map([
          ${plugins.map((file, index) => `[path(${JSON.stringify(placeOf(file))}), plugin${index}]`).join(',\n')}
        ])`
    if (id !== preparedModule) return undefined
    return `import { createRequire } from 'node:module'
      const load = createRequire(import.meta.dirname + '/prepared/')
      const { validators, yaml } = load('./first.cjs')
      for (const key of ${JSON.stringify([...later.keys()])}) validators[key] = (...given) => load('./' + key + '.cjs')(...given)
      export const prepared = { validators, yaml, plugins: async () => (await import(${JSON.stringify(allPlugins)})).plugins }`
  },
})

/** Writes the modules that the prepared ones load. They are not bundled, which would print them at length again. */
function writePrepared({ first, later, yaml }: Prepared): void {
  const folder = join(out, 'engine/config/prepared')
  const members = (pairs: ReadonlyMap<string, string>) =>
    [...pairs].map(([key, code]) => `${JSON.stringify(key)}: ${code}`)
  const texts = new Map([...yaml].map(([key, text]) => [key, JSON.stringify(text)]))
  const write = (name: string, code: string) => {
    const { code: small, errors } = minifySync(`${name}.cjs`, `'use strict'\nmodule.exports = ${code}`)
    if (errors.length > 0) throw new AggregateError(errors, `${name} is no code`)
    writeFileSync(join(folder, `${name}.cjs`), small.replace(/[^\0-\xff]/g, escaped))
  }
  mkdirSync(folder, { recursive: true })
  write('first', `{ validators: { ${members(first).join()} }, yaml: { ${members(texts).join()} } }`)
  for (const [key, code] of later) write(key, code)
}

/** Everything that is imported by these files when they are loaded, themselves included. */
function closure(from: readonly string[], importedBy: (id: string) => readonly string[], found = new Set<string>()) {
  for (const id of from) if (!found.has(id) && !external.test(id)) closure(importedBy(id), importedBy, found.add(id))
  return found
}

/**
 * What is in one module each: the command line; what reads configurations, with which alone a container asks for the
 * health of its gateway every few seconds; all else that a gateway needs in any case.
 */
const parts = [
  ['command', source('engine/cli/main.ts')],
  ['reading', source('engine/cli/health.ts')],
  ['gateway', source('engine/cli/serve.ts'), source('engine/kit.ts'), allPlugins],
] as const

async function bundle(files: readonly string[], prefix: string, plugins: readonly Plugin[]): Promise<OutputChunk[]> {
  const made = await rolldown({
    input: named(files),
    cwd: root,
    platform: 'node',
    tsconfig: false,
    external,
    plugins: [...plugins, addresses],
    checks: { eval: false, ineffectiveDynamicImport: false },
  })
  const { output } = await made.write({
    dir: out,
    entryFileNames: '[name].js',
    chunkFileNames: `engine/chunks/${prefix}[name]-[hash].js`,
    comments: false,
    codeSplitting: {
      groups: parts.map(([name, ...from], index) => {
        let all: ReadonlySet<string> | undefined
        return {
          debugName: name,
          // What several parts need is in the first of them.
          priority: parts.length - index,
          name(id, graph) {
            all ??= closure(from, (importer) => graph.getModuleInfo(importer)?.importedIds ?? [])
            return all.has(id) ? name : null
          },
        }
      }),
    },
  })
  return output.filter((one) => one.type === 'chunk')
}

// What an earlier version left must not be packed.
for (const folder of ['engine', 'plugins', 'types']) rmSync(join(out, folder), { recursive: true, force: true })
const prepared = await prepare()
const chunks = [
  ...(await bundle([...doors, ...plugins], '', [filled(prepared)])),
  ...(await bundle(threads, 'thread-', [])),
]
writePrepared(prepared)
writeFileSync(join(out, 'engine/LICENCES.md'), licencesOf(chunks.flatMap(({ moduleIds }) => moduleIds)))
console.log(`${chunks.length} modules, ${Math.round(chunks.reduce((sum, { code }) => sum + code.length, 0) / 1000)} kB`)
// The gateway that was prepared from leaves modules behind that keep a process alive.
process.exit(0)
