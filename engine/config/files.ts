import { createHash } from 'node:crypto'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** What a folder holds, links followed; hidden entries and `node_modules` are not there. Paths are real and absolute. */
export interface Folder {
  readonly path: string
  readonly files: readonly string[]
  readonly folders: readonly Folder[]
}

/** Reads a folder and all below it, in the order of names. Rejects when it is not a folder. */
export async function readFolder(path: string, above: readonly string[] = []): Promise<Folder> {
  const real = await realpath(path)
  const files: string[] = []
  const folders: Folder[] = []
  for (const name of (await readdir(real)).sort()) {
    if (name.startsWith('.') || name === 'node_modules') continue
    const entry = join(real, name)
    const found = await stat(entry).catch((error: NodeJS.ErrnoException) => {
      // A link to nowhere, or a file that was removed while we looked.
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (found?.isFile()) files.push(entry)
    if (found?.isDirectory() && ![...above, real].includes(await realpath(entry)))
      folders.push(await readFolder(entry, [...above, real]))
  }
  return { path: real, files, folders }
}

/** Every file of a folder and of those below it. */
export function filesOf(folder: Folder): string[] {
  return [...folder.files, ...folder.folders.flatMap(filesOf)]
}

/** A folder's path and those of all below it. */
export function foldersOf(folder: Folder): string[] {
  return [folder.path, ...folder.folders.flatMap(foldersOf)]
}

/** Hash of the names and contents of files, as 16 hexadecimal digits. */
export async function hashFiles(files: readonly string[]): Promise<string> {
  return hashContents(await Promise.all(files.map(async (file) => ({ file, content: await readFile(file) }))))
}

/** The same hash of files that were read already. */
export function hashContents(files: readonly { readonly file: string; readonly content: string | Buffer }[]): string {
  const hash = createHash('sha256')
  for (const { file, content } of files) hash.update(`${file}\0${Buffer.byteLength(content)}\0`).update(content)
  return hash.digest('hex').slice(0, 16)
}
