import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Diagnostic } from './diagnostics.ts'

/**
 * The contents of a folder, with links followed; hidden entries and `node_modules` are left out. Paths are real and
 * absolute.
 */
export interface Folder {
  readonly path: string
  readonly files: readonly string[]
  readonly folders: readonly Folder[]
}

/** Reads a folder recursively, in the order of names. Rejects when it is not a folder. */
export async function readFolder(path: string, above: readonly string[] = []): Promise<Folder> {
  const real = await realpath(path)
  const files: string[] = []
  const folders: Promise<Folder>[] = []
  const entries = await readdir(real, { withFileTypes: true })
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    const at = join(real, entry.name)
    const kind = entry.isSymbolicLink() ? await targetOf(at) : entry
    if (kind?.isFile()) files.push(at)
    // Only a link can lead to a folder above.
    if (kind?.isDirectory() && (kind === entry || ![...above, real].includes(await realpath(at))))
      folders.push(readFolder(at, [...above, real]))
  }
  return { path: real, files, folders: await Promise.all(folders) }
}

/** The target of a link; undefined if it does not exist. */
async function targetOf(link: string): Promise<Stats | undefined> {
  try {
    return await stat(link)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Every file of a folder, recursively. */
export function filesOf(folder: Folder): string[] {
  return [...folder.files, ...folder.folders.flatMap(filesOf)]
}

/** The path of a folder, and those of all folders below it. */
export function foldersOf(folder: Folder): string[] {
  return [folder.path, ...folder.folders.flatMap(foldersOf)]
}

/** Hash of the names and contents of files, as 16 hexadecimal digits. */
export async function hashFiles(files: readonly string[]): Promise<string> {
  return hashContents(await Promise.all(files.map(async (file) => ({ file, content: await readFile(file) }))))
}

/** Like `hashFiles`, for contents that were already read. */
export function hashContents(files: readonly { readonly file: string; readonly content: string | Buffer }[]): string {
  const hash = createHash('sha256')
  for (const { file, content } of files) hash.update(`${file}\0${Buffer.byteLength(content)}\0`).update(content)
  return hash.digest('hex').slice(0, 16)
}

/** The warning for a file that nobody reads because of its ending. */
export function unreadFile(file: string, code: string, endings: string): Diagnostic {
  return { file, line: 1, column: 1, code, message: `is not read: its name must end in ${endings}`, warning: true }
}
