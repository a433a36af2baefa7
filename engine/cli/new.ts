import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { shipped } from '../config/shipped.ts'
import { didYouMean } from '../config/suggest.ts'
import { productVersion } from '../version.ts'
import { pluginTemplate } from './template/plugin.ts'
import { providerTemplate } from './template/provider.ts'
import { serviceTemplate } from './template/service.ts'
import { stageTemplate } from './template/stage.ts'
import type { Template } from './template/stage.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { printJson } from '../kit/text.ts'

/** The kinds of files that can be written. */
export type NewKind = 'provider' | 'stage' | 'service' | 'plugin' | 'pipeline'

export interface NewOptions extends CommonOptions {
  readonly kind: NewKind
  readonly name: string
  /** The file to write; absent: `plugins/<name>.ts`, `plugins/<name>/index.ts` or `pipelines/<name>.yaml`. */
  readonly out?: string
}

/** Writes a small working provider, stage, service or plugin with its test, or a copy of a shipped pipeline, and prints the next steps. Never overwrites a file. */
export async function create({ kind, name, out, json }: NewOptions, terminal: Terminal): Promise<number> {
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    throw new WrongUse(`"${name}" must be of lower-case letters, digits and "-", and begin with a letter`)
  const file = out ?? usualFile(kind, name)
  const path = resolve(terminal.folder, file)
  const write = writerOf(kind, name, terminal.folder)
  await mkdir(dirname(path), { recursive: true })
  const next = await write(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    throw new WrongUse(`${relative(terminal.folder, error.path ?? path)} already exists; nothing was written`)
  })
  terminal.out(json ? printJson({ file }) : `${file} is written.\n\n${next}`)
  return 0
}

/** Writes a new file. Returns the next steps. */
type Writer = (path: string) => Promise<string>

function usualFile(kind: NewKind, name: string): string {
  if (kind === 'pipeline') return join('pipelines', `${name}.yaml`)
  return kind === 'plugin' ? join('plugins', name, 'index.ts') : join('plugins', `${name}.ts`)
}

function writerOf(kind: NewKind, name: string, folder: string): Writer {
  if (kind === 'pipeline') return pipelineWriter(name)
  return kind === 'plugin' ? pluginWriter(name, folder) : componentWriter(kind, name, folder)
}

/** Writes the plugin, and its test beside it. */
function pluginWriter(name: string, folder: string): Writer {
  const template = pluginTemplate(name)
  return async (path) => {
    await writeFile(path, template.text, { flag: 'wx' })
    const test = path.replace(/(\.[jt]s)?$/, '.test$1')
    await writeFile(test, template.test(basename(path)), { flag: 'wx' }).catch(async (error: unknown) => {
      await rm(path)
      throw error
    })
    return template.next(entryOf(path, folder))
  }
}

const templates: Readonly<Record<Exclude<NewKind, 'plugin' | 'pipeline'>, (name: string) => Template>> = {
  provider: providerTemplate,
  stage: stageTemplate,
  service: serviceTemplate,
}

function componentWriter(kind: keyof typeof templates, name: string, folder: string): Writer {
  const template = templates[kind](name)
  return async (path) => {
    await writeFile(path, template.text, { flag: 'wx' })
    return template.next(entryOf(path, folder))
  }
}

/** Copies the shipped file of that name, which the copy then replaces. */
function pipelineWriter(name: string): Writer {
  return async (path) => {
    const names = (await readdir(shipped.pipelines)).filter((file) => !file.includes('.test.'))
    const known = names.map((file) => basename(file, '.yaml'))
    if (!known.includes(name))
      throw new WrongUse(`no shipped pipeline is "${name}"${didYouMean(name, known)}: ${known.join(', ')}`)
    const text = await readFile(join(shipped.pipelines, `${name}.yaml`), 'utf8')
    // So that a later version can say what the copy lacks.
    const copied = `copied: ${productVersion()}`
    const copy = text.split('\n').flatMap((line) => {
      if (line.startsWith('name: ')) return [line, copied]
      return line.startsWith('  - name: ') ? [line, `    ${copied}`] : [line]
    })
    await writeFile(path, copy.join('\n'), { flag: 'wx' })
    return `As "pipelines/${name}.yaml" it takes the place of the shipped one; an empty file there takes the endpoint away.
Look at it with "sluice check" and "sluice explain".`
  }
}

/** The entry to add to `plugins:`; undefined if the default plugin folder contains the file. */
function entryOf(path: string, folder: string): string | undefined {
  const name = relative(folder, path).split(sep).join('/')
  if (name.startsWith('plugins/')) return undefined
  return name.startsWith('..') || isAbsolute(name) ? path : `./${name}`
}
