import { expect } from 'chai'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { loadPlugins } from '../../../engine/components/load-plugins.ts'
import { assemble } from '../../../engine/components/assemble.ts'
import { stub } from '../pipeline/stubs.ts'
import type { TestFolder } from './folder.ts'
import { testFolder } from './folder.ts'

const component = (fields: string) => `export default { summary: 'A test.', ${fields} }\n`
const none = "config: { type: 'object', additionalProperties: false, properties: {} }"
const stage = (name: string, gives = '{}') =>
  component(`kind: 'stage', name: '${name}', ${none}, needs: [], provides: [], build: () => () => (${gives})`)
const provider = (name: string) =>
  component(`kind: 'provider', name: '${name}', ${none}, offers: () => [], open: () => ({})`)
const codec = (protocol: string) =>
  component(
    `protocol: '${protocol}', operation: 'embed', schema: {}, head: () => ({}), error: { print: () => ({}) }, meter: {}`,
  )

async function load(folder: TestFolder, ...entries: string[]) {
  const loaded = await loadPlugins(
    entries.map((text) => ({
      text,
      report: (code: string, message: string) => ({ file: 's.yaml', line: 1, column: 1, code, message }),
    })),
    { root: folder.path, configFile: join(folder.path, 'config', 's.yaml') },
  )
  return { ...loaded, problems: loaded.diagnostics.map(printDiagnostic) }
}

describe('registry', () => {
  let folder: TestFolder
  beforeEach(async () => {
    folder = await testFolder()
  })
  afterEach(() => folder.remove())

  it('finds components in folders, files and packages', async () => {
    const lines = "import inner from './inner.ts'\n"
    await folder.write({
      'plugins/limit.ts': stage('limit'),
      'plugins/limit.test.ts': 'throw new Error("a test was loaded")',
      'plugins/types.d.ts': 'not even TypeScript',
      'plugins/.hidden.ts': 'throw new Error("a hidden file was loaded")',
      'plugins/node_modules/x.ts': 'throw new Error("a package was loaded")',
      'plugins/notes.md': 'Nothing.',
      'plugins/deep/plain.js': codec('plain'),
      'plugins/deep/er/far.ts': provider('far'),
      'plugins/whole/index.ts': `${lines}export default { kind: 'plugin', name: 'whole', summary: 's', stages: [inner] }`,
      'plugins/whole/inner.ts': stage('inner'),
      'one.ts': stage('one'),
      'node_modules/acme/package.json': '{ "name": "acme", "type": "module", "exports": { "import": "./main.js" } }',
      'node_modules/acme/main.js': `const stages = []\nexport default { kind: 'plugin', name: 'acme', summary: 's', stages }`,
      'config/s.yaml': '',
    })
    const { registry, problems, folders, files } = await load(folder, './plugins', './one.ts', 'acme')
    expect(problems).to.deep.equal([])
    expect([...registry.stages.keys()]).to.deep.equal(['limit', 'inner', 'one'])
    expect([...registry.codecs.keys()]).to.deep.equal(['plain'])
    expect([...registry.providers.keys()]).to.deep.equal(['far'])
    expect([...registry.plugins.keys()]).to.deep.equal(['whole', 'acme'])
    expect(registry.incomplete).to.equal(false)
    const names = (paths: readonly string[]) => paths.map((path) => path.slice(folder.path.length + 1))
    expect(names(folders)).to.deep.equal(['plugins', 'plugins/deep', 'plugins/deep/er', 'plugins/whole', ''])
    expect(names(files)).to.include.members(['plugins/limit.ts', 'plugins/whole/inner.ts', 'one.ts'])
  })

  it('refuses a plugin that needs a later contract, before its fields are looked at', async () => {
    const plugin = (name: string, contract: string) =>
      component(`kind: 'plugin', name: '${name}', contract: ${contract}`)
    await folder.write({
      'plugins/now.ts': plugin('now', '1'),
      'plugins/later.ts': plugin('later', '2, gates: []'),
      'plugins/odd.ts': plugin('odd', "'1'"),
    })
    const { registry, problems } = await load(folder, './plugins')
    expect(problems).to.deep.equal([
      'plugins/later.ts:1:1: plugin "later": it needs contract 2 of Sluice; this is 1 [component]',
      'plugins/odd.ts:1:1: plugin "odd": "contract" must be a whole number, such as 1 [component]',
    ])
    expect([...registry.plugins.keys()]).to.deep.equal(['now'])
  })

  it('finds error codes that two plugins declare, or the engine has, and rows that lack something', async () => {
    const plugin = (name: string, errors: string) => component(`kind: 'plugin', name: '${name}', errors: ${errors}`)
    await folder.write({
      'plugins/coast.ts': plugin('coast', "{ tide_out: { status: 409, message: 'The tide is out.' } }"),
      'plugins/sea.ts': plugin('sea', "{ tide_out: { status: 409, message: 'It is low.' } }"),
      'plugins/taken.ts': plugin('taken', "{ not_found: { status: 404, message: 'No.' } }"),
      'plugins/mute.ts': plugin('mute', '{ silent: { status: 409 } }'),
      'plugins/vague.ts': plugin('vague', "{ unclear: { message: 'Something.' } }"),
      'plugins/fine.ts': plugin('fine', "{ low: { status: 200, message: 'Fine.' } }"),
      'plugins/loud.ts': plugin('loud', "{ 'Very-Loud': { status: 400, message: 'Loud.' } }"),
      'plugins/again.ts': plugin('again', "{ later: { status: 503, retry: 'soon', message: 'Later.' } }"),
    })
    const { registry, problems } = await load(folder, './plugins')
    expect(problems).to.deep.equal([
      'plugins/again.ts:1:1: plugin "again": "retry" of the error code "later" must be never, same or other [component]',
      'plugins/fine.ts:1:1: plugin "fine": the error code "low" needs a "status" from 400 to 599 [component]',
      'plugins/loud.ts:1:1: plugin "loud": the error code "Very-Loud" must be of lower-case letters, digits and "_" [component]',
      'plugins/mute.ts:1:1: plugin "mute": the error code "silent" needs a "message" [component]',
      'plugins/vague.ts:1:1: plugin "vague": the error code "unclear" needs a "status" from 400 to 599 [component]',
      'plugins/sea.ts:1:1: the error code "tide_out" is already there: coast [duplicate]',
      'plugins/taken.ts:1:1: the error code "not_found" is already there: the engine [duplicate]',
    ])
    expect(registry.errors.get('tide_out')).to.include({ status: 409, from: 'coast' })
  })

  it('reports what cannot be loaded or is no component, and goes on', async () => {
    await folder.write({
      'plugins/a.ts': stage('a'),
      'plugins/broken.ts': 'export default {',
      'plugins/empty.ts': 'export const x = 1\n',
      'plugins/none.ts': 'export default 1\n',
      'plugins/odd.ts': component("kind: 'gadget', name: 'odd'"),
      'plugins/open.ts': component(
        "kind: 'stage', name: 'open', config: { type: 'object' }, needs: [], provides: [], build() {}",
      ),
      'plugins/twin.ts': stage('a'),
      'plugins/use.ts': stage('use'),
      'plugins/steady.ts': component(
        "kind: 'service', name: 'steady', stability: 'frozen', section: 'steady', uses: [], migrations: [], settings: {}",
      ),
      'plugins/misspelled.ts': component(
        "kind: 'stage', name: 'misspelled', config: { type: 'object', additionalProperties: false, properties: {} }, needs: [], provide: [], build() {}",
      ),
      'plugins/extra.ts': component("kind: 'slot', name: 'extra', summary: 's', colour: 'red'"),
      'plugins/inner.ts': "export default { kind: 'plugin', name: 'inner', summary: 's', stage: [] }\n",
      'plugins/named.ts': component(
        "kind: 'stage', name: 'named', config: { type: 'object', additionalProperties: false, properties: { a: { type: 'string', 'x-inputs': [1] } } }, needs: [], provides: [], build() {}",
      ),
      'plugins/unread.ts': component(
        "kind: 'stage', name: 'unread', body: { type: 'object', required: 'a' }, config: { type: 'object', additionalProperties: false, properties: {} }, needs: [], provides: [], build() {}",
      ),
      'plugins/wrong.ts': component(
        "kind: 'stage', name: 'wrong', config: { type: 'object', additionalProperties: false, properties: { a: { type: 'text' } } }, needs: [], provides: [], build() {}",
      ),
    })
    const { registry, problems } = await load(folder, './plugins', './gone', 'no-such-package')
    expect([...registry.stages.keys()]).to.deep.equal(['a'])
    expect(registry.incomplete).to.equal(true)
    expect(problems.filter((line) => !/broken|no-such-package/.test(line))).to.deep.equal([
      's.yaml:1:1: there is no file or folder "./gone" [plugin]',
      'plugins/empty.ts:1:1: it has no default export; write its components after "export default" [component]',
      'plugins/extra.ts:1:1: slot "extra": unknown field "colour" [component]',
      'plugins/inner.ts:1:1: plugin "inner": unknown field "stage"; did you mean "stages"? [component]',
      'plugins/misspelled.ts:1:1: stage "misspelled": unknown field "provide"; did you mean "provides"? [component]',
      'plugins/named.ts:1:1: stage "named": its config schema is wrong: x-inputs must be names of slots [component]',
      'plugins/none.ts:1:1: the default export is neither a plugin, a stage, an action, a codec, a provider, a signal, a guard, a slot, a service, a command nor a record [component]',
      'plugins/odd.ts:1:1: "gadget" is not a kind of component [component]',
      'plugins/open.ts:1:1: stage "open": its config must be an object schema with additionalProperties: false [component]',
      'plugins/steady.ts:1:1: service "steady": "stability" must be stable or beta [component]',
      'plugins/twin.ts:1:1: the stage "a" is already there: plugins/a.ts [duplicate]',
      'plugins/unread.ts:1:1: stage "unread": its body schema is wrong: schema is invalid: data/required must be array [component]',
      'plugins/use.ts:1:1: a stage cannot be named "use": pipelines use that word themselves [component]',
      'plugins/wrong.ts:1:1: stage "wrong": its config schema is wrong: schema is invalid: data/properties/a/type must be equal to one of the allowed values, data/properties/a/type must be array, data/properties/a/type must match a schema in anyOf [component]',
    ])
    expect(
      problems.filter((line) => /^plugins\/broken\.ts:1:1: cannot be loaded: .+ \[plugin\]$/.test(line)),
    ).to.have.length(1)
    expect(
      problems.filter((line) =>
        /^s\.yaml:1:1: the package "no-such-package" cannot be loaded: .*no-such-package.* \[plugin\]$/.test(line),
      ),
    ).to.have.length(1)
  })

  it('loads what changed anew, inner files of a plugin too, and shares what did not', async () => {
    const index =
      "import inner from './inner.ts'\nexport default { kind: 'plugin', name: 'whole', summary: 's', stages: [inner] }\n"
    await folder.write({
      'plugins/flat/a.ts': stage('a', "{ v: 'a1' }"),
      'plugins/whole/index.ts': index,
      'plugins/whole/inner.ts': stage('inner', "{ v: 'i1' }"),
    })
    const built = async () => {
      const { registry, problems } = await load(folder, './plugins')
      expect(problems).to.deep.equal([])
      return registry.stages
    }
    const value = (stages: Awaited<ReturnType<typeof built>>, name: string) =>
      (stages.get(name)!.build({}, {} as never) as () => { v: string })().v
    const first = await built()
    const again = await built()
    expect(again.get('a')).to.equal(first.get('a'))
    await folder.write({ 'plugins/whole/inner.ts': stage('inner', "{ v: 'i2' }") })
    const second = await built()
    expect([value(second, 'a'), value(second, 'inner')]).to.deep.equal(['a1', 'i2'])
    expect(second.get('a')).to.equal(first.get('a'))
    await folder.write({
      'plugins/flat/a.ts': stage('a', "{ v: 'a2' }"),
      'plugins/whole/inner.ts': stage('inner', "{ v: 'i1' }"),
    })
    const third = await built()
    expect([value(third, 'a'), value(third, 'inner')]).to.deep.equal(['a2', 'i1'])
    expect(third.get('inner')).to.equal(first.get('inner'))
    await rm(join(folder.path, 'plugins/flat/a.ts'))
    expect([...(await built()).keys()]).to.deep.equal(['inner'])
  })

  it('gives up on a file that never finishes loading, and loads it again once it changed', async () => {
    await folder.write({ 'plugins/limit.ts': `await new Promise(() => {})\n${stage('limit')}` })
    const entry = { text: './plugins', report: () => ({ file: '', line: 1, column: 1, code: '', message: '' }) }
    const { diagnostics, registry } = await loadPlugins([entry], {
      root: folder.path,
      configFile: folder.path,
      deadline: 20,
    })
    expect(diagnostics.map(printDiagnostic)).to.deep.equal([
      'plugins/limit.ts:1:1: cannot be loaded: it had not finished loading after 0.02 seconds; does a top-level "await" never end? [plugin]',
    ])
    expect(registry.incomplete).to.equal(true)
    await folder.write({ 'plugins/limit.ts': stage('limit') })
    const again = await load(folder, './plugins')
    expect(again.problems).to.deep.equal([])
    expect([...again.registry.stages.keys()]).to.deep.equal(['limit'])
  })

  it('assembles components that are already there', () => {
    const { registry, diagnostics } = assemble(
      [
        stub('x', [], []),
        { kind: 'plugin', name: 'p', summary: 's', stages: [stub('y', [], []), stub('x', [], [])] },
      ].map((value) => ({ value, from: 'here' })),
    )
    expect([...registry.stages.keys()]).to.deep.equal(['x', 'y'])
    expect(diagnostics.map(printDiagnostic)).to.deep.equal([
      'here:1:1: the stage "x" is already there: here [duplicate]',
    ])
  })
})
