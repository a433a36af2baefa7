import { GatewayError } from '../spec/error.ts'

/**
 * Top-level fields of a body that decide something here. Each may stand there once, and in its own spelling: parsers
 * that take the first of two, or do not tell capitals from small letters, would read another value than the gateway.
 */
export class FieldNames {
  readonly #names: ReadonlySet<string>
  readonly #lengths: ReadonlySet<number>

  /** Names in small ASCII letters, digits and underscores. */
  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
    this.#lengths = new Set([...this.#names].map(({ length }) => length))
  }

  /**
   * For one body: takes its keys one after the other, and gives back those that are one of the names.
   * The function throws `invalid_value` for a second one and for one in another spelling.
   */
  reader(): (key: string) => string | undefined {
    const seen = new Set<string>()
    return (key) => {
      const name = this.#nameOf(key)
      if (name === undefined) return undefined
      const refuse = (reason: string) => new GatewayError('invalid_value', { param: key, reason })
      if (name !== key) throw refuse(`it is written "${name}"`)
      if (seen.has(name)) throw refuse('it stands there more than once')
      seen.add(name)
      return name
    }
  }

  /** The name that a key is taken for by who ignores case. */
  #nameOf(key: string): string | undefined {
    if (!this.#lengths.has(key.length)) return undefined
    if (this.#names.has(key)) return key
    // As Unicode folds case: the long s and the sign of Kelvin are an s and a k.
    const folded = key.toUpperCase().toLowerCase()
    return this.#names.has(folded) ? folded : undefined
  }
}
