import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import type { Diagnostic } from '../config/diagnostics.ts'
import { filesOf, foldersOf, hashFiles, readFolder, unreadFile } from '../config/files.ts'
import type { Folder } from '../config/files.ts'
import { importFile, importPackage } from '../workers/modules.ts'
import type { Unit } from '../workers/modules.ts'
import { placeOf, placeOfExport, remedyOf, wordsOfThrown } from '../config/plugin-error.ts'
import { assemble } from './assemble.ts'
import { display } from '../config/diagnostics.ts'
import type { Found } from './assemble.ts'
import type { Registry } from '../config/registry.ts'
import { prepared } from '../config/prepared.ts'
import { isWithin, shipped as product } from '../config/shipped.ts'
import { within } from '../services/within.ts'

/** The loaded plugins. */
export interface Loaded {
  readonly registry: Registry
  readonly diagnostics: readonly Diagnostic[]
  /** Probable mistakes that do not prevent serving. */
  readonly warnings: readonly Diagnostic[]
  /** Folders to watch for changes. Packages are not watched. */
  readonly folders: readonly string[]
  readonly files: readonly string[]
  /** Hashes of the loaded files, computed just before loading. */
  readonly hashes: readonly string[]
}

/** One entry of `plugins:`, and a function for findings about it. */
export interface PluginEntry {
  readonly text: string
  /** Whether it may be missing. */
  readonly optional?: boolean
  readonly report: (code: string, message: string) => Diagnostic
}

/** The places of plugins. */
export interface PluginPlaces {
  /** Real path of the folder to which relative paths refer. */
  readonly root: string
  /** The configuration file: packages are resolved from its folder. */
  readonly configFile: string
  /** Folder of the product's plugins; absent: none. */
  readonly shipped?: string | undefined
  /** Timeout in milliseconds for each file or package. */
  readonly deadline?: number
}

/** Milliseconds within which a file must load: a top-level `await` that never ends would block every reload. */
export const loadDeadline = 10_000

/**
 * Loads the product's plugins, then those of a configuration: folders, files (starting with `.` or `/`) and npm
 * packages. A folder with an index file is one plugin; in any other folder every module is one component, recursively.
 * Tests, declarations and hidden files are skipped, and so are files of the product's plugins that an entry names.
 */
export async function loadPlugins(entries: readonly PluginEntry[], places: PluginPlaces): Promise<Loaded> {
  const loading = new Loading(places)
  const shipped = places.shipped === undefined ? undefined : await realpath(places.shipped)
  if (prepared.plugins !== undefined && places.shipped === product.plugins) loading.given(await prepared.plugins())
  else if (shipped !== undefined) await loading.folder(shipped, true)
  for (const { text, optional, report } of entries) {
    if (!/^[./]/.test(text) && !isAbsolute(text)) {
      await loading.package(text, report)
      continue
    }
    const path = resolve(places.root, text)
    const kind = await stat(path).catch(() => undefined)
    if (kind === undefined) {
      // Watched so that the file is loaded as soon as it exists.
      loading.folders.push(dirname(path))
      if (!optional) loading.diagnostics.push(report('plugin', `there is no file or folder "${text}"`))
    } else if (isWithin(await realpath(path), shipped)) continue
    else if (kind.isDirectory()) await loading.folder(path, false)
    else await loading.file(path)
  }
  return loading.done()
}

/** The state of loading. */
class Loading {
  readonly #places: PluginPlaces
  readonly #found: Found[] = []
  /** Paths of files, by the names shown in diagnostics. */
  readonly #shown = new Map<string, string>()
  readonly diagnostics: Diagnostic[] = []
  readonly folders: string[] = []
  readonly #files: string[] = []
  readonly #hashes: string[] = []
  readonly #warnings: Diagnostic[] = []

  constructor(places: PluginPlaces) {
    this.#places = places
  }

  /** Takes the exports of plugins that are loaded already, by their files. */
  given(exports: ReadonlyMap<string, unknown>): void {
    for (const [file, value] of exports) {
      const from = display(file, this.#places.root)
      this.#shown.set(from, file)
      this.#found.push({ value, from, shipped: true })
    }
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
    if (shipped || folder.files.some((file) => /^index\.[jt]s$/.test(basename(file)))) return
    const unread = folder.files.filter((file) => /\.([cm][jt]s|[jt]sx)$/.test(file))
    this.#warnings.push(...unread.map((file) => unreadFile(display(file, this.#places.root), 'plugin', '.ts or .js')))
  }

  async done(): Promise<Loaded> {
    const { registry, diagnostics } = assemble(this.#found, this.diagnostics.length > 0)
    const all = [...this.diagnostics, ...(await Promise.all(diagnostics.map((finding) => this.#placed(finding))))]
    return {
      registry: { ...registry, incomplete: all.length > 0 },
      diagnostics: all,
      warnings: this.#warnings,
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

  /** A finding about a component, at the position of its default export. */
  async #placed(finding: Diagnostic): Promise<Diagnostic> {
    const file = this.#shown.get(finding.file)
    return file === undefined ? finding : { ...finding, ...(await placeOfExport(file)), file: finding.file }
  }

  #within(loading: Promise<unknown>): Promise<unknown> {
    const { deadline = loadDeadline } = this.#places
    const late = `it had not finished loading after ${deadline / 1_000} seconds; does a top-level "await" never end?`
    return within(loading, deadline, late)
  }
}

interface Group {
  readonly files: readonly string[]
  readonly entries: readonly string[]
}

/** The plugins in a folder: files that are loaded and reloaded together, and those of them that export components. */
export function groupsOf(folder: Folder): Group[] {
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
