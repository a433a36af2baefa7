import { relative } from 'node:path'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { requirement } from './requirement.ts'
import { isShipped } from './shipped.ts'
import { didYouMean } from './suggest.ts'

/** Path from the root of a document to a value. */
export type Path = readonly (string | number)[]

/**
 * A finding in a configuration, and its position. Lines and columns start at 1; a finding without a position has 0, and
 * a path.
 */
export interface Diagnostic {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly code: string
  readonly message: string
  /** Path to the value in a stored record, whose name is in `file`. */
  readonly path?: Path
  /** Whether it is only a probable mistake that does not prevent serving. */
  readonly warning?: true
  /** Whether `sluice check` fails all the same. */
  readonly fails?: true
  /** Whether it is no mistake, but something that should not be forgotten. */
  readonly note?: true
}

/** `file:line:column: message [code]`; for a stored record `model "x" (database): path: message [code]`. */
export function printDiagnostic({ file, line, column, code, message, path, warning, fails, note }: Diagnostic): string {
  const place = path === undefined ? `:${line}:${column}` : path.length === 0 ? '' : `: ${printPath(path)}`
  return `${file}${place}: ${warning && !fails ? 'warning: ' : note ? 'note: ' : ''}${message} [${code}]`
}

/** `fallbacks[2]`, `pricing.input`. */
export function printPath(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('')
}

/** Sorts by file, line and column, and removes duplicates. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const unique = new Map(diagnostics.map((diagnostic) => [printDiagnostic(diagnostic), diagnostic]))
  return [...unique.values()].sort(
    (left, right) => left.file.localeCompare(right.file) || left.line - right.line || left.column - right.column,
  )
}

/** One mistake in a value. */
export interface SchemaProblem {
  /** The schema keyword that the value violates. */
  readonly keyword: string
  readonly path: readonly string[]
  /** The member that is unknown (`additionalProperties`) or missing (`required`). */
  readonly key?: string
  /** Follows the name of the value, and never quotes the value. */
  readonly message: string
  /** A suggestion for the intended name, to follow the message; empty if there is none. */
  readonly hint: string
}

/** Keywords whose errors stand beside the error that says what is wrong. */
const silent = new Set(['if', 'propertyNames'])

/** The mistakes in a value, each once. The alternatives of a union are combined in one sentence. */
export function schemaProblems(errors: readonly ErrorObject[]): SchemaProblem[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  return errors
    .filter((error) => !silent.has(error.keyword) && !unions.some((union) => isBranch(error, union)))
    .map((error) => {
      const branches = errors.filter((other) => isBranch(other, error) && other.instancePath === error.instancePath)
      const told: unknown = error.keyword === 'anyOf' ? error.parentSchema?.['anyOfErrorMessage'] : undefined
      const message =
        typeof told === 'string'
          ? told
          : branches.length > 0
            ? [...new Set(branches.map((branch) => sentence(branch) + hintOf(branch)))].join(' or ')
            : sentence(error)
      const key: unknown = error.params['additionalProperty'] ?? error.params['missingProperty']
      const { keyword, instancePath } = error
      const path = pointer(instancePath)
      return { keyword, path, ...(typeof key === 'string' ? { key } : {}), message, hint: hintOf(error) }
    })
}

/** The path in a JSON pointer (RFC 6901). */
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

/** Suggests the known field that is nearest to an unknown one. */
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
      return String(parentSchema?.['requiredErrorMessage'] ?? `"${String(params['missingProperty'])}" is missing`)
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

/** The name of a file in diagnostics: relative to `root`. Files of the package keep their place on the machine. */
export function display(file: string, root: string): string {
  const name = relative(root, file)
  return name.startsWith('..') && isShipped(file) ? file : name
}
