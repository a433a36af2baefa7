/** Most characters of a document's name. */
const limit = 200

/**
 * Names for the documents of one request: each unique, of letters, digits, single spaces, hyphens, parentheses and
 * brackets, as the API requires. A name depends only on the documents before it, so that a cached prompt stays the same.
 */
export class DocumentNames {
  readonly #taken = new Set<string>()
  /** How often a name was wanted. */
  readonly #times = new Map<string, number>()

  /** @param wanted such as the name of a file, whose ending is left out */
  name(wanted = ''): string {
    const legal = wanted
      .slice(0, 2 * limit)
      .replace(/\.\w{1,8}$/, '')
      .replace(/[^A-Za-z0-9()[\]-]{1,400}/g, ' ')
      .trim()
      .slice(0, limit - 8)
    const name = legal === '' ? 'document' : legal
    let times = (this.#times.get(name) ?? 0) + 1
    let unique = times === 1 ? name : `${name} (${times})`
    while (this.#taken.has(unique)) unique = `${name} (${++times})`
    this.#times.set(name, times)
    this.#taken.add(unique)
    return unique
  }
}
