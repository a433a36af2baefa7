import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { expect } from 'chai'
import { importsOf, root, sourcesOf } from './sources.ts'
import type { Import, SourceFile } from './sources.ts'

/** The files of the console have markup, too. */
const endings = ['.ts', '.tsx']

/** The folders of the console, from below upwards: each imports itself and those before it. */
const folders = [
  'format.ts',
  'words.ts',
  'api',
  'parts',
  'form',
  'catalog',
  'picture',
  'quick-start',
  'screens',
  'app',
  'main.tsx',
]

/** Every import of a folder's files that a rule refuses, as `file -> what it imports`. */
async function refused(
  folder: string,
  allows: (target: string, from: SourceFile, how: Import) => boolean,
): Promise<string[]> {
  const files = await sourcesOf(folder, endings)
  expect(files.length, `files in ${folder}`).to.be.greaterThan(0)
  return files.flatMap((file) =>
    importsOf(file)
      .filter((how) => !allows(targetOf(file, how), file, how))
      .map(({ specifier }) => `${file.path} -> ${specifier}`),
  )
}

/** A path below the root for a relative import, else the specifier as it stands. */
function targetOf({ path }: SourceFile, { specifier }: Import): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier
}

function isPackage(target: string): boolean {
  return !/^(engine|plugins|test|pipelines|config|console|docs)\//.test(target)
}

/** The ways that lead from a file back to itself; one of them for each file where such a way is found. */
function circles(targets: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const follow = (file: string, way: readonly string[]): string[] => {
    if (way.includes(file)) return [[...way.slice(way.indexOf(file)), file].join(' -> ')]
    if (done.has(file)) return []
    const found = (targets.get(file) ?? []).flatMap((target) => follow(target, [...way, file]))
    done.add(file)
    return found
  }
  return [...targets.keys()].flatMap((file) => follow(file, []))
}

/** What plugins see of the engine: `sluice` and `sluice/kit`. */
const doors = new Set(['engine/index.ts', 'engine/kit.ts'])

describe('imports', () => {
  it('finds the imports of a file, types apart', () => {
    const text = [
      "import { a,\n  b } from './a.ts'",
      "import type { c } from 'c'",
      "export * from './d.ts'",
      "import 'e'",
      "const f = await import('./f.ts')",
    ].join('\n')
    expect(importsOf({ path: '', text })).to.have.deep.members([
      { specifier: './a.ts', typeOnly: false },
      { specifier: 'c', typeOnly: true },
      { specifier: './d.ts', typeOnly: false },
      { specifier: 'e', typeOnly: false },
      { specifier: './f.ts', typeOnly: false },
    ])
  })

  it('lets engine/spec import itself, and types', async () => {
    const wrong = await refused(
      'engine/spec',
      (target, _, { typeOnly }) => target.startsWith('engine/spec/') || (typeOnly && isPackage(target)),
    )
    expect(wrong).to.deep.equal([])
  })

  it('keeps the engine from plugins, pipelines and tests', async () => {
    expect(await refused('engine', (target) => target.startsWith('engine/') || isPackage(target))).to.deep.equal([])
  })

  it('lets a plugin import the doors of the engine and its own folder', async () => {
    const wrong = await refused('plugins', (target, { path }) => {
      const own = path.split('/').slice(0, 2).join('/')
      return doors.has(target) || target.startsWith(`${own}/`) || isPackage(target)
    })
    expect(wrong).to.deep.equal([])
  })

  it('imports only packages that an installation brings', async () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object }
    const brings = (target: string) =>
      isBuiltin(target) || Object.keys(dependencies).some((name) => target === name || target.startsWith(`${name}/`))
    for (const folder of ['engine', 'plugins'])
      expect(
        await refused(folder, (target, _, { typeOnly }) => typeOnly || !isPackage(target) || brings(target)),
      ).to.deep.equal([])
  })

  it('has no circles: what two files need of each other stands in one that neither needs', async () => {
    const files = (
      await Promise.all(['engine', 'plugins', 'console/src'].map((folder) => sourcesOf(folder, endings)))
    ).flat()
    const targets = new Map(files.map((file) => [file.path, importsOf(file).map((how) => targetOf(file, how))]))
    expect(circles(targets)).to.deep.equal([])
    expect(
      circles(
        new Map([
          ['a', ['b']],
          ['b', ['c', 'd']],
          ['c', ['b']],
          ['d', []],
        ]),
      ),
    ).to.deep.equal(['b -> c -> b'])
  })

  it('leads from room to room of the engine in one direction', async () => {
    const roomOf = (path: string) =>
      path
        .split('/')
        .slice(0, path.split('/').length > 2 ? 2 : 3)
        .join('/')
    const rooms = new Map<string, Set<string>>()
    for (const file of await sourcesOf('engine')) {
      const from = roomOf(file.path)
      const known = rooms.get(from) ?? new Set()
      for (const to of importsOf(file).map((how) => roomOf(targetOf(file, how))))
        if (to !== from && to.startsWith('engine/')) known.add(to)
      rooms.set(from, known)
    }
    expect(rooms.size).to.be.greaterThan(15)
    expect(circles(new Map([...rooms].map(([room, targets]) => [room, [...targets]])))).to.deep.equal([])
  })

  it('leads from folder to folder of the console in one direction, and from no screen to another', async () => {
    const heightOf = (path: string) => folders.indexOf(path.split('/')[2] ?? '')
    const screenOf = (path: string) => /^console\/src\/(screens\/[^/]+\/)?/.exec(path)?.[1]
    const wrong = await refused('console/src', (target, { path }, { typeOnly }) => {
      if (isPackage(target) || (typeOnly && target.startsWith('engine/spec/'))) return true
      const [from, to] = [heightOf(path), heightOf(target)]
      return from !== -1 && to !== -1 && (to < from || (to === from && screenOf(target) === screenOf(path)))
    })
    expect(wrong).to.deep.equal([])
  })

  it('keeps the five rooms that one reads to know the engine small', async () => {
    const files = (
      await Promise.all(['spec', 'config', 'pipeline', 'live', 'http'].map((room) => sourcesOf(`engine/${room}`)))
    ).flat()
    expect(files.length).to.be.at.most(140)
    expect(files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)).to.be.at.most(15_500)
  })

  it('keeps the specifiers of what Node runs as they are: relative ones end in .ts, those of data in .json', async () => {
    for (const folder of ['engine', 'plugins'])
      expect(
        await refused(folder, (_, __, { specifier }) => !specifier.startsWith('.') || /\.(?:ts|json)$/.test(specifier)),
      ).to.deep.equal([])
  })
})
