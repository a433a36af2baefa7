import { GatewayError } from '../spec/error.ts'

/**
 * Top-level fields of a body on which the gateway bases decisions. Each may occur once, in its exact spelling: a
 * parser that takes the first of two, or ignores case, would read another value than the gateway.
 */
export class FieldNames {
  readonly #names: ReadonlySet<string>
  readonly #lengths: ReadonlySet<number>

  /** @param names in lower-case ASCII letters, digits and underscores */
  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
    this.#lengths = new Set([...this.#names].map(({ length }) => length))
  }

  /**
   * A function for one body: takes its keys one after the other, and returns each key that is one of the names. The
   * function throws `invalid_value` for a repeated name and for a name in another spelling.
   */
  reader(): (key: string) => string | undefined {
    // Nearly always few names are there.
    let seen: string[] | undefined
    return (key) => {
      const name = this.#nameOf(key)
      if (name === undefined) return undefined
      if (name !== key) throw refused(key, `it is written "${name}"`)
      if (seen?.includes(name)) throw refused(key, 'it is there more than once')
      if (seen) seen.push(name)
      else seen = [name]
      return name
    }
  }

  /** The name that a case-insensitive parser would take the key for. */
  #nameOf(key: string): string | undefined {
    if (!this.#lengths.has(key.length)) return undefined
    if (this.#names.has(key)) return key
    // Unicode case folding maps the long s and the Kelvin sign to s and k.
    const folded = key.toUpperCase().toLowerCase()
    return this.#names.has(folded) ? folded : undefined
  }
}

function refused(param: string, reason: string): GatewayError {
  return new GatewayError('invalid_value', { param, reason })
}
