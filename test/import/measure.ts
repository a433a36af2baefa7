/**
 * Measures an importer with configurations of others, which are not in this repository: imports each file of a folder,
 * looks whether the report speaks of every value, checks the result with no variable set, starts it with a scripted
 * upstream, and asks one model.
 *
 * node test/import/measure.ts litellm|portkey|bifrost FOLDER
 */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { parse } from 'yaml'
import { run } from '../../engine/cli/main.ts'
import { count } from '../../engine/kit.ts'
import { isBifrostSection } from '../../plugins/import/bifrost.ts'
import { isSection } from '../../plugins/import/litellm.ts'
import { isPortkeySection } from '../../plugins/import/portkey.ts'
import { leafPaths, silentLeaves, startImported } from '../plugins/import/imported.ts'
import type { ShownReport } from '../plugins/import/imported.ts'

const sections = { litellm: isSection, portkey: isPortkeySection, bifrost: isBifrostSection } as const

interface Measured {
  readonly leaves: number
  readonly silent: readonly string[]
  /** How far it came. */
  readonly end: 'unreadable' | 'not right' | 'does not start' | 'no model' | 'no answer' | 'answers'
  readonly why: string
  readonly counts?: ShownReport['counts']
}

const [product = '', folder = ''] = process.argv.slice(2)
if (!Object.hasOwn(sections, product) || folder === '')
  throw new Error('node test/import/measure.ts litellm|portkey|bifrost FOLDER')
const isOwn = sections[product as keyof typeof sections]

const files = (await readdir(folder)).filter((name) => ['.yaml', '.yml', '.json'].includes(extname(name))).toSorted()
const all: Measured[] = []
for (const name of files) {
  const measured = await measure(resolve(folder, name))
  all.push(measured)
  const { end, leaves, silent, why, counts } = measured
  const of = counts ? Object.entries(counts).map(([status, number]) => `${status} ${number}`) : []
  console.log([name.padEnd(44), end.padEnd(14), `${leaves} leaves`, ...of, ...silent, why].join('  '))
}
const those = (...ends: readonly Measured['end'][]) => all.filter(({ end }) => ends.includes(end)).length
const total = (of: (measured: Measured) => number) => all.reduce((sum, measured) => sum + of(measured), 0)
console.log(
  [
    `${count(files.length, 'file')}, ${total(({ leaves }) => leaves)} leaves, ${total(({ silent }) => silent.length)} silent`,
    `${those('answers', 'no answer', 'no model')} start`,
    `${those('answers')} answer`,
    `${those('no model')} have no model that can be asked`,
  ].join('; '),
)

/** Takes one file as far as it goes. */
async function measure(path: string): Promise<Measured> {
  const here = await mkdtemp(join(tmpdir(), 'sluice-measure-'))
  try {
    const text = await readFile(path, 'utf8')
    // Whoever names a model in a variable has it set.
    const named = [...text.matchAll(/\bmodel: *["']?os\.environ\/(\w+)/g)].map(([, name = '']) => [
      name,
      'openai/gpt-4o',
    ])
    const words = ['import', product, path, '--out', here, '--json']
    const imported = await command(here, words, Object.fromEntries(named) as Record<string, string>)
    if (![0, 3].includes(imported.status)) return { leaves: 0, silent: [], end: 'unreadable', why: imported.text }
    const report = JSON.parse(imported.text) as ShownReport
    const given = report.items[0]?.file ?? path
    const known = { leaves: leafPaths(text).length, silent: silentLeaves(given, text, report, isOwn) }
    return { ...known, ...(await ask(here)), counts: report.counts }
  } finally {
    await rm(here, { recursive: true, force: true })
  }
}

/** Checks and starts what an import wrote, and asks its first model. */
async function ask(here: string): Promise<Pick<Measured, 'end' | 'why'>> {
  const checked = await command(here, ['check'])
  if (checked.status !== 0) return { end: 'not right', why: checked.text }
  const gateway = await startImported(here).catch((error: unknown) => String(error))
  if (typeof gateway === 'string') return { end: 'does not start', why: gateway }
  try {
    const written = await readFile(join(here, 'config/sluice.yaml'), 'utf8')
    const { models } = parse(written) as { models: readonly { name: string }[] }
    const [model] = models
    if (!model) return { end: 'no model', why: '' }
    const { status, text } = await gateway.ask(model.name.replace('*', 'any'))
    return status === 200 ? { end: 'answers', why: '' } : { end: 'no answer', why: `${status} ${text}` }
  } finally {
    await gateway.close()
  }
}

async function command(
  here: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const lines: string[] = []
  const tell = (text: string) => void lines.push(text)
  const style = (_: unknown, text: string) => text
  const given = { environment, folder: here, interactive: false, out: tell, error: tell, style }
  const status = await run([...words], given)
  return { status, text: lines.join('\n') }
}
