import { readFile } from 'node:fs/promises'
import type { Diagnostic } from '../config/diagnostics.ts'
import { filesOf, foldersOf, hashContents, readFolder } from '../config/files.ts'
import type { Environment } from '../config/interpolate.ts'
import { display } from '../config/registry.ts'
import type { Registry } from '../config/registry.ts'
import { readSource } from '../config/source.ts'
import { checkFlow } from './flow.ts'
import { checkNames } from './names.ts'
import type { Pipeline } from './nodes.ts'
import { parsePipelines } from './parse.ts'

/** The pipelines of a folder, checked. */
export interface LoadedPipelines {
  readonly pipelines: readonly Pipeline[]
  readonly diagnostics: readonly Diagnostic[]
  readonly files: readonly string[]
  /** Hash of the files as they were read. */
  readonly hash: string
  readonly folders: readonly string[]
}

/** A pipeline file's name and text. */
export interface PipelineText {
  readonly file: string
  readonly text: string
}

/** Reads every pipeline (`*.yaml`, `*.yml`; not `*.test.yaml`) of a folder and of those below it. Rejects when there is no such folder. */
export async function loadPipelines(
  folder: string,
  root: string,
  registry: Registry,
  environment: Environment,
): Promise<LoadedPipelines> {
  const tree = await readFolder(folder)
  const files = filesOf(tree).filter((file) => /\.ya?ml$/.test(file) && !/\.test\.ya?ml$/.test(file))
  const texts = await Promise.all(
    files.map(async (file) => ({ file: display(file, root), text: await readFile(file, 'utf8') })),
  )
  const hash = hashContents(texts.map(({ file, text }) => ({ file, content: text })))
  return { ...checkPipelines(texts, registry, environment), files, hash, folders: foldersOf(tree) }
}

/** Parses and checks pipelines together. */
export function checkPipelines(
  texts: readonly PipelineText[],
  registry: Registry,
  environment: Environment,
): { pipelines: Pipeline[]; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
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
    return parsed.pipelines
  })
  return { pipelines, diagnostics: [...diagnostics, ...checkNames(pipelines), ...checkFlow(pipelines, incomplete)] }
}
