// Prints what a browser loads for the first screen, compressed with gzip, and fails above the budget.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ensureBuilt } from './build.ts'

/** Kilobytes (1,000 bytes), compressed. */
const budget = { js: 250, css: 40 }

const failure = ensureBuilt()
if (failure !== undefined) throw new Error(failure)
const folder = join(import.meta.dirname, '..', 'dist', 'console', 'assets')
const names = readdirSync(folder).filter((name) => /\.(js|css)$/.test(name))
const text = new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const size = (name: string) => gzipSync(text.get(name) ?? '', { level: 9 }).length / 1000

/** A file, and those that it imports before it runs. */
function withImports(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const [, imported = ''] of (text.get(name) ?? '').matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g))
    withImports(imported, found)
  return found
}

const page = readFileSync(join(folder, '..', 'index.html'), 'utf8')
const named = [...page.matchAll(/"\/assets\/([^"]+)"/g)].map(([, name = '']) => name)
// The overview is what people see first, so its own files count, too.
const screen = names.filter((name) => name.startsWith('overview-'))
const first = new Set([...named, ...screen].flatMap((name) => [...withImports(name)]).filter((name) => text.has(name)))

console.log('| File at first load | kB, gzip |\n| --- | ---: |')
for (const name of first) console.log(`| ${name.replace(/-[\w-]{8}(\.\w+)$/, '$1')} | ${size(name).toFixed(1)} |`)
let over = false
for (const [kind, most] of Object.entries(budget)) {
  const sum = [...first].filter((name) => name.endsWith(`.${kind}`)).reduce((total, name) => total + size(name), 0)
  console.log(`| **all .${kind}**, at most ${most} | **${sum.toFixed(1)}** |`)
  over ||= sum > most
}
const later = names.filter((name) => !first.has(name))
console.log(
  `| later, when needed: ${later.length} files | ${later.reduce((total, name) => total + size(name), 0).toFixed(1)} |`,
)
if (over) {
  console.error('The console is larger at first load than its budget.')
  process.exitCode = 1
}
