import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { expect } from 'chai'
import { isMap, parseDocument } from 'yaml'
import type { Diagnostic } from '../../engine/config/diagnostics.ts'
import { fencedBlocks } from '../../engine/cli/markdown-blocks.ts'
import { configuration, sandbox } from '../engine/cli/sandbox.ts'
import { root } from './sources.ts'

const pages = [
  'README.md',
  'plugins/README.md',
  'engine/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .sort(),
]
const blocksOf = (languages: readonly string[]) =>
  pages.flatMap((page) =>
    fencedBlocks(readFileSync(join(root, page), 'utf8'), languages).map(({ text, line }) => ({ page, text, line })),
  )

describe('the examples of the documents', () => {
  it('are TypeScript that parses', () => {
    const blocks = blocksOf(['ts', 'typescript'])
    expect(blocks.length).to.be.above(10)
    const wrong = blocks.flatMap(({ page, text, line }) => {
      try {
        return stripTypeScriptTypes(text) === '' ? [`${page}:${line}: empty`] : []
      } catch (error) {
        return [`${page}:${line}: ${String(error)}`]
      }
    })
    expect(wrong).to.deep.equal([])
  })

  it('are YAML, and each is a map of fields or a list of steps or entries', () => {
    const blocks = blocksOf(['yaml', 'yml'])
    expect(blocks.length).to.be.above(150)
    const wrong = blocks.flatMap(({ page, text, line }) => {
      const { errors, contents } = parseDocument(text)
      if (errors.length > 0) return errors.map(({ linePos, message }) => `${page}:${linePos?.[0].line}: ${message}`)
      return isMap(contents) || Array.isArray(contents?.toJSON()) ? [] : [`${page}:${line}: neither a map nor a list`]
    })
    expect(wrong).to.deep.equal([])
  })

  it('are pipelines and configurations that the check accepts, beside the plugins that the page shows', async function () {
    this.timeout(300_000)
    const wrong: string[] = []
    for (const page of pages) {
      const text = readFileSync(join(root, page), 'utf8')
      if (fencedBlocks(text, ['yaml', 'yml']).length === 0) continue
      const plugins = fencedBlocks(text, ['ts']).filter((block) => block.text.includes('\nexport default '))
      const files = plugins.map((block, index) => [`own/plugin-${index}.ts`, block.text] as const)
      const here = await sandbox({
        ...Object.fromEntries(files),
        'config/sluice.yaml': `plugins: [${files.map(([name]) => `./${name}`).join()}]\n${configuration}`,
        // A fixture has a kind of file of its own, and its test runs it.
        'page.md': text.replaceAll(/^```yaml\n(?=# .*fixture\.schema\.json$)/gm, '```yaml-fixture\n'),
      })
      try {
        const { out } = await here.run('check', '--json', 'page.md')
        const found = JSON.parse(out.join('\n')) as readonly Diagnostic[]
        const mistakes = found.filter(({ note }) => !note)
        wrong.push(...mistakes.map(({ line, message, code }) => `${page}:${line}: ${message} [${code}]`))
      } finally {
        await here.remove()
      }
    }
    expect(wrong).to.deep.equal([])
  })
})
