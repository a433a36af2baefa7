import { basename, dirname } from 'node:path'
import { expect } from 'chai'
import { filesOf, foldersOf, readFolder } from '../../engine/config/files.ts'
import { registry } from './registry.ts'
import { root, sourcesOf } from './sources.ts'

const vague = /^(util|utils|helper|helpers|common|manager|base|misc|shared|lib)$/

/** Paths below the root, of files and folders. */
async function pathsOf(folder: string): Promise<string[]> {
  const tree = await readFolder(`${root}/${folder}`)
  return [...filesOf(tree), ...foldersOf(tree)].map((path) => path.slice(root.length + 1).replaceAll('\\', '/'))
}

/** A file's name without what follows the first dot. */
function stemOf(path: string): string {
  return basename(path).replace(/\..*$/, '')
}

describe('names', () => {
  it('are in kebab case', async () => {
    const paths = (await Promise.all(['engine', 'plugins', 'pipelines', 'test'].map(pathsOf))).flat()
    const documents = /(^|\/)(README|CHANGELOG)\.md$/
    const wrong = paths.filter((path) => !documents.test(path) && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(stemOf(path)))
    expect(wrong).to.deep.equal([])
  })

  it('say what is inside', async () => {
    const paths = (await Promise.all(['engine', 'plugins', 'pipelines'].map(pathsOf))).flat()
    expect(paths.filter((path) => vague.test(stemOf(path)))).to.deep.equal([])
  })

  it('of stages and providers are those of their files', async () => {
    const declared = (await sourcesOf('plugins')).flatMap(({ path, text }) => {
      const name = /^export default define(?:Stage|Provider)\(\{\n {2}name: '([^']+)'/m.exec(text)?.[1]
      return name === undefined ? [] : [{ path, name }]
    })
    expect(declared.filter(({ path, name }) => stemOf(path) !== name)).to.deep.equal([])
    // A file in the plural holds a family: `bridges.ts` has `bridge_a` and its like.
    const families = (await sourcesOf('plugins')).flatMap(({ path, text }) =>
      [...text.matchAll(/^export const \w+ = \w+\(\{\n {2}name: '([^']+)'/gm)].map(([, name = '']) => ({ path, name })),
    )
    expect(families.filter(({ path, name }) => `${name.replace(/_[a-z]$/, '')}s` !== stemOf(path))).to.deep.equal([])
    const { stages, providers } = await registry()
    const names = [...declared, ...families].map(({ name }) => name)
    expect(names.sort()).to.deep.equal([...stages.keys(), ...providers.keys()].sort())
  })

  it('of actions are those of their files', async () => {
    const declared = (await sourcesOf('plugins')).flatMap(({ path, text }) => {
      const name = /^export default defineAction\(\{\n {2}name: '([^']+)'/m.exec(text)?.[1]
      return name === undefined ? [] : [{ path, name }]
    })
    expect(declared).to.have.length.above(10)
    expect(declared.filter(({ path, name }) => stemOf(path) !== name)).to.deep.equal([])
  })

  it('of services are those of their files', async () => {
    const declared = (await sourcesOf('plugins')).flatMap(({ path, text }) => {
      const name = /^export default defineService\(\{\s*name: '([^']+)'/m.exec(text)?.[1]
      return name === undefined ? [] : [{ path, name }]
    })
    expect(declared.filter(({ path, name }) => stemOf(path) !== name.replaceAll('_', '-'))).to.deep.equal([])
    const { services } = await registry()
    expect(declared.map(({ name }) => name).sort()).to.deep.equal([...services.keys()].sort())
  })

  it('of codecs are those of their files, or of the folders whose codec.ts they are', async () => {
    const files = (await sourcesOf('plugins')).map(({ path }) => path)
    const names = new Set(files.map((path) => (basename(path) === 'codec.ts' ? basename(dirname(path)) : stemOf(path))))
    const { codecs } = await registry()
    expect([...codecs.keys()].filter((protocol) => !names.has(protocol))).to.deep.equal([])
  })

  it('of plugins are those of their folders', async () => {
    const folders = (await sourcesOf('plugins'))
      .filter(({ path }) => basename(path) === 'index.ts')
      .map(({ path }) => basename(dirname(path)))
    expect([...(await registry()).plugins.keys()].sort()).to.deep.equal(folders.sort())
  })

  it('of folders of tests are those of the sources they test', async () => {
    const folders = new Set([...(await pathsOf('engine')), ...(await pathsOf('plugins'))].map((path) => dirname(path)))
    const tests = [...(await sourcesOf('test/engine')), ...(await sourcesOf('test/plugins'))].map(({ path }) => path)
    const wrong = tests.filter((path) => path.endsWith('.test.ts') && !folders.has(dirname(path).slice('test/'.length)))
    expect(wrong).to.deep.equal([])
  })
})
