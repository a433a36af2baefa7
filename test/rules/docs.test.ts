import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect } from 'chai'
import { checkFile } from '../../engine/cli/check-file.ts'
import { findings, toldCodes } from '../../engine/cli/codes.ts'
import { programOf } from '../../engine/cli/list.ts'
import { makeProgram } from '../../engine/cli/program.ts'
import { exampleOf } from '../../engine/openapi/example-of.ts'
import type { Schema } from '../../engine/openapi/example-of.ts'
import { referencePages } from '../../engine/cli/reference/pages.ts'
import { schemaFiles } from '../../engine/cli/schema.ts'
import type { Terminal } from '../../engine/cli/terminal.ts'
import { printDiagnostic } from '../../engine/config/diagnostics.ts'
import { filesOf, readFolder } from '../../engine/config/files.ts'
import { Refusal } from '../../engine/spec/error.ts'
import type { Host } from '../../engine/spec/host.ts'
import { linksIn } from '../support/links.ts'
import { configuration, registry } from './registry.ts'
import { root, sourcesOf } from './sources.ts'

const host = {} as Host

const silent: Terminal = {
  environment: {},
  folder: root,
  interactive: false,
  out: () => undefined,
  error: () => undefined,
  style: (_, text) => text,
}

/** Generated files that differ from what is in the folder. */
function outdated(files: ReadonlyMap<string, string>, folder: string): string[] {
  return [...files].flatMap(([name, text]) => {
    const path = join(root, folder, name)
    return existsSync(path) && readFileSync(path, 'utf8') === text ? [] : [`${folder}/${name}`]
  })
}

/** The Markdown files of a folder and below, by their paths from the root. */
function pagesOf(folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name))
}

describe('the documentation', () => {
  it('names every stage and provider type in the door to the plugins', async () => {
    const { stages, providers } = await registry()
    const text = readFileSync(join(root, 'plugins', 'README.md'), 'utf8')
    const missing = [...stages.keys(), ...providers.keys()].filter((name) => !text.includes(`\`${name}\``))
    expect(missing).to.deep.equal([])
  })

  it('shows no example of a stage that the stage refuses', async () => {
    const { stages } = await registry()
    const refused = [...stages.values()].flatMap((stage) => {
      try {
        stage.build(exampleOf(stage.config as Schema), host, {})
        return []
      } catch (thrown) {
        // Without services, some stages cannot go on; that says nothing about their examples.
        return thrown instanceof Refusal ? [`${stage.name}: ${thrown.message}`] : []
      }
    })
    expect(refused).to.deep.equal([])
  })

  it('has a current reference (npm run docs)', async () => {
    const known = await configuration()
    const pages = referencePages(known, programOf(known.registry, silent, makeProgram))
    expect(outdated(pages, 'docs/reference')).to.deep.equal([])
  })

  it('has no page of the reference that nothing generates', async () => {
    const known = await configuration()
    const pages = referencePages(known, programOf(known.registry, silent, makeProgram))
    const names = (await readFolder(join(root, 'docs/reference'))).files.map((path) =>
      path.slice(join(root, 'docs/reference/').length),
    )
    expect(names.filter((name) => !pages.has(name))).to.deep.equal([])
  })

  it('has current schemas and a current example (npm run docs)', async () => {
    expect(outdated(schemaFiles(await configuration()), 'config')).to.deep.equal([])
  })

  it('lists exactly the codes that the gateway answers with', async () => {
    const page = readFileSync(join(root, 'docs/reference/errors.md'), 'utf8')
    const answers = page.slice(page.indexOf('## Answers'), page.indexOf('## Findings'))
    const listed = [...answers.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code]) => code)
    expect(listed).to.deep.equal(toldCodes(await registry()).map(({ code }) => code))
  })

  it('lists every code of a finding', async () => {
    const checking = (await sourcesOf('engine')).filter(({ path }) => !path.startsWith('engine/cli/'))
    const used = checking.flatMap(({ text }) => {
      const calls = text.replace(/\[[^[\]]*\]|within\([^()]*\)/g, '')
      return [...calls.matchAll(/\b(?:report|reportAt|inFile|point)\([^'"`;]*?'([a-zA-Z-]+)',/g)].map(
        ([, code]) => code ?? '',
      )
    })
    expect(new Set(used).size).to.be.greaterThan(15)
    expect([...new Set(used)].filter((code) => !findings.has(code)).sort()).to.deep.equal([])
  })

  it('links only to what is there', () => {
    const pages = ['README.md', 'engine/README.md', 'plugins/README.md', ...pagesOf('docs')]
    const dead = pages.flatMap((page) => {
      return linksIn(readFileSync(join(root, page), 'utf8'))
        .filter((link) => !existsSync(join(root, dirname(page), link)))
        .map((link) => `${page}: ${link}`)
    })
    expect(dead).to.deep.equal([])
  })

  it('shows only YAML that is accepted', async () => {
    const loaded = await configuration()
    const pages = [root, join(root, 'engine'), join(root, 'plugins'), join(root, 'docs')].map((folder) =>
      readFolder(folder),
    )
    const [top, engine, plugins, docs] = await Promise.all(pages)
    const files = [
      ...(top?.files ?? []),
      ...(engine?.files ?? []),
      ...(plugins?.files ?? []),
      ...(docs ? filesOf(docs) : []),
    ]
    const apart = new Set([
      'plugins/README.md',
      'docs/services.md',
      'docs/wire-formats.md',
      'docs/own-endpoint.md',
      'docs/first-hour.md',
    ])
    const wrong = await Promise.all(
      // The YAML of these pages names what their TypeScript brings, or has fixtures: readme.test.ts,
      // own-endpoint.test.ts and first-hour.test.ts try them together.
      files
        .filter((file) => file.endsWith('.md') && !apart.has(relative(root, file)))
        .map((file) => checkFile(file, loaded, silent)),
    )
    expect(wrong.flat().map(printDiagnostic)).to.deep.equal([])
  })
})
