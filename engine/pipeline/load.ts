import { readFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import type { Diagnostic } from '../config/diagnostics.ts'
import { filesOf, foldersOf, hashContents, readFolder } from '../config/files.ts'
import type { Folder } from '../config/files.ts'
import type { Environment } from '../config/interpolate.ts'
import { display } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { readSource } from '../config/source.ts'
import { unusedAliases, withAliases } from './aliases.ts'
import type { Aliases } from './aliases.ts'
import { checkBodies } from './check-bodies.ts'
import { checkSettles } from './check-settles.ts'
import { checkFlow } from './flow.ts'
import { namesOf, unknownNames, wordsOf } from './named.ts'
import type { KnownNames } from './named.ts'
import { checkNames } from './names.ts'
import type { Pipeline } from './nodes.ts'
import { parsePipelines } from './parse.ts'

/** The pipelines of a folder, checked. */
export interface LoadedPipelines {
  readonly pipelines: readonly Pipeline[]
  readonly diagnostics: readonly Diagnostic[]
  /** Probable mistakes that do not prevent serving. */
  readonly warnings: readonly Diagnostic[]
  readonly files: readonly string[]
  /** Hash of the files' contents. */
  readonly hash: string
  readonly folders: readonly string[]
  /** The user's own folder, if it does not exist. */
  readonly missing: string | undefined
}

/** A pipeline file's name and text. */
export interface PipelineText {
  readonly file: string
  readonly text: string
}

/**
 * Pipeline folders: those of the product, and those of the user, whose files replace product files of the same name.
 */
export interface PipelineFolders {
  readonly own: string
  readonly shipped?: string | undefined
  /** File names in findings are relative to this folder. */
  readonly root: string
}

/**
 * Reads every pipeline file (`*.yaml`, `*.yml`; not `*.test.yaml`) of the folders, recursively. An empty file of the
 * user removes the product's file of that name.
 */
export async function loadPipelines(
  { own, shipped, root }: PipelineFolders,
  registry: Registry,
  environment: Environment,
  records?: KnownNames,
): Promise<LoadedPipelines> {
  const layers = await readLayers(own, shipped)
  const files = layers.files.filter((file) => !isFixture(file))
  const texts = await Promise.all(
    files.map(async (file) => ({ file: display(file, root), text: await readFile(file, 'utf8') })),
  )
  const hash = hashContents(texts.map(({ file, text }) => ({ file, content: text })))
  const wanted = texts.filter(({ text }, index) => !layers.covering.has(files[index] ?? '') || text.trim() !== '')
  const { folders, missing } = layers
  return { ...checkPipelines(wanted, registry, environment, records), files, hash, folders, missing }
}

/** The fixture files of the folders; a user's file replaces a product file of the same name. */
export async function findFixtures({ own, shipped, root }: PipelineFolders): Promise<string[]> {
  const { files } = await readLayers(own, shipped)
  return files.filter(isFixture).map((file) => display(file, root))
}

/**
 * Parses and checks all pipelines together.
 * @param records names of records that stages may refer to, by type; unset: any name
 */
export function checkPipelines(
  texts: readonly PipelineText[],
  registry: Registry,
  environment: Environment,
  records: KnownNames = {},
): { pipelines: Pipeline[]; diagnostics: Diagnostic[]; warnings: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const aliases: Aliases[] = []
  let incomplete = false
  const pipelines = texts.flatMap(({ file, text }) => {
    const read = readSource(file, text, environment)
    diagnostics.push(...read.diagnostics)
    if (read.source.value === null && read.diagnostics.length > 0) {
      incomplete = true
      return []
    }
    const parsed = parsePipelines(read.source, registry)
    diagnostics.push(...parsed.diagnostics)
    aliases.push(...parsed.aliases)
    return parsed.pipelines
  })
  const known: KnownNames = {
    ...records,
    ...wordsOf(registry),
    ...(incomplete ? {} : { pipeline: { words: pipelines.map(({ name }) => name) } }),
  }
  const named = [...checkNames(pipelines), ...unknownNames(namesOf(pipelines), known)]
  const flow = [...checkFlow(pipelines, incomplete), ...checkSettles(pipelines), ...checkBodies(pipelines)]
  return {
    pipelines: withAliases(pipelines, aliases),
    diagnostics: [...diagnostics, ...named, ...flow],
    warnings: incomplete ? [] : unusedAliases(pipelines, aliases),
  }
}

interface Layers {
  /** Every effective YAML file. */
  readonly files: readonly string[]
  readonly folders: readonly string[]
  /** The user's files among them that replace a product file. */
  readonly covering: ReadonlySet<string>
  readonly missing: string | undefined
}

async function readLayers(own: string, shipped: string | undefined): Promise<Layers> {
  const tree = await readFolder(own).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
    return undefined
  })
  const base = shipped === undefined ? undefined : await readFolder(shipped)
  const mine = tree === undefined || tree.path === base?.path ? [] : named(tree)
  const names = new Map(mine)
  const brought = base === undefined ? [] : named(base)
  return {
    files: [...brought.filter(([name]) => !names.has(name)), ...mine].map(([, file]) => file),
    folders: [...(base ? foldersOf(base) : []), ...(tree ? foldersOf(tree) : [dirname(own)])],
    covering: new Set(brought.flatMap(([name]) => names.get(name) ?? [])),
    missing: tree === undefined ? own : undefined,
  }
}

/** The YAML files of a folder, by relative name without extension. */
function named(folder: Folder): [string, string][] {
  return filesOf(folder)
    .filter((file) => /\.ya?ml$/.test(file))
    .map((file) => [relative(folder.path, file).replace(/\.ya?ml$/, ''), file])
}

function isFixture(file: string): boolean {
  return /\.test\.ya?ml$/.test(file)
}
