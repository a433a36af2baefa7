import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import type { Diagnostic } from './diagnostics.ts'
import { filesOf, foldersOf, hashFiles, readFolder } from './files.ts'
import type { Folder } from './files.ts'
import { importFile, importPackage } from './modules.ts'
import type { Unit } from './modules.ts'
import { placeOf, placeOfExport, remedyOf, wordsOfThrown } from './plugin-error.ts'
import { assemble } from './assemble.ts'
import { display } from './diagnostics.ts'
import type { Found } from './assemble.ts'
import type { Registry } from './registry.ts'
import { isWithin } from './shipped.ts'
import { within } from './within.ts'

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
  /** It need not exist. */
  readonly optional?: boolean
  readonly report: (code: string, message: string) => Diagnostic
}

/** Where plugins are looked for. */
export interface PluginPlaces {
  /** Real path of the folder that relative paths start from. */
  readonly root: string
  /** The configuration file: packages are found from its folder. */
  readonly configFile: string
  /** Folder of the shipped plugins; absent: there are none. */
  readonly shipped?: string | undefined
  /** Milliseconds for each file or package. */
  readonly deadline?: number
}

/** Milliseconds in which a file must have loaded: an `await` at its top that never ends would hold up every reload. */
export const loadDeadline = 10_000

/**
 * Loads the shipped plugins, then those that a configuration names: folders, files (starting with `.` or `/`) and npm
 * packages. A folder with an index file is one plugin; of any other folder every module is one component, those of its
 * folders too. Left out are tests, declarations, hidden files, and what an entry names of the shipped plugins.
 */
export async function loadPlugins(entries: readonly PluginEntry[], places: PluginPlaces): Promise<Loaded> {
  const loading = new Loading(places)
  const shipped = places.shipped === undefined ? undefined : await realpath(places.shipped)
  if (shipped !== undefined) await loading.folder(shipped, true)
  for (const { text, optional, report } of entries) {
    if (!/^[./]/.test(text) && !isAbsolute(text)) {
      await loading.package(text, report)
      continue
    }
    const path = resolve(places.root, text)
    const kind = await stat(path).catch(() => undefined)
    if (kind === undefined) {
      // It is heard of as soon as it is there.
      loading.folders.push(dirname(path))
      if (!optional) loading.diagnostics.push(report('plugin', `there is no file or folder "${text}"`))
    } else if (isWithin(await realpath(path), shipped)) continue
    else if (kind.isDirectory()) await loading.folder(path, false)
    else await loading.file(path)
  }
  return loading.done()
}

/** What was loaded so far. */
class Loading {
  readonly #places: PluginPlaces
  readonly #found: Found[] = []
  /** Files by the names that diagnostics show. */
  readonly #shown = new Map<string, string>()
  readonly diagnostics: Diagnostic[] = []
  readonly folders: string[] = []
  readonly #files: string[] = []
  readonly #hashes: string[] = []

  constructor(places: PluginPlaces) {
    this.#places = places
  }

  async package(name: string, report: PluginEntry['report']): Promise<void> {
    try {
      this.#found.push({ value: await this.#within(importPackage(name, this.#places.configFile)), from: name })
    } catch (error) {
      this.diagnostics.push(report('plugin', `the package "${name}" cannot be loaded: ${wordsOfThrown(error)}`))
    }
  }

  async file(path: string): Promise<void> {
    this.folders.push(dirname(path))
    await this.#group({ files: [path], entries: [path] }, false)
  }

  async folder(path: string, shipped: boolean): Promise<void> {
    const folder = await readFolder(path)
    this.folders.push(...foldersOf(folder))
    for (const group of groupsOf(folder)) await this.#group(group, shipped)
  }

  async done(): Promise<Loaded> {
    const { registry, diagnostics } = assemble(this.#found, this.diagnostics.length > 0)
    const all = [...this.diagnostics, ...(await Promise.all(diagnostics.map((finding) => this.#placed(finding))))]
    return {
      registry: { ...registry, incomplete: all.length > 0 },
      diagnostics: all,
      folders: this.folders,
      files: this.#files,
      hashes: this.#hashes,
    }
  }

  async #group({ files, entries }: Group, shipped: boolean): Promise<void> {
    const unit: Unit = { files, hash: await hashFiles(files) }
    this.#files.push(...files)
    this.#hashes.push(unit.hash)
    for (const file of entries) await this.#load(file, unit, shipped)
  }

  async #load(file: string, unit: Unit, shipped: boolean): Promise<void> {
    const from = display(file, this.#places.root)
    this.#shown.set(from, file)
    try {
      this.#found.push({ value: await this.#within(importFile(file, unit)), from, shipped })
    } catch (error) {
      const place = await placeOf(error, file, unit.files)
      const message = `cannot be loaded: ${wordsOfThrown(error)}${remedyOf(error)}`
      this.diagnostics.push({ ...place, file: display(place.file, this.#places.root), code: 'plugin', message })
    }
  }

  /** A finding about a component, at the place of the default export that brings it. */
  async #placed(finding: Diagnostic): Promise<Diagnostic> {
    const file = this.#shown.get(finding.file)
    return file === undefined ? finding : { ...finding, ...(await placeOfExport(file)), file: finding.file }
  }

  #within(loading: Promise<unknown>): Promise<unknown> {
    const { deadline = loadDeadline } = this.#places
    const late = `it had not finished loading after ${deadline / 1_000} seconds; does an "await" at its top never end?`
    return within(loading, deadline, late)
  }
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
