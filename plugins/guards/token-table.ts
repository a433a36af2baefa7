/**
 * Tokens and what they stand for. `null`: it stands for different values in two conversations of which this one has
 * items. `own`: the client itself has sent the value.
 */
export type TokenEntries = readonly (readonly [token: string, value: string | null, own?: 'own'])[]

interface Meaning {
  readonly value: string | null
  isOwn: boolean
}

/** The tokens of one conversation, and what they stand for. */
export class TokenTable {
  readonly #tokens = new Map<string, string>()
  readonly #meanings = new Map<string, Meaning>()
  readonly #next = new Map<string, number>()
  /** Whether the client's own text contains a token, which then stands for nothing else. */
  taken: ((token: string) => boolean) | undefined
  /** Where numbers begin: apart from those of a conversation that nobody here can read. */
  first = 1

  get size(): number {
    return this.#meanings.size
  }

  /**
   * The token of a value: the same for the same value, numbered by first occurrence.
   * @param isOwn whether the client itself sends the value, which then may be restored
   */
  tokenOf(label: string, value: string, isOwn: boolean): string {
    const key = `${label}\n${value}`
    const known = this.#tokens.get(key)
    const meaning = known === undefined ? undefined : this.#meanings.get(known)
    if (known !== undefined && meaning) {
      meaning.isOwn ||= isOwn
      return known
    }
    let number = Math.max(this.first, this.#next.get(label) ?? 1)
    while (this.taken?.(`<${label}_${number}>`) === true) number++
    this.#next.set(label, number + 1)
    const token = `<${label}_${number}>`
    this.#tokens.set(key, token)
    this.#meanings.set(token, { value, isOwn })
    return token
  }

  /** A text with the client's own values in place of their tokens. */
  restored(text: string): string {
    if (!text.includes('<')) return text
    return text.replaceAll(/<[A-Z][A-Z0-9_]{0,80}_\d{1,9}>/g, (token) => {
      const { value = null, isOwn = false } = this.#meanings.get(token) ?? {}
      return isOwn && value !== null ? value : token
    })
  }

  /** Characters of the longest token that is restored; 0: none is. */
  get longest(): number {
    return [...this.#meanings].reduce((most, [{ length }, { isOwn }]) => (isOwn ? Math.max(most, length) : most), 0)
  }

  /** All tokens with their values. */
  entries(): TokenEntries {
    return [...this.#meanings].map(([token, { value, isOwn }]) => (isOwn ? [token, value, 'own'] : [token, value]))
  }

  /** Adds what the table of an earlier turn, or of another conversation, held; numbers go on from there. */
  add(entries: TokenEntries): void {
    for (const [token, value, own] of entries) {
      const [, label = '', number = '0'] = /^<(.+)_(\d+)>$/.exec(token) ?? []
      this.#next.set(label, Math.max(this.#next.get(label) ?? 1, Number(number) + 1))
      const known = this.#meanings.get(token)
      if (known && known.value === value) known.isOwn ||= own !== undefined
      else if (known || value === null) {
        this.#meanings.set(token, { value: null, isOwn: false })
        this.#tokens.delete(`${label}\n${known?.value ?? ''}`)
      } else {
        this.#meanings.set(token, { value, isOwn: own !== undefined })
        const key = `${label}\n${value}`
        if (!this.#tokens.has(key)) this.#tokens.set(key, token)
      }
    }
  }
}
