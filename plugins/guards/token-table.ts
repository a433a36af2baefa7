/** Tokens and what they stand for. */
export type TokenEntries = readonly (readonly [token: string, value: string])[]

/** The tokens of one conversation, and what they stand for. */
export class TokenTable {
  readonly #tokens = new Map<string, string>()
  readonly #values = new Map<string, string>()
  readonly #next = new Map<string, number>()
  /** Whether the client's own text contains a token, which then stands for nothing else. */
  taken: ((token: string) => boolean) | undefined

  get size(): number {
    return this.#values.size
  }

  /** The token of a value: the same for the same value, numbered by first occurrence. */
  tokenOf(label: string, value: string): string {
    const key = `${label}\n${value}`
    const known = this.#tokens.get(key)
    if (known !== undefined) return known
    let number = this.#next.get(label) ?? 1
    while (this.taken?.(`<${label}_${number}>`) === true) number++
    this.#next.set(label, number + 1)
    const token = `<${label}_${number}>`
    this.#tokens.set(key, token)
    this.#values.set(token, value)
    return token
  }

  /** A text with the values in place of the tokens that are known. */
  restored(text: string): string {
    if (!text.includes('<')) return text
    return text.replaceAll(/<[A-Z][A-Z0-9_]{0,80}_\d{1,9}>/g, (token) => this.#values.get(token) ?? token)
  }

  /** Characters of the longest token. */
  get longest(): number {
    return [...this.#values.keys()].reduce((most, { length }) => Math.max(most, length), 0)
  }

  /** All tokens with their values. */
  entries(): TokenEntries {
    return [...this.#values]
  }

  /** Adds what the table of an earlier turn held; numbers go on from there. */
  add(entries: TokenEntries): void {
    for (const [token, value] of entries) {
      this.#values.set(token, value)
      const [, label = '', number = '0'] = /^<(.+)_(\d+)>$/.exec(token) ?? []
      this.#tokens.set(`${label}\n${value}`, token)
      this.#next.set(label, Math.max(this.#next.get(label) ?? 1, Number(number) + 1))
    }
  }
}
