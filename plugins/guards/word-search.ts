import type { Span } from '../../engine/index.ts'
import { Automaton } from './automaton.ts'
import { Recent } from './recent.ts'

/** Texts to search, and words. */
export interface WordsInput {
  readonly words: readonly string[]
  readonly cased: boolean
  readonly whole: boolean
  readonly texts: readonly string[]
  /** Whether places are wanted; otherwise one is enough. */
  readonly places: boolean
}

export interface WordsOutput {
  readonly hit: boolean
  readonly spans: readonly Span[]
}

/** Automata of a thread. Each may take megabytes. */
const automata = new Recent<Automaton>(4)

/** Finds words in texts. It runs in the worker pool where that takes long. */
export default function wordSearch({ words, cased, ...input }: WordsInput): WordsOutput {
  const automaton = automata.of(JSON.stringify([cased, words]), () => automatonOf(words, cased))
  return placesOfWords(automaton, { cased, ...input })
}

export function automatonOf(words: readonly string[], cased: boolean): Automaton {
  return new Automaton(words.map((word) => folded(word, cased).text))
}

/** The same, at once. */
export function placesOfWords(
  automaton: Automaton,
  { cased, whole, texts, places }: Omit<WordsInput, 'words'>,
): WordsOutput {
  const spans: Span[] = []
  for (const [index, text] of texts.entries()) {
    const form = folded(text, cased)
    for (const [from, to] of automaton.places(form.text)) {
      const span = { text: index, start: form.at(from), end: form.at(to) }
      if (whole && (isWordy(text, span.start, -1) || isWordy(text, span.end, 0))) continue
      spans.push(span)
      if (!places) return { hit: true, spans }
    }
  }
  return { hit: spans.length > 0, spans }
}

/** Whether a letter or a digit stands beside an index. */
function isWordy(text: string, at: number, offset: -1 | 0): boolean {
  const code = text.charCodeAt(at + offset)
  if (Number.isNaN(code)) return false
  if (code < 128) return /[0-9A-Za-z]/.test(text[at + offset] ?? '')
  const isSecondHalf = code >= 0xdc_00 && code <= 0xdf_ff
  const point = text.codePointAt(offset === -1 && isSecondHalf ? at - 2 : at + offset)
  return point !== undefined && /^[\p{L}\p{N}]$/u.test(String.fromCodePoint(point))
}

/** A text in a form in which equal words are equal, and where its characters stood. */
interface Folded {
  readonly text: string
  /** The index in the original text for an index in this one. */
  at(index: number): number
}

/** A letter with what composes with it: marks, vowels and ends of Korean syllables, half-width marks of Japanese. */
const clusters =
  /\p{ASCII}{1,512}(?=\p{ASCII})|[^\p{M}][\p{M}\u{1160}-\u{11FF}\u{D7B0}-\u{D7FB}\u{FF9E}\u{FF9F}]{0,8}|\p{M}/gu

/** Characters that fold together with the one before them. */
const joining = /[\p{M}\u{1160}-\u{11FF}\u{D7B0}-\u{D7FB}\u{FF9E}\u{FF9F}]/u

/** The folded form of a text in which nothing moves, as in most; undefined: something may. */
export function foldedAsOne(text: string, cased: boolean): string | undefined {
  if (/^\p{ASCII}*$/u.test(text)) return cased ? text : text.toLowerCase()
  if (joining.test(text) || text.normalize('NFKC') !== text) return undefined
  if (cased) return text
  const lower = text.toLowerCase().replaceAll('ς', 'σ')
  return lower.length === text.length ? lower : undefined
}

/** A text without differences of width and of the form of Unicode (NFKC), and of case unless it counts. */
export function folded(text: string, cased: boolean): Folded {
  const whole = foldedAsOne(text, cased)
  if (whole !== undefined) return { text: whole, at: (index) => index }
  const places: number[] = []
  let form = ''
  let at = 0
  for (const [cluster] of text.matchAll(clusters)) {
    // All but the last letter of plain text stays as it is.
    if (cluster.length > 1 && cluster.charCodeAt(1) < 128) {
      for (let index = 0; index < cluster.length; index++) places.push(at + index)
      form += cased ? cluster : cluster.toLowerCase()
      at += cluster.length
      continue
    }
    const normal = cluster.normalize('NFKC')
    // A sigma has another form at the end of a word.
    const one = cased ? normal : normal.toLowerCase().replaceAll('ς', 'σ')
    for (let index = 0; index < one.length; index++) places.push(at)
    form += one
    at += cluster.length
  }
  places.push(at)
  return { text: form, at: (index) => places[index] ?? text.length }
}
