import type { TextChange } from './map-json.ts'

/**
 * Applies a change to text that arrives in pieces. The change may match text split between pieces, and look at its
 * surroundings.
 */
export class HeldText {
  readonly #change: TextChange
  readonly #longest: number
  /** Text already returned that the change may still look at, followed by the text held back. */
  #window = ''
  /** Index in the window at which the held text begins. */
  #until = 0
  /** The changed form of the text before that index. */
  #given = ''
  /** Whether the returned text differs from the original. */
  changed = false

  constructor(change: TextChange, longest: number) {
    this.#change = change
    this.#longest = Math.max(1, longest)
  }

  /** The text that no later piece can change. */
  push(text: string): string {
    this.#window += text
    const all = this.#window
    // A match that begins before this index has arrived completely.
    const sure = boundary(all, all.length - this.#longest + 1)
    if (sure <= this.#until) return ''
    const whole = this.#change(all)
    // Goes back by at most the length of the longest match: within it, some index splits no match.
    for (let at = sure; at > this.#until && at > sure - this.#longest; at--) {
      const place = boundary(all, at)
      const end = whole.endsWith(all.slice(place)) ? whole.length - all.length + place : this.#endBefore(place, whole)
      if (place > this.#until && end !== undefined && end >= this.#given.length) return this.#give(whole, place, end)
    }
    return ''
  }

  /** The rest. */
  end(): string {
    const whole = this.#change(this.#window)
    const given = this.#give(whole, this.#window.length, whole.length)
    this.#window = this.#given = ''
    this.#until = 0
    return given
  }

  #give(whole: string, place: number, end: number): string {
    const given = whole.slice(this.#given.length, end)
    this.changed ||= given !== this.#window.slice(this.#until, place)
    this.#until = place
    this.#given = whole.slice(0, end)
    this.#forget(whole)
    return given
  }

  /**
   * Discards text that the change no longer looks at, up to an index from which on the change gives the same result.
   */
  #forget(whole: string): void {
    if (this.#until <= 2 * this.#longest) return
    const last = this.#until - this.#longest
    for (let at = last; at > 0 && at > last - this.#longest; at--) {
      const place = boundary(this.#window, at)
      const end = this.#endBefore(place, whole)
      if (end === undefined || end > this.#given.length) continue
      this.#window = this.#window.slice(place)
      this.#until -= place
      this.#given = this.#given.slice(end)
      return
    }
  }

  /** The index in the changed window that corresponds to `place`; undefined if `place` splits a match. */
  #endBefore(place: number, whole: string): number | undefined {
    const before = this.#change(this.#window.slice(0, place))
    if (!whole.startsWith(before)) return undefined
    return before + this.#change(this.#window.slice(place)) === whole ? before.length : undefined
  }
}

/** `at`, or the index before it if `at` would split a character outside the basic plane. */
function boundary(text: string, at: number): number {
  if (at <= 0) return 0
  const before = text.charCodeAt(at - 1)
  return before >= 0xd8_00 && before <= 0xdb_ff ? at - 1 : at
}
