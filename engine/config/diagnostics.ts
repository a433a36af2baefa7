import type { ErrorObject } from 'ajv/dist/2020.js'
import { requirement } from '../spec/requirement.ts'
import type { Path, Source } from './source.ts'
import { didYouMean } from './suggest.ts'

/** Something wrong in a configuration, and where. Lines and columns count from 1. */
export interface Diagnostic {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly code: string
  readonly message: string
  /** It is probably a mistake, but one that can be served. */
  readonly warning?: true
}

/** `file:line:column: message [code]`. */
export function printDiagnostic({ file, line, column, code, message, warning }: Diagnostic): string {
  return `${file}:${line}:${column}: ${warning ? 'warning: ' : ''}${message} [${code}]`
}

/** In the order of a reader: by file, line and column; each finding once. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const unique = new Map(diagnostics.map((diagnostic) => [printDiagnostic(diagnostic), diagnostic]))
  return [...unique.values()].sort(
    (left, right) => left.file.localeCompare(right.file) || left.line - right.line || left.column - right.column,
  )
}

/**
 * The findings of a schema validation, placed in the source the value came from.
 * `base` is the path of the validated value in that source. Values are never quoted.
 */
export function schemaDiagnostics(source: Source, base: Path, errors: readonly ErrorObject[]): Diagnostic[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  return errors
    .filter((error) => error.keyword !== 'if' && !unions.some((union) => isBranch(error, union)))
    .map((error) => {
      const path = [...base, ...pointer(error.instancePath)]
      const branches = errors.filter((other) => isBranch(other, error) && other.instancePath === error.instancePath)
      const message = branches.length > 0 ? [...new Set(branches.map(sentence))].join(' or ') : sentence(error)
      const unknown = unknownKey(error)
      if (unknown !== undefined) return source.report([...path, unknown], error.keyword, message, 'key')
      return source.report(path, error.keyword, message)
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

function unknownKey({ keyword, params }: ErrorObject): string | undefined {
  const key: unknown = keyword === 'additionalProperties' ? params['additionalProperty'] : undefined
  return typeof key === 'string' ? key : undefined
}

function sentence(error: ErrorObject): string {
  const { keyword, params, parentSchema } = error
  switch (keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty'])
      return `unknown field "${key}"${didYouMean(key, Object.keys((parentSchema?.['properties'] as object | undefined) ?? {}))}`
    }
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
