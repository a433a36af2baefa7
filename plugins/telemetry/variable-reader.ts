import type { SaidByVariables, ServiceHost } from '../../engine/index.ts'

/** What can be sent by OTLP, as variables name it. */
export type Signal = 'traces' | 'metrics'

type Mistake = SaidByVariables['mistakes'][number]

/** Bounds of a number, and what holds while its variable is unset. */
interface Bounds {
  readonly least: number
  readonly most?: number
  readonly usual: number
  readonly isWhole?: boolean
}

/** Reads variables, and notes each value that cannot be used, with the signals that it turns off. Never quotes a value. */
export class VariableReader {
  readonly mistakes: Mistake[] = []
  readonly broken = new Map<Signal, string>()
  readonly #environment: ServiceHost['environment']

  constructor(environment: ServiceHost['environment']) {
    this.#environment = environment
  }

  /** The value, unless it is empty. */
  text(variable: string): string | undefined {
    return this.#environment[variable]?.trim() || undefined
  }

  /** A word of a list, in lower case. */
  word<const W extends string>(variable: string, words: readonly W[], signals: readonly Signal[]): W | undefined {
    const text = this.text(variable)?.toLowerCase()
    const found = words.find((word) => word === text)
    if (text !== undefined && found === undefined) this.mistake(variable, `must be ${listed(words)}`, signals)
    return found
  }

  /** Words of a list, separated by commas; undefined: it is unset, or has a word that is not in the list. */
  words(variable: string, words: readonly string[], signals: readonly Signal[]): readonly string[] | undefined {
    const given = this.text(variable)
      ?.split(',')
      .map((word) => word.trim().toLowerCase())
      .filter((word) => word !== '')
    if (given === undefined) return undefined
    if (given.length > 0 && given.every((word) => words.includes(word))) return given
    this.mistake(variable, `must be ${listed(words)}, or several of them with commas`, signals)
    return undefined
  }

  number(
    variable: string,
    { least, most = Number.MAX_SAFE_INTEGER, usual, isWhole = true }: Bounds,
    signals: readonly Signal[],
  ): number {
    const text = this.text(variable)
    if (text === undefined) return usual
    const value = Number(text)
    if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) return value
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
    this.mistake(variable, `must be a${isWhole ? ' whole' : ''} number ${range}`, signals)
    return usual
  }

  /** A list `name=value,name=value`, whose values may be percent-encoded. */
  pairs(variable: string, signals: readonly Signal[]): Readonly<Record<string, string>> {
    const parts = (this.text(variable) ?? '').split(',').filter((part) => part.trim() !== '')
    const pairs = parts.map((part) => pairIn(part))
    if (pairs.every((pair) => pair !== undefined)) return Object.fromEntries(pairs)
    this.mistake(variable, 'must be a list "name=value,name=value" with percent-encoded values', signals)
    return {}
  }

  /** A list of headers. A value with a line break, or beyond Latin-1, could never be sent. */
  headers(variable: string, signals: readonly Signal[]): Readonly<Record<string, string>> {
    const headers = this.pairs(variable, signals)
    if (!Object.values(headers).some((value) => /[^\t\x20-\x7e\x80-\xff]/.test(value))) return headers
    this.mistake(variable, 'must have values that a header may have: one line of Latin-1', signals)
    return {}
  }

  mistake(variable: string, message: string, signals: readonly Signal[]): void {
    const isKnown = this.mistakes.some((one) => one.variable === variable && one.message === message)
    if (!isKnown) this.mistakes.push({ variable, message })
    for (const signal of signals) this.#break(signal, variable, message)
  }

  warn(variable: string, message: string): void {
    this.mistakes.push({ variable, message, warning: true })
  }

  #break(signal: Signal, variable: string, message: string): void {
    if (!this.broken.has(signal)) this.broken.set(signal, `${variable} ${message}`)
  }
}

function pairIn(part: string): readonly [string, string] | undefined {
  const at = part.indexOf('=')
  const name = part.slice(0, Math.max(0, at)).trim()
  // What follows a semicolon says something about the value.
  const [value = ''] = part.slice(at + 1).split(';', 1)
  if (!/^[!#$%&'*+.^`|~\w-]+$/.test(name)) return undefined
  try {
    return [name, decodeURIComponent(value.trim())]
  } catch {
    return undefined
  }
}

function listed(words: readonly string[]): string {
  return words.length === 1 ? `${words[0]}` : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
