import type { RE2JS } from 're2js'
import { apart } from './runs.ts'
import type { Place } from './runs.ts'
import { compiled } from './pattern.ts'
import type { NamedPattern } from './pattern.ts'
import { Recent } from './recent.ts'

/** Texts to search, and patterns. */
export interface MatchInput {
  readonly patterns: readonly NamedPattern[]
  readonly flags: string
  readonly texts: readonly string[]
  /** Whether places are wanted; otherwise whether there is one suffices. */
  readonly places: boolean
}

/** A place of a pattern in one of the texts. */
export interface MatchPlace extends Place {
  readonly text: number
}

export interface MatchOutput {
  readonly hit: boolean
  readonly places: readonly MatchPlace[]
}

/** Compiled patterns of a thread. Each costs kilobytes. */
const machines = new Recent<RE2JS>(256)

/** Finds the places of patterns in texts. It runs in the worker pool where a search takes long, otherwise at once. */
export default function match({ patterns, flags, texts, places }: MatchInput): MatchOutput {
  const found: MatchPlace[] = []
  for (const [text, body] of texts.entries()) {
    const own: Place[] = []
    for (const { name = '', pattern } of patterns) {
      const machine = machines.of(`${flags}/${pattern}`, () => compiled(pattern, flags))
      // Whether there is a match takes a tenth of the time that finding it takes.
      if (!machine.test(body)) continue
      // Where in the text does not matter then.
      if (!places) return { hit: true, places: [{ text, start: 0, end: body.length, entity: name }] }
      own.push(...placesOf(machine, body, name))
    }
    found.push(...apart(own).map((place) => ({ ...place, text })))
  }
  return { hit: found.length > 0, places: found }
}

function placesOf(machine: RE2JS, text: string, entity: string): Place[] {
  const matcher = machine.matcher(text)
  const found: Place[] = []
  while (matcher.find()) {
    const [start, end] = [matcher.start(), matcher.end()]
    // A match of nothing hides nothing.
    if (end > start) found.push({ start, end, entity })
  }
  return found
}
