import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseJson } from '../json/parse.ts'
import { providerTemplate } from './template/provider.ts'
import { stageTemplate } from './template/stage.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { printJson } from './text.ts'

export interface NewOptions extends CommonOptions {
  readonly kind: 'provider' | 'stage'
  readonly name: string
  /** The file to write; absent: `plugins/<name>.ts`. */
  readonly out?: string
}

/** Writes a small provider or stage that works as it is, and says how to use it. Overwrites nothing. */
export async function create({ kind, name, out, json }: NewOptions, terminal: Terminal): Promise<number> {
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    throw new WrongUse(`"${name}" must be of lower-case letters, digits and "-", and begin with a letter`)
  const file = out ?? join('plugins', `${name}.ts`)
  const path = resolve(terminal.folder, file)
  const template =
    kind === 'provider' ? providerTemplate(name, engineFrom(path)) : stageTemplate(name, engineFrom(path))
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, template.text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new WrongUse(`${file} is there already; nothing was written`) : error
  })
  const told = [`${file} is written.`, template.next(entryOf(path, terminal.folder)), ...(await moduleNote(path))]
  terminal.out(json ? printJson({ file }) : told.join('\n\n'))
  return 0
}

/** Node takes a file for an ES module by the nearest package.json. */
async function moduleNote(path: string): Promise<string[]> {
  const nearest = findPackageJSON(pathToFileURL(path))
  // Where there is none, Node 26 answers the file itself.
  const found = nearest !== undefined && basename(nearest) === 'package.json'
  const { type } = (found ? parseJson(await readFile(nearest, 'utf8')) : {}) as { type?: unknown }
  return type === 'module'
    ? []
    : ['Node must take it for an ES module: put "type": "module" into the package.json of its folder or above.']
}

/** What to add to `plugins:`; nothing where the folder that is there by default holds the file already. */
function entryOf(path: string, folder: string): string | undefined {
  const name = relative(folder, path).split(sep).join('/')
  if (name.startsWith('plugins/')) return undefined
  return name.startsWith('..') || isAbsolute(name) ? path : `./${name}`
}

/** How a file imports the engine: by its path within a checkout, else by the name of the package. */
export function engineFrom(path: string): string {
  const engine = fileURLToPath(new URL('../index.ts', import.meta.url))
  const checkout = dirname(dirname(engine))
  const inside = path.startsWith(checkout + sep) && !checkout.split(sep).includes('node_modules')
  return inside ? relative(dirname(path), engine).split(sep).join('/') : 'sluice'
}
