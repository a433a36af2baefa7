import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import type { Path } from './diagnostics.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A text with its variables expanded. */
export interface Interpolated {
  readonly text: string
  /** Variables with neither a value nor a default. */
  readonly missing: readonly string[]
  readonly problem?: string
}

/** A text that is nothing but a variable, in the syntax of a shell or of other programs and their configurations. */
const bare =
  /^(?:\$(?:env:)?|os\.environ\/|os\.environ\[?['"]?|process\.env\.|env[.:/]|%|\{\{ ?(?:env\.)?)[A-Z][A-Z0-9_]*(?:['"]?\]|%| ?\}\})?$/

/**
 * Expands `${NAME}` and `${NAME:-default}`; an empty variable counts as unset. `$${` stands for `${`. Values from the
 * environment are not expanded again.
 */
export function interpolate(text: string, environment: Environment): Interpolated {
  // Findings would show the name redacted where a secret belongs.
  if (bare.test(text)) return { text, missing: [], problem: 'is taken as it is; a variable is written ${NAME}' }
  if (!text.includes('${')) return { text, missing: [] }
  const missing: string[] = []
  let problem: string | undefined
  const filled = text.replace(/\$\$\{|\$\{([^}]*)\}?/g, (whole, inside: string | undefined) => {
    if (inside === undefined) return '${'
    const match = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside)
    const name = match?.[1]
    if (name === undefined || !whole.endsWith('}')) {
      problem = `"${whole}" is neither \${NAME} nor \${NAME:-default}; write $\${ for the text itself`
      return whole
    }
    const value = (Object.hasOwn(environment, name) && environment[name]) || match?.[2]
    if (value === undefined) missing.push(name)
    return value ?? ''
  })
  return { text: filled, missing, ...(problem === undefined ? {} : { problem }) }
}

/** The path of the first text in a value that contains `${`, where a file has a variable; undefined: there is none. */
export function variableIn(value: Json, path: Path = []): Path | undefined {
  if (typeof value === 'string') return value.includes('${') ? path : undefined
  const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : []
  for (const [step, held] of entries) {
    const found = variableIn(held, [...path, step])
    if (found !== undefined) return found
  }
  return undefined
}
