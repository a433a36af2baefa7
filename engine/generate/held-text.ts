import type { TextChange } from './map-json.ts'

/** A text on its way through a change, which may find something that has not arrived as a whole, and look around it. */
export class HeldText {
  readonly #change: TextChange
  readonly #longest: number
  /** What is held, after what was given and may be looked at. */
  #window = ''
  /** Where in the window what is held begins. */
  #until = 0
  /** What was given of the window. */
  #given = ''
  /** The text that was given is another one than came. */
  changed = false

  constructor(change: TextChange, longest: number) {
    this.#change = change
    this.#longest = Math.max(1, longest)
  }

  /** The text that is sure by now. */
  push(text: string): string {
    this.#window += text
    const all = this.#window
    // What begins before this place has arrived as a whole.
    const sure = boundary(all, all.length - this.#longest + 1)
    if (sure <= this.#until) return ''
    const whole = this.#change(all)
    // No further back than what is found reaches: at one of these places nothing is cut.
    for (let at = sure; at > this.#until && at > sure - this.#longest; at--) {
      const place = boundary(all, at)
      const end = whole.endsWith(all.slice(place)) ? whole.length - all.length + place : this.#endBefore(place, whole)
      if (place > this.#until && end !== undefined && end >= this.#given.length) return this.#give(whole, place, end)
    }
    return ''
  }

  /** What is left of it. */
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

  /** Lets go of what no change looks at any more, up to a place from which on all of it is changed as before. */
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

  /** Where in the changed window ends what comes of the text before a place; undefined: the place cuts something. */
  #endBefore(place: number, whole: string): number | undefined {
    const before = this.#change(this.#window.slice(0, place))
    if (!whole.startsWith(before)) return undefined
    return before + this.#change(this.#window.slice(place)) === whole ? before.length : undefined
  }
}

/** The place, or the one before, so that no character outside of the basic plane is cut. */
function boundary(text: string, at: number): number {
  if (at <= 0) return 0
  const before = text.charCodeAt(at - 1)
  return before >= 0xd8_00 && before <= 0xdb_ff ? at - 1 : at
}
