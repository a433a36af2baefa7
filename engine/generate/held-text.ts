import type { TextChange } from './map-json.ts'

/** A text on its way through a change, which may find something that has not arrived as a whole. */
export class HeldText {
  readonly #change: TextChange
  readonly #longest: number
  #held = ''
  /** The text that was given is another one than came. */
  changed = false

  constructor(change: TextChange, longest: number) {
    this.#change = change
    this.#longest = Math.max(1, longest)
  }

  /** The text that is sure by now. */
  push(text: string): string {
    const all = this.#held + text
    // What begins before this place has arrived as a whole.
    const sure = boundary(all, all.length - this.#longest + 1)
    const whole = this.#change(all)
    if (whole === all) return this.#give(all, sure, all.slice(0, sure))
    // No further back than what is found reaches: at one of these places nothing is cut.
    for (let at = sure; at > 0 && at > sure - this.#longest; at--) {
      const place = boundary(all, at)
      const given = this.#change(all.slice(0, place))
      if (given + this.#change(all.slice(place)) === whole) return this.#give(all, place, given)
    }
    return this.#give(all, 0, '')
  }

  /** What is left of it. */
  end(): string {
    return this.#give(this.#held, this.#held.length, this.#change(this.#held))
  }

  #give(all: string, until: number, given: string): string {
    this.#held = all.slice(until)
    this.changed ||= given !== all.slice(0, until)
    return given
  }
}

/** The place, or the one before, so that no character outside of the basic plane is cut. */
function boundary(text: string, at: number): number {
  if (at <= 0) return 0
  const before = text.charCodeAt(at - 1)
  return before >= 0xd8_00 && before <= 0xdb_ff ? at - 1 : at
}
