import { stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path'
import type { AnyCodec } from '../spec/codec.ts'
import type { Plugin } from '../spec/plugin.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { AnySignal } from '../spec/signal.ts'
import type { AnyStage } from '../spec/stage.ts'
import { recognise } from './components.ts'
import type { Component } from './components.ts'
import type { Diagnostic } from './diagnostics.ts'
import { filesOf, foldersOf, hashFiles, readFolder } from './files.ts'
import type { Folder } from './files.ts'
import { importFile, importPackage } from './modules.ts'
import type { Unit } from './modules.ts'

/** Every component of a configuration, by the word an operator writes. */
export interface Registry {
  readonly plugins: ReadonlyMap<string, Plugin>
  readonly stages: ReadonlyMap<string, AnyStage>
  /** By protocol. */
  readonly codecs: ReadonlyMap<string, AnyCodec>
  /** By type. */
  readonly providers: ReadonlyMap<string, AnyProvider>
  readonly signals: ReadonlyMap<string, AnySignal>
  /** A plugin could not be loaded: a word that nothing here knows may be one of its. */
  readonly incomplete: boolean
}

/** A default export and the file or package it came from. */
export interface Found {
  readonly value: unknown
  readonly from: string
}

/** Plugins as they were loaded. */
export interface Loaded {
  readonly registry: Registry
  readonly diagnostics: readonly Diagnostic[]
  /** Folders whose changes matter. Packages are not watched. */
  readonly folders: readonly string[]
  readonly files: readonly string[]
  /** Hashes of the loaded files, as they were right before they were loaded. */
  readonly hashes: readonly string[]
}

/** One entry of `plugins:`, and how to report what is wrong with it. */
export interface PluginEntry {
  readonly text: string
  readonly report: (code: string, message: string) => Diagnostic
}

/** Milliseconds in which a file must have loaded: an `await` at its top that never ends would hold up every reload. */
export const loadDeadline = 10_000

/**
 * Loads the plugins that a configuration names: folders, files (starting with `.` or `/`, relative to `root`) and npm
 * packages (found from the folder of `configFile`). A folder with an index file is one plugin; of any other folder
 * every module is one component, those of its folders too. Tests, declarations and hidden files are left out.
 * @param deadline milliseconds for each file or package
 */
export async function loadPlugins(
  entries: readonly PluginEntry[],
  root: string,
  configFile: string,
  deadline = loadDeadline,
): Promise<Loaded> {
  const found: Found[] = []
  const diagnostics: Diagnostic[] = []
  const folders: string[] = []
  const files: string[] = []
  const hashes: string[] = []
  const load = async (from: string, bring: () => Promise<unknown>, refuse: (why: string) => Diagnostic) => {
    try {
      found.push({ value: await within(deadline, bring()), from })
    } catch (error) {
      diagnostics.push(refuse(`cannot be loaded: ${(error as Error).message}`))
    }
  }
  const loadFile = (name: string, file: string, unit: Unit) =>
    load(
      name,
      () => importFile(file, unit),
      (why) => inFile(name, 'plugin', why),
    )
  for (const { text, report } of entries) {
    if (!/^[./]/.test(text) && !isAbsolute(text)) {
      const bring = () => importPackage(text, configFile)
      await load(text, bring, (why) => report('plugin', `the package "${text}" ${why}`))
      continue
    }
    const path = resolve(root, text)
    const kind = await stat(path).catch(() => undefined)
    if (kind === undefined) {
      diagnostics.push(report('plugin', `there is no file or folder "${text}"`))
      continue
    }
    const folder = kind.isDirectory() ? await readFolder(path) : undefined
    folders.push(...(folder ? foldersOf(folder) : [dirname(path)]))
    for (const group of folder ? groupsOf(folder) : [{ files: [path], entries: [path] }]) {
      const unit: Unit = { files: group.files, hash: await hashFiles(group.files) }
      files.push(...group.files)
      hashes.push(unit.hash)
      for (const file of group.entries) await loadFile(display(file, root), file, unit)
    }
  }
  const assembled = assemble(found)
  const all = [...diagnostics, ...assembled.diagnostics]
  return { registry: { ...assembled.registry, incomplete: all.length > 0 }, diagnostics: all, folders, files, hashes }
}

/** A registry of default exports; plugins are opened. Wrong components and names that are taken are diagnostics. */
export function assemble(found: readonly Found[]): { registry: Registry; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const owners = new Map<string, string>()
  const plugins = new Map<string, Plugin>()
  const stages = new Map<string, AnyStage>()
  const codecs = new Map<string, AnyCodec>()
  const providers = new Map<string, AnyProvider>()
  const signals = new Map<string, AnySignal>()
  const put = <T>(map: Map<string, T>, kind: Component['kind'], name: string, value: T, from: string) => {
    const owner = owners.get(`${kind} ${name}`)
    if (owner !== undefined)
      return diagnostics.push(inFile(from, 'duplicate', `the ${kind} "${name}" is already there: ${owner}`))
    owners.set(`${kind} ${name}`, from)
    return map.set(name, value)
  }
  const add = ({ value, from }: Found): unknown => {
    const component = recognise(value)
    if ('problem' in component) return diagnostics.push(inFile(from, 'component', component.problem))
    switch (component.kind) {
      case 'plugin': {
        const {
          name,
          stages: inner = [],
          codecs: spoken = [],
          providers: types = [],
          signals: votes = [],
        } = component.value
        put(plugins, 'plugin', name, component.value, from)
        return [...inner, ...spoken, ...types, ...votes].forEach((part) => add({ value: part, from }))
      }
      case 'stage':
        return put(stages, 'stage', component.value.name, component.value, from)
      case 'codec':
        return put(codecs, 'codec', component.value.protocol, component.value, from)
      case 'provider':
        return put(providers, 'provider', component.value.name, component.value, from)
      case 'signal':
        return put(signals, 'signal', component.value.name, component.value, from)
    }
  }
  found.forEach(add)
  return { registry: { plugins, stages, codecs, providers, signals, incomplete: diagnostics.length > 0 }, diagnostics }
}

/**
 * What loads, or a rejection once the deadline has passed. Until then the process stays alive: Node would end it without
 * a word when nothing but such an `await` is left.
 */
async function within(deadline: number, loading: Promise<unknown>): Promise<unknown> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const why = `it had not finished loading after ${deadline / 1_000} seconds; does an "await" at its top never end?`
  const timer = setTimeout(() => reject(new Error(why)), deadline)
  try {
    return await Promise.race([loading, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A file's name as diagnostics show it: relative to `root` when it lies below. */
export function display(file: string, root: string): string {
  const name = relative(root, file)
  return name.startsWith('..') || isAbsolute(name) ? file : name
}

interface Group {
  readonly files: readonly string[]
  readonly entries: readonly string[]
}

function groupsOf(folder: Folder): Group[] {
  const modules = folder.files.filter(isModule)
  const index = modules.find((file) => /^index\.[jt]s$/.test(basename(file)))
  if (index !== undefined) return [{ files: filesOf(folder).filter((file) => !isTest(file)), entries: [index] }]
  return [
    { files: folder.files.filter((file) => !isTest(file)), entries: modules },
    ...folder.folders.flatMap(groupsOf),
  ]
}

function isModule(file: string): boolean {
  return /\.[jt]s$/.test(file) && !file.endsWith('.d.ts') && !isTest(file)
}

function isTest(file: string): boolean {
  return basename(file).includes('.test.')
}

function inFile(file: string, code: string, message: string): Diagnostic {
  return { file, line: 1, column: 1, code, message }
}
