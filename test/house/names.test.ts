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
    const { stages, providers } = await registry()
    expect(declared.map(({ name }) => name).sort()).to.deep.equal([...stages.keys(), ...providers.keys()].sort())
  })

  it('of codecs are those of their files, or of the folders whose codec.ts they are', async () => {
    const files = (await sourcesOf('plugins')).filter(({ text }) =>
      /^export default defineCodec\(|\bprotocol: '/m.test(text),
    )
    const names = new Set(files.flatMap(({ path }) => [stemOf(path), stemOf(dirname(path))]))
    const { codecs } = await registry()
    expect([...codecs.keys()].filter((protocol) => !names.has(protocol))).to.deep.equal([])
  })

  it('of plugins are those of their folders', async () => {
    const folders = (await sourcesOf('plugins'))
      .filter(({ path }) => basename(path) === 'index.ts')
      .map(({ path }) => basename(dirname(path)))
    expect([...(await registry()).plugins.keys()].sort()).to.deep.equal(folders.sort())
  })

  it('of tests are those of the sources they test', async () => {
    const sources = [...(await sourcesOf('engine')), ...(await sourcesOf('plugins'))].map(({ path }) =>
      path.replace(/\.ts$/, ''),
    )
    const tests = [...(await sourcesOf('test/engine')), ...(await sourcesOf('test/plugins'))].filter(({ path }) =>
      path.endsWith('.test.ts'),
    )
    const mirrored = ({ path }: { path: string }) => {
      const subject = path.slice('test/'.length, -'.test.ts'.length)
      return sources.some(
        (source) =>
          source === subject ||
          source.startsWith(`${subject}/`) ||
          source.startsWith(`${subject}-`) ||
          source.startsWith(`${dirname(subject)}/`),
      )
    }
    expect(tests.filter((test) => !mirrored(test)).map(({ path }) => path)).to.deep.equal([])
  })
})
