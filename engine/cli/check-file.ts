import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { sortDiagnostics, display } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { loadSettings } from '../records/load-settings.ts'
import { fileProperties } from '../records/file-properties.ts'
import { namesOfRecords } from '../records/records.ts'
import { readSource } from '../config/source.ts'
import type { Configuration } from '../records/configuration.ts'
import { checkPipelines } from '../proof/load.ts'
import type { PipelineText } from '../proof/load.ts'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import { parseFixture } from './fixture/parse.ts'
import { WrongUse } from './terminal.ts'
import type { Terminal } from './terminal.ts'

/**
 * The findings in one file: a pipeline, checked together with those of the configuration; a configuration, checked with
 * the loaded plugins; a fixture; or a Markdown file with YAML blocks that are pipelines or configurations.
 */
export async function checkFile(path: string, configuration: Configuration, terminal: Terminal): Promise<Diagnostic[]> {
  const file = display(resolve(terminal.folder, path), terminal.folder)
  const text = await readFile(resolve(terminal.folder, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new WrongUse(`${path} cannot be read: ${error.code ?? error.message}`)
  })
  if (/\.(md|markdown)$/.test(file)) return checkMarkdown({ file, text }, configuration, terminal)
  if (/\.test\.ya?ml$/.test(file)) return sortDiagnostics(parseFixture(file, text).diagnostics)
  return checkText({ file, text }, configuration, terminal)
}

async function checkMarkdown(
  { file, text }: PipelineText,
  configuration: Configuration,
  terminal: Terminal,
): Promise<Diagnostic[]> {
  const findings: Diagnostic[] = []
  for (const block of fencedBlocks(text, ['yaml', 'yml'])) {
    const { source, diagnostics } = readSource(file, block.text, terminal.environment)
    if (source.value === null && ours.test(block.text)) findings.push(...diagnostics)
    if (kindOf(source.value, configuration) === undefined) continue
    const found = await checkText({ file, text: block.text }, configuration, terminal)
    // An example may repeat a pipeline of the configuration.
    findings.push(...found.filter(({ code }) => code !== 'duplicate'))
  }
  return findings
}

async function checkText(given: PipelineText, configuration: Configuration, terminal: Terminal): Promise<Diagnostic[]> {
  const { environment } = terminal
  const { source, diagnostics } = readSource(given.file, given.text, environment)
  const found =
    kindOf(source.value, configuration) === 'configuration'
      ? [...diagnostics, ...loadSettings(source, configuration.registry, environment).diagnostics]
      : await checkPipeline(given, configuration, terminal)
  return sortDiagnostics(found.filter(({ file }) => file === given.file))
}

async function checkPipeline(
  given: PipelineText,
  configuration: Configuration,
  terminal: Terminal,
): Promise<Diagnostic[]> {
  const { registry, settings, records } = configuration
  const texts = [...(await neighbours(given.file, configuration, terminal)), given]
  const known = settings && namesOfRecords(records, registry)
  const { diagnostics, notes } = checkPipelines(texts, registry, terminal.environment, known)
  return [...diagnostics, ...notes]
}

/** The files of the configuration's pipelines, except one. */
async function neighbours(given: string, { pipelines }: Configuration, { folder }: Terminal): Promise<PipelineText[]> {
  const files = new Map(pipelines.map(({ place, shipped }) => [place.source.file, shipped]))
  files.delete(given)
  const read = (file: string) => readFile(resolve(folder, file), 'utf8')
  return Promise.all([...files].map(async ([file, shipped]) => ({ file, shipped, text: await read(file) })))
}

/** Top-level keys that identify a block as ours even if it cannot be parsed. */
const ours = /^\s{0,64}(stages|endpoints|aliases|providers|models):/m

/** The kind of a YAML text, by its top-level keys; undefined for any other YAML. */
function kindOf(value: Json, { registry }: Configuration): 'pipeline' | 'configuration' | undefined {
  if (!isObject(value)) return undefined
  if (['stages', 'endpoints', 'aliases'].some((word) => Object.hasOwn(value, word))) return 'pipeline'
  const fields = fileProperties(registry)
  return Object.keys(value).some((key) => Object.hasOwn(fields, key)) ? 'configuration' : undefined
}

/** A fenced block of a Markdown file. */
export interface Block {
  /** Its text, preceded by empty lines so that line numbers match those of the file. */
  readonly text: string
  /** Number of its first line, from 1. */
  readonly line: number
}

/** The fenced blocks in some languages (CommonMark, section 4.5). Their own indentation is kept. */
export function fencedBlocks(markdown: string, languages: readonly string[]): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; wanted: boolean; line: number; lines: string[] } | undefined
  for (const [index, line] of markdown.split(/\r?\n/).entries()) {
    const [, fence, info] = /^\s{0,64}(`{3,}|~{3,})\s{0,64}(.*)/.exec(line) ?? []
    if (open === undefined) {
      const language = (info ?? '').split(/\s/, 1)[0] ?? ''
      if (fence !== undefined) open = { fence, wanted: languages.includes(language), line: index + 2, lines: [] }
    } else if (fence?.startsWith(open.fence) && info === '') {
      if (open.wanted) blocks.push(blockOf(open.line, open.lines))
      open = undefined
    } else open.lines.push(line)
  }
  return blocks
}

function blockOf(line: number, lines: readonly string[]): Block {
  return { line, text: '\n'.repeat(line - 1) + lines.join('\n') }
}
