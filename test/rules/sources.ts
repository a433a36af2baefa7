import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesOf, readFolder } from '../../engine/config/files.ts'

/** The root of the checkout. */
export const root = join(import.meta.dirname, '..', '..')

/** A source file: its path below the root, with slashes, and its text. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** The TypeScript files of a folder and those below it; further endings bring those with markup, too. */
export async function sourcesOf(folder: string, endings: readonly string[] = ['.ts']): Promise<SourceFile[]> {
  const files = filesOf(await readFolder(join(root, folder)))
  return files
    .filter((file) => endings.some((ending) => file.endsWith(ending)))
    .map((file) => ({ path: file.slice(root.length + 1).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }))
}

/** A module that a file imports or re-exports. */
export interface Import {
  readonly specifier: string
  /** Only types come from it: nothing is loaded at run time. */
  readonly typeOnly: boolean
}

/** What a file imports, statically or by a literal `import()`. */
export function importsOf({ text }: SourceFile): Import[] {
  const fixed = [...text.matchAll(/^(?:import|export)(?<type> type)?\b[^'"`(=]*?\bfrom '(?<specifier>[^']+)'/gm)]
  const bare = [
    ...text.matchAll(/^import '(?<specifier>[^']+)'/gm),
    ...text.matchAll(/\bimport\('(?<specifier>[^']+)'\)/g),
  ]
  return [...fixed, ...bare].map(({ groups }) => ({
    specifier: groups?.['specifier'] ?? '',
    typeOnly: groups?.['type'] !== undefined,
  }))
}

/** The texts of a source: string literals and the fixed parts of templates; comments are left out. */
export function literalsOf({ text }: Pick<SourceFile, 'text'>): string[] {
  const tokens = text.matchAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g)
  return [...tokens].flatMap(([token]) => {
    if (token.startsWith('/')) return []
    const inside = token.slice(1, -1)
    if (!token.startsWith('`')) return [inside]
    const expressions = [...inside.matchAll(/\$\{([^}]*)\}/g)].flatMap(([, code]) => literalsOf({ text: code ?? '' }))
    return [...inside.split(/\$\{[^}]*\}/), ...expressions]
  })
}

/** A regular expression in a source. */
export interface Regex {
  readonly path: string
  readonly source: string
  readonly flags: string
}

/** Words after which a slash begins an expression. */
const beforeRegex = /(?:^|[(,=:[!&|?{};+*%<>~^-]|\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do))$/

/** The regular expressions of a source: its literals, and the texts that schemas have as a `pattern`. */
export function regexesOf({ path, text }: SourceFile): Regex[] {
  const found: Regex[] = []
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/(?<source>(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/(?<flags>[a-z]*)|[^\s'"`/]+|./gs
  let before = ''
  for (const { 0: whole, groups } of text.matchAll(token)) {
    const { source, flags = '' } = groups ?? {}
    if (whole.startsWith('//') || whole.startsWith('/*') || whole.trim() === '') continue
    if (source !== undefined && beforeRegex.test(before)) found.push({ path, source, flags })
    if (whole.startsWith('`'))
      for (const [, code = ''] of whole.matchAll(/\$\{([^}]*)\}/g)) found.push(...regexesOf({ path, text: code }))
    if (before.endsWith('pattern:') && /^['"`]/.test(whole))
      found.push({ path, source: whole.slice(1, -1).replaceAll('\\\\', '\\'), flags: '' })
    before = whole
  }
  return found
}
