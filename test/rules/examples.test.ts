import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse, parseDocument } from 'yaml'
import type { Diagnostic } from '../../engine/config/diagnostics.ts'
import { fencedBlocks } from '../../engine/cli/check-file.ts'
import { fileProperties } from '../../engine/records/file-properties.ts'
import type { Registry } from '../../engine/config/registry.ts'
import { Duties } from '../../engine/proof/duties.ts'
import { testFolder } from '../engine/config/folder.ts'
import { configuration, sandbox } from '../engine/cli/sandbox.ts'
import type { Sandbox } from '../engine/cli/sandbox.ts'
import { registry } from './registry.ts'
import { root } from './sources.ts'

/** Blocks that nothing checks, as `page:line`, each with the reason. */
const unchecked = new Map<string, string>()

const pages = [
  'README.md',
  'plugins/README.md',
  'engine/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .sort(),
]
const blocksOf = (page: string, ...languages: string[]) =>
  fencedBlocks(readFileSync(join(root, page), 'utf8'), languages).filter(
    ({ line }) => !unchecked.has(`${page}:${line}`),
  )

/** A stage that a page imagines, so that its example can be read. */
const imagined = `import { defineStage, noConfig } from 'sluice'

export default defineStage({ name: 'acme-cache', summary: 'Imagined.', config: noConfig, needs: [], provides: [], gives: ['reply'], build: () => () => ({}) })
`

/** A pipeline around steps: it begins with every slot, and its duties are paid elsewhere. */
const aroundSteps = (stages: unknown, known: Registry) => ({
  name: 'frame',
  summary: 'Frame.',
  protocol: 'chat',
  inputs: [...known.slots.keys()],
  without: [...new Duties(known).names],
  stages,
})

const aroundProtocol = (protocol: unknown) => ({
  name: 'frame',
  summary: 'Frame.',
  protocol,
  routes: ['POST /frame'],
  public: true,
  stages: ['refuse'],
})

/** A block in the frame that fits its keys; undefined where it stands alone. A fixture gets a file of its own. */
function framed(text: string, known: Registry): object | undefined {
  const value: unknown = parse(text)
  if (Array.isArray(value)) return aroundSteps(value, known)
  const { protocol, ...others } = value as { protocol?: unknown }
  return Object.keys(others).length === 0 ? aroundProtocol(protocol) : undefined
}

const isConfiguration = (text: string, known: Registry) =>
  Object.keys(parse(text) as object).some((key) => Object.hasOwn(fileProperties(known), key)) &&
  !/^(stages|endpoints|tests):/m.test(text)

const isFixture = (text: string) => 'tests' in (parse(text) as object)

/** A page whose blocks stand in their frames, each in its own lines. */
function withFrames(page: string, known: Registry): string {
  const lines = readFileSync(join(root, page), 'utf8').split('\n')
  for (const { text, line } of fencedBlocks(lines.join('\n'), ['yaml', 'yml'])) {
    const frame = framed(text, known)
    if (isFixture(text) || unchecked.has(`${page}:${line}`)) lines[line - 2] = '```unchecked'
    if (frame === undefined) continue
    const length = text.split('\n').length - (line - 1)
    lines.fill('', line - 1, line - 1 + length)
    lines[line - 1] = JSON.stringify(frame)
  }
  return lines.join('\n')
}

/** A configuration, or a part of one, in a configuration that serves. */
function merged(text: string, plugins: readonly string[]): string {
  const given = parse(text) as Record<string, unknown>
  const served = parse(configuration) as Record<string, unknown[]>
  const lists = Object.entries(served).map(([name, list]) => [name, list.concat(given[name] ?? [])])
  return JSON.stringify({ ...shared, ...given, ...Object.fromEntries(lists), plugins })
}

/** What some settings are of no use without. Nothing connects to it. */
const shared = { key_value: { url: 'redis://localhost' } }

/** Values for the variables that a text reads. */
const environmentOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name = '']) => [
      name,
      name.endsWith('REGION') ? 'us-east-1' : 'https://upstream.example/0123456789',
    ]),
  )

async function mistakesIn(here: Sandbox, words: string[], text = ''): Promise<Diagnostic[]> {
  const { out } = await here.run(['check', '--json', ...words], environmentOf(text))
  return (JSON.parse(out.join('\n')) as Diagnostic[]).filter(({ note }) => !note)
}

/** What the check finds in the YAML of a page, each with its line. */
async function wrongIn(page: string): Promise<readonly string[]> {
  const known = await registry()
  const blocks = blocksOf(page, 'yaml', 'yml')
  const plugins = blocksOf(page, 'ts').filter(({ text }) => text.includes('\nexport default '))
  const files = plugins.map(({ text }, index) => [`own/plugin-${index}.ts`, text] as const)
  const names = [...files.map(([name]) => name), 'own/imagined.ts'].map((name) => `./${name}`)
  const here = await sandbox({
    ...Object.fromEntries(files),
    'own/imagined.ts': imagined,
    'config/sluice.yaml': `plugins: [${names.join()}]\n${configuration.replace(/\]\n$/, ', { name: my-model, provider: echo }]')}`,
  })
  const wrong: string[] = []
  try {
    const written = { 'page.md': withFrames(page, known) } as Record<string, string>
    for (const { text, line } of blocks.filter(({ text }) => isFixture(text))) written[`at-${line}.test.yaml`] = text
    for (const [file, text] of Object.entries(written)) {
      await here.write(file, text)
      const found = await mistakesIn(here, [file])
      wrong.push(...found.map(({ line, message, code }) => `${page}:${line}: ${message} [${code}]`))
    }
    for (const { text, line } of blocks.filter(({ text }) => isConfiguration(text, known))) {
      await here.write('config/sluice.yaml', merged(text, names))
      const found = await mistakesIn(here, [], text)
      wrong.push(...found.map(({ message, code }) => `${page}:${line}: ${message} [${code}]`))
    }
  } finally {
    await here.remove()
  }
  return wrong
}

describe('the examples of the documents', () => {
  it('are YAML, and each is a map of fields or a list of steps', () => {
    const blocks = pages.flatMap((page) => blocksOf(page, 'yaml', 'yml').map((block) => ({ page, ...block })))
    expect(blocks.length).to.be.above(140)
    const wrong = blocks.flatMap(({ page, text, line }) => {
      const { errors, contents } = parseDocument(text)
      if (errors.length > 0) return errors.map(({ linePos, message }) => `${page}:${linePos?.[0].line}: ${message}`)
      return typeof contents?.toJSON() === 'object' ? [] : [`${page}:${line}: neither a map nor a list`]
    })
    expect(wrong).to.deep.equal([])
  })

  it('are of a kind that a check reads', async () => {
    const known = await registry()
    const unknown = pages.flatMap((page) =>
      blocksOf(page, 'yaml', 'yml')
        .filter(({ text }) => !isFixture(text) && framed(text, known) === undefined && !isConfiguration(text, known))
        .filter(({ text }) => !/^(stages|endpoints|aliases):/m.test(text))
        .map(({ line }) => `${page}:${line}: neither steps, nor a pipeline, a configuration or a fixture`),
    )
    expect(unknown).to.deep.equal([])
  })

  describe('are accepted by the check, beside the plugins that the page shows', () => {
    for (const page of pages.filter((one) => blocksOf(one, 'yaml', 'yml').length > 0))
      it(page, async () => {
        const wrong = await wrongIn(page)
        expect(wrong, wrong.join('\n')).to.deep.equal([])
      })
  })

  it('are TypeScript that the compiler accepts with the types that authors get', async function () {
    this.timeout(300_000)
    const blocks = pages.flatMap((page) =>
      blocksOf(page, 'ts', 'typescript').map(({ text, line }) => [`${page.replaceAll(/\W/g, '-')}-${line}.ts`, text]),
    )
    expect(blocks.length).to.be.above(10)
    const compilerOptions = {
      module: 'nodenext',
      target: 'esnext',
      lib: ['esnext', 'dom'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: true,
      moduleDetection: 'force',
      allowImportingTsExtensions: true,
      types: ['node'],
      paths: {
        sluice: [join(root, 'types/sluice.ts')],
        'sluice/kit': [join(root, 'engine/kit.ts')],
        'sluice/testing': [join(root, 'engine/testing.ts')],
      },
    }
    const files = Object.fromEntries(blocks) as Record<string, string>
    const folder = await testFolder({
      ...files,
      'package.json': '{"type":"module"}',
      'tsconfig.json': JSON.stringify({ compilerOptions, files: Object.keys(files) }),
    })
    try {
      await symlink(join(root, 'node_modules'), join(folder.path, 'node_modules'))
      const compiler = join(root, 'node_modules/typescript/bin/tsc')
      const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', folder.path], {
        cwd: folder.path,
        encoding: 'utf8',
      })
      expect(stdout).to.equal('')
      expect(status).to.equal(0)
    } finally {
      await folder.remove()
    }
  })

  it('are left unchecked only where the block still stands', () => {
    const known = pages.flatMap((page) =>
      fencedBlocks(readFileSync(join(root, page), 'utf8'), ['yaml', 'yml', 'ts', 'typescript']).map(
        ({ line }) => `${page}:${line}`,
      ),
    )
    expect([...unchecked.keys()].filter((place) => !known.includes(place))).to.deep.equal([])
  })
})
