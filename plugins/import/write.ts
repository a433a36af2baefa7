import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { asText } from './draft.ts'
import type { Draft } from './draft.ts'
import { Unreadable } from './tree.ts'

/** Files by their paths below a folder. */
export type Files = ReadonlyMap<string, string>

/** Permissions of files with secrets: for their owner alone. */
const ownerOnly = 0o600

/** The files of a configuration, without the report. */
export function filesOf(draft: Draft, from: string): Files {
  const text = draft.toYaml(from)
  const written = [...text.matchAll(/(?<!\$)\$\{([A-Za-z_]\w*)/g)].map(([, name = '']) => name)
  const variables = [...new Set([...draft.variables, ...draft.environment.keys(), ...written])]
    .filter((name) => name !== asText)
    .sort()
  return new Map([
    ['config/sluice.yaml', text],
    ['.env.example', variables.map((name) => `${name}=\n`).join('')],
    ...[...draft.pipelines].map(([name, text]) => [`pipelines/${name}`, text] as const),
  ])
}

/** `.env` without some variables. A value in quotes may have several lines. */
function without(names: ReadonlySet<string>, text: string): string {
  let [name, quote, at] = ['', '', 0]
  const isKept = (line: string) => {
    at += line.length
    if (quote === '') {
      const [begin = '', found = '', opened = ''] = /^\s*(?:export\s+)?(\w+)\s*=\s*(['"`]?)/.exec(line) ?? []
      name = found
      const isWhole = opened === '' || line.includes(opened, begin.length) || !text.includes(opened, at)
      quote = isWhole ? '' : opened
    } else if (line.includes(quote)) quote = ''
    return !names.has(name)
  }
  return text
    .split(/(?<=\n)/)
    .filter(isKept)
    .join('')
}

/** The text of `.env` with these variables. Lines of others stay as they are. Throws `Unreadable`. */
function environmentText(before: string, variables: ReadonlyMap<string, string>, force: boolean): string {
  const known = parseEnv(before)
  const differing = [...variables].filter(([name, value]) => known[name] !== value)
  const replaced = differing.filter(([name]) => known[name] !== undefined)
  if (replaced.length > 0 && !force)
    throw new Unreadable(`.env has other values of ${replaced.map(([name]) => name).join(', ')}; --force replaces them`)
  const names = new Set(replaced.map(([name]) => name))
  const kept = without(names, before)
  const lines = differing.map(([name, value]) => `${name}=${quoted(name, value)}\n`)
  return kept + (kept === '' || kept.endsWith('\n') ? '' : '\n') + lines.join('')
}

/** A value as `.env` takes it. Throws `Unreadable` for one that no quotes can hold. */
function quoted(name: string, value: string): string {
  if (/^[\w./:@%+=,~-]*$/.test(value)) return value
  const quote = ["'", '`', '"'].find((one) => !value.includes(one) && !(one === '"' && value.includes('\\')))
  if (quote === undefined) throw new Unreadable(`${name} has every kind of quotes, which .env cannot hold`)
  return quote + value + quote
}

interface Writing {
  readonly force: boolean
  readonly isDry: boolean
  /** Whether a file that exists may be replaced without `force`. */
  readonly isOwn: (path: string, text: string) => boolean
}

/**
 * Writes files that do not exist yet; with `force`, in place of those that do. Rejects with `Unreadable` before anything
 * is written. With `isDry`, nothing is written, and it rejects alike.
 */
export async function writeAll(
  folder: string,
  files: Files,
  variables: ReadonlyMap<string, string>,
  { force, isDry, isOwn }: Writing,
): Promise<void> {
  const existing = await Promise.all(
    [...files].map(async ([path, text]) => ({ path, text, before: await textAt(join(folder, path)) })),
  )
  const taken = existing.filter(
    ({ path, before, text }) => before !== undefined && before !== text && !isOwn(path, before),
  )
  if (taken.length > 0 && !force)
    throw new Unreadable(
      `${taken.map(({ path }) => path).join(', ')} would be replaced; nothing was written. --force replaces`,
    )
  const before = await textAt(join(folder, '.env'))
  const secrets = environmentText(before ?? '', variables, force)
  if (isDry) return
  for (const { path, text, before: same } of existing) if (same !== text) await put(join(folder, path), text)
  if (secrets !== (before ?? '')) await put(join(folder, '.env'), secrets, ownerOnly)
  else if (variables.size > 0) await chmod(join(folder, '.env'), ownerOnly)
}

/** Writes a file in one step, so that nobody reads half of it. */
export async function put(path: string, text: string, mode?: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const beside = `${path}.${process.pid}.new`
  try {
    await writeFile(beside, text, mode === undefined ? {} : { mode })
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}

/** The text of a file; undefined: there is none. */
export async function textAt(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new Unreadable(`${path} cannot be read: ${error.code ?? 'unknown error'}`)
  })
}
