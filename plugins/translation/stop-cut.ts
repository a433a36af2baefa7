import { fold, unfold } from '../../engine/kit.ts'
import type { GenerateEvent, GenerateReply, Logprob, Loss } from '../../engine/index.ts'

/** Most stop sequences, and most characters of one: each sequence costs one step per character of an answer. */
const mostSequences = 32
const longestSequence = 1024

/** The stop sequences that are applied, and a loss for the others. */
export function cuttable(stops: readonly string[]): {
  readonly cuts: readonly string[]
  readonly losses: readonly Loss[]
} {
  const cuts = stops.filter((stop) => stop !== '' && stop.length <= longestSequence).slice(0, mostSequences)
  const because = `at most ${mostSequences} sequences of ${longestSequence} characters are looked for`
  return { cuts, losses: cuts.length < stops.length ? [{ field: 'stop', because }] : [] }
}

type Delta = Extract<GenerateEvent, { type: 'delta' }>

/**
 * Ends an answer before the first stop sequence in its text, for providers without stop sequences. Text that may begin
 * a sequence is held back until the following text decides. Reasoning, refusals and calls are not searched.
 */
export class StopCut {
  readonly #matches: readonly Match[]
  readonly #open = new Set<number>()
  /** The item whose text is searched. */
  #text: number | undefined
  #held = ''
  #logprobs: readonly Logprob[] = []
  /** The sequence at which the answer was cut. Only the end follows it. */
  sequence: string | undefined

  constructor(sequences: readonly string[]) {
    this.#matches = sequences.map((sequence) => new Match(sequence))
  }

  /** The events to emit for one event; none after a cut. */
  write(event: GenerateEvent): readonly GenerateEvent[] {
    if (this.sequence !== undefined) return []
    if (event.type === 'delta' && event.index === this.#text) return this.#look(event)
    const before = this.#release()
    if (event.type === 'item') this.#open.add(event.index)
    if (event.type === 'item-end') this.#open.delete(event.index)
    if (event.type === 'part') this.#text = event.kind === 'text' ? event.index : undefined
    return [...before, event]
  }

  #look({ text, logprobs = [], ...event }: Delta): readonly GenerateEvent[] {
    const joined = this.#held + text
    for (let at = 0; at < text.length; at++) {
      const found = this.#step(text.charCodeAt(at))
      if (found === undefined) continue
      this.sequence = found
      const end = joined.length - text.length + at + 1 - found.length
      return [...delta({ ...event, text: joined.slice(0, end) }), ...this.#ends()]
    }
    const holds = Math.max(...this.#matches.map(({ length }) => length))
    const said = joined.slice(0, joined.length - holds)
    this.#held = joined.slice(said.length)
    const known = [...this.#logprobs, ...logprobs]
    this.#logprobs = said === '' ? known : []
    return delta({ ...event, text: said }, known)
  }

  /** The longest sequence that ends with this character. */
  #step(code: number): string | undefined {
    let found: string | undefined
    for (const match of this.#matches)
      if (match.step(code) && match.sequence.length > (found?.length ?? 0)) found = match.sequence
    return found
  }

  #release(): readonly GenerateEvent[] {
    if (this.#text === undefined || this.#held === '') return []
    const event = { type: 'delta', index: this.#text, text: this.#held } as const
    const released = delta(event, this.#logprobs)
    this.#held = ''
    this.#logprobs = []
    for (const match of this.#matches) match.length = 0
    return released
  }

  #ends(): readonly GenerateEvent[] {
    return [...this.#open].map((index) => ({ type: 'item-end', index }))
  }
}

function delta(event: Omit<Delta, 'logprobs'>, logprobs: readonly Logprob[] = []): readonly GenerateEvent[] {
  if (event.text === '') return []
  return [logprobs.length > 0 ? { ...event, logprobs } : event]
}

/** Tracks how much of a sequence the text ends with, in one step per character (Knuth, Morris and Pratt, 1977). */
class Match {
  readonly sequence: string
  /** For each matched length, the length that still matches when the next character does not. */
  readonly #shorter: number[] = [0]
  length = 0

  constructor(sequence: string) {
    this.sequence = sequence
    for (let at = 1; at < sequence.length; at++)
      this.#shorter.push(this.#longer(sequence.charCodeAt(at), this.#shorter[at - 1] ?? 0))
  }

  /** Whether the sequence ends with this character. */
  step(code: number): boolean {
    this.length = this.#longer(code, this.length)
    return this.length === this.sequence.length
  }

  #longer(code: number, length: number): number {
    let matched = length
    while (matched > 0 && this.sequence.charCodeAt(matched) !== code) matched = this.#shorter[matched - 1] ?? 0
    return this.sequence.charCodeAt(matched) === code ? matched + 1 : matched
  }
}

/** A whole answer, cut before the first stop sequence in its text. */
export function cutReply(reply: GenerateReply, sequences: readonly string[]): GenerateReply {
  const cut = new StopCut(sequences)
  const events = [...unfold(reply)].flatMap((event) => cut.write(event))
  if (cut.sequence === undefined) return reply
  return { ...reply, items: fold(events).items, stop: 'stop', stopSequence: cut.sequence }
}
