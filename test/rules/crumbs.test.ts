import { posix } from 'node:path'
import { expect } from 'chai'
import { importsOf, sourcesOf } from './sources.ts'
import type { SourceFile } from './sources.ts'

/** A shorter file that one other file imports goes home to it. */
const least = 40

const endings = ['.ts', '.tsx']

/** Files that stand for themselves, however short they are, and why. */
const ownPlaces: readonly (readonly [why: string, holds: (file: SourceFile) => boolean])[] = [
  ['a declared component', ({ text }) => /\bdefine[A-Z]\w+(?:<'\w+'>)?\(\{/.test(text)],
  ['a table of a plugin: its rows and migrations', ({ text }) => /: readonly ServiceMigration\[\] = \[/.test(text)],
  ['a step of the history of the database', ({ path }) => /^engine\/store\/migrations\/\d{4}-/.test(path)],
  ['the control of a kind of fields', ({ path }) => /^console\/src\/form\/\w+Control\.tsx$/.test(path)],
]

/** What a file is loaded by when it is needed: with `import()`, or by its address, as workers load modules. */
const lazily = /(?:\bimport\(|\bnew URL\(|\bmoduleBeside\()'([^']+)'/g

/** Doors hand out what stands elsewhere; that is no place of their own where it could stand. */
const doors = new Set(['engine/index.ts', 'engine/kit.ts'])

/** The files of folders that are too short to stand alone, each with the file that imports it. */
async function crumbsOf(folders: readonly string[]): Promise<string[]> {
  const files = (await Promise.all(folders.map((folder) => sourcesOf(folder, endings)))).flat()
  const importers = new Map<string, Set<string>>()
  const lazy = new Set<string>()
  for (const file of [...files, ...(await sourcesOf('test', endings))]) {
    const at = (specifier: string) => posix.join(posix.dirname(file.path), specifier)
    for (const { specifier } of importsOf(file)) {
      const target = at(specifier)
      importers.set(target, (importers.get(target) ?? new Set()).add(file.path))
    }
    for (const [, specifier = ''] of file.text.matchAll(lazily)) lazy.add(at(specifier))
  }
  return files.flatMap((file) => {
    const [importer, ...others] = importers.get(file.path) ?? []
    if (importer === undefined || others.length > 0 || doors.has(importer) || lazy.has(file.path)) return []
    const isShort = file.text.trimEnd().split('\n').length < least
    return isShort && !ownPlaces.some(([, holds]) => holds(file)) ? [`${file.path} <- ${importer}`] : []
  })
}

describe('files', () => {
  it(`of less than ${least} lines that one other file imports stand in it, unless they have a place of their own`, async () => {
    expect(await crumbsOf(['engine', 'plugins', 'console/src'])).to.deep.equal([])
  })

  it('have each reason for a place of their own', async () => {
    const files = (await Promise.all(['engine', 'plugins', 'console/src'].map((one) => sourcesOf(one, endings)))).flat()
    const short = files.filter(({ text }) => text.trimEnd().split('\n').length < least)
    const unused = ownPlaces.filter(([, holds]) => !short.some(holds)).map(([why]) => why)
    expect(unused).to.deep.equal([])
  })
})
