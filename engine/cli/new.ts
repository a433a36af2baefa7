import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
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
  terminal.out(json ? printJson({ file }) : `${file} is written.\n\n${template.next(entryOf(path, terminal.folder))}`)
  return 0
}

/** What to add to `plugins:`; nothing where the folder that is there by default holds the file already. */
function entryOf(path: string, folder: string): string | undefined {
  const name = relative(folder, path).split(sep).join('/')
  if (name.startsWith('plugins/')) return undefined
  return name.startsWith('..') || isAbsolute(name) ? path : `./${name}`
}

/** How a file imports the engine: by its path within a checkout, else by the name of the package. */
function engineFrom(path: string): string {
  const engine = fileURLToPath(new URL('../index.ts', import.meta.url))
  const checkout = dirname(dirname(engine))
  const inside = path.startsWith(checkout + sep) && !checkout.split(sep).includes('node_modules')
  return inside ? relative(dirname(path), engine).split(sep).join('/') : 'sluice'
}
