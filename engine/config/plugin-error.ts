import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A position in a file; line and column start at 1. */
export interface FilePlace {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A message for anything that a plugin threw. */
export function wordsOfThrown(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Advice for errors whose messages do not help. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/does not provide an export named/, 'if that is a type, say "import type"'],
  [/not supported in strip-only mode/, 'types are only stripped; write in JavaScript what becomes code'],
  [
    /^Cannot find module '[^'\n]*\/[^'.\n/]+' imported/,
    'the import of a file must include its extension, such as ".ts"',
  ],
]

/** Advice for a plugin that could not be loaded, to follow the error message; often empty. */
export function remedyOf(thrown: unknown): string {
  const message = wordsOfThrown(thrown)
  const remedy = remedies.find(([symptom]) => symptom.test(message))?.[1]
  return remedy === undefined ? '' : `; ${remedy}`
}

/** Characters of an error's stack that are searched. */
const searched = 10_000

/**
 * The position in a plugin's files of the error that prevented loading: a syntax error, an unresolved import, or the
 * line that threw. If the error does not tell, the start of `file`, the file being loaded.
 */
export async function placeOf(error: unknown, file: string, files: readonly string[]): Promise<FilePlace> {
  const { stack = '', message } = error instanceof Error ? error : new Error(String(error))
  const found = missingImport(message) ?? inHeader(stack) ?? inFrames(stack, files)
  if (found === undefined || !files.includes(found.file)) return { file, line: 1, column: 1 }
  return 'word' in found ? placeOfWord(found.file, found.word) : found
}

/** Node reports the missing module and the importing file, but not the line. */
function missingImport(message: string): { file: string; word: string } | undefined {
  const [, wanted, file] = /^Cannot find (?:module|package) '([^'\n]+)' imported from ([^\n]+)$/.exec(message) ?? []
  return wanted === undefined || file === undefined ? undefined : { file, word: basename(wanted) }
}

/**
 * The stack of a syntax error begins with the file and the line, followed by the code with a mark below the position.
 */
function inHeader(stack: string): FilePlace | undefined {
  const [head = '', ...lines] = stack.slice(0, searched).split('\n')
  const [, address, line] = /^(\S.*):(\d+)$/.exec(head) ?? []
  if (address === undefined) return undefined
  const mark = lines.find((text) => /^ *\^+$/.test(text))
  return { file: pathOf(address), line: Number(line), column: (mark?.indexOf('^') ?? 0) + 1 }
}

/** The innermost stack frame in the plugin's own files. */
function inFrames(stack: string, files: readonly string[]): FilePlace | undefined {
  for (const text of stack.slice(0, searched).split('\n')) {
    const call = text.slice(Math.max(text.indexOf('file://'), 0))
    const [, address, line, column] = /^(file:\/\/[^\s()]{1,4096}):(\d{1,9}):(\d{1,9})\)?$/.exec(call) ?? []
    if (address === undefined) continue
    const file = pathOf(address)
    if (files.includes(file)) return { file, line: Number(line), column: Number(column) }
  }
  return undefined
}

function pathOf(address: string): string {
  return address.startsWith('file:') ? fileURLToPath(address) : address
}

async function placeOfWord(file: string, word: string): Promise<FilePlace> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  const line = lines.findIndex((text) => text.includes(`${word}'`) || text.includes(`${word}"`))
  return line < 0
    ? { file, line: 1, column: 1 }
    : { file, line: line + 1, column: (lines[line]?.indexOf(word) ?? 0) + 1 }
}

/** Position of a file's default export, for findings about the component itself. */
export async function placeOfExport(file: string): Promise<FilePlace> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  const line = lines.findIndex((text) => /^export\s+default\b/.test(text))
  return { file, line: Math.max(line, 0) + 1, column: 1 }
}
