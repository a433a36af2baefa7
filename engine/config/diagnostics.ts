import { isAbsolute, relative } from 'node:path'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { requirement } from '../spec/requirement.ts'
import { didYouMean } from './suggest.ts'

/** Steps from the root of a document to a value in it. */
export type Path = readonly (string | number)[]

/** Something wrong in a configuration, and where. Lines and columns count from 1; what has none says 0, and has a path. */
export interface Diagnostic {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly code: string
  readonly message: string
  /** Steps to the value in a record of the database, whose `file` is the name of the record. */
  readonly path?: Path
  /** It is probably a mistake, but one that can be served. */
  readonly warning?: true
}

/** `file:line:column: message [code]`; of a record in the database `model "x" (database): path: message [code]`. */
export function printDiagnostic({ file, line, column, code, message, path, warning }: Diagnostic): string {
  const place = path === undefined ? `:${line}:${column}` : path.length === 0 ? '' : `: ${printPath(path)}`
  return `${file}${place}: ${warning ? 'warning: ' : ''}${message} [${code}]`
}

/** `fallbacks[2]`, `pricing.input`. */
export function printPath(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('')
}

/** In the order of a reader: by file, line and column; each finding once. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const unique = new Map(diagnostics.map((diagnostic) => [printDiagnostic(diagnostic), diagnostic]))
  return [...unique.values()].sort(
    (left, right) => left.file.localeCompare(right.file) || left.line - right.line || left.column - right.column,
  )
}

/** One thing that is wrong with a value. */
export interface SchemaProblem {
  /** That of the schema that says so. */
  readonly keyword: string
  readonly path: readonly string[]
  /** The member that should not be there (`additionalProperties`), or should (`required`). */
  readonly key?: string
  /** Without the value; what is required of it follows its name. */
  readonly message: string
  /** Which field was probably meant, to follow the message; empty where nobody can say. */
  readonly hint: string
}

/** What is wrong with a value, each thing once: of the alternatives that a value could be, all in one sentence. */
export function schemaProblems(errors: readonly ErrorObject[]): SchemaProblem[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  return errors
    .filter((error) => error.keyword !== 'if' && !unions.some((union) => isBranch(error, union)))
    .map((error) => {
      const branches = errors.filter((other) => isBranch(other, error) && other.instancePath === error.instancePath)
      const message =
        branches.length > 0
          ? [...new Set(branches.map((branch) => sentence(branch) + hintOf(branch)))].join(' or ')
          : sentence(error)
      const key: unknown = error.params['additionalProperty'] ?? error.params['missingProperty']
      const { keyword, instancePath } = error
      const path = pointer(instancePath)
      return { keyword, path, ...(typeof key === 'string' ? { key } : {}), message, hint: hintOf(error) }
    })
}

/** Path of a JSON pointer (RFC 6901). */
export function pointer(text: string): string[] {
  return text
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function isBranch(error: ErrorObject, union: ErrorObject): boolean {
  return (
    (union.keyword === 'anyOf' || union.keyword === 'oneOf') &&
    error !== union &&
    error.schemaPath.startsWith(`${union.schemaPath}/`)
  )
}

/** The known field nearest to one that is not. */
function hintOf({ params, parentSchema }: ErrorObject): string {
  const unknown: unknown = params['additionalProperty']
  const known = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {})
  return typeof unknown === 'string' ? didYouMean(unknown, known) : ''
}

function sentence(error: ErrorObject): string {
  const { keyword, params, parentSchema } = error
  switch (keyword) {
    case 'additionalProperties':
      return `unknown field "${String(params['additionalProperty'])}"`
    case 'required':
      return `"${String(params['missingProperty'])}" is missing`
    case 'enum': {
      const allowed = params['allowedValues'] as unknown[]
      const words = allowed.filter((value) => typeof value === 'string')
      return `${requirement(error)}${typeof error.data === 'string' ? didYouMean(error.data, words) : ''}`
    }
    case 'pattern':
      return String(parentSchema?.['patternErrorMessage'] ?? requirement(error))
    default:
      return requirement(error)
  }
}

/** A file's name as diagnostics show it: relative to `root` when it lies below. */
export function display(file: string, root: string): string {
  const name = relative(root, file)
  return name.startsWith('..') || isAbsolute(name) ? file : name
}
