import { WordTable } from './word-table.ts'
import { kindNames, known, noKind } from './words.ts'

/** The names of the numbers that `features` gives, in their order. */
export const featureNames: readonly string[] = [
  ...'letters words word_length long_words sentences sentence_words numbers number_share digits signs commands'.split(
    ' ',
  ),
  ...'brackets names uncommon learned capitals'.split(' '),
  ...kindNames,
]

/**
 * What can be counted in a text, in one pass: how long it is, of what it consists, and which kinds of words it has. How
 * a text is spaced, and in which form its characters are, changes nothing. Fenced and quoted lines are left out.
 */
export function features(given: string): readonly number[] {
  const text = normal(given)
  // A text that is longer in lower case was read as it is when the weights were learned.
  const counts = count(text, !text.includes('\u0130'))
  const { letters, words, sentences, numbers } = counts
  const share = (part: number) => part / Math.max(1, words)
  const row = [
    Math.log1p(letters),
    Math.log1p(words),
    share(letters),
    share(counts.long),
    Math.log1p(sentences),
    words / Math.max(1, sentences),
    Math.log1p(numbers),
    numbers / Math.max(1, words + numbers),
    Math.log1p(counts.digits),
    Math.log1p(counts.signs),
    Math.log1p(counts.commands),
    Math.log1p(counts.brackets),
    Math.log1p(counts.names),
    share(counts.uncommon),
    share(counts.learned),
    share(counts.capitals),
    ...noKinds,
  ]
  const first = row.length - kinds.length
  for (let at = 0; at < kinds.length; at++) row[first + at] = Math.log1p(kinds[at] ?? 0)
  for (let at = 0; at < row.length; at++) row[at] = Math.round((row[at] ?? 0) * 1e4) / 1e4
  return row
}

/** How many words of each kind the text has that is being counted; kept, because a text is counted for every request. */
const kinds = new Float64Array(kindNames.length)
const noKinds = kindNames.map(() => 0)

/** Compatibility forms become plain characters (Unicode Standard Annex 15), and invisible ones vanish. */
function normal(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return /[^\u0000-\u007f]/.test(text)
    ? text.normalize('NFKC').replace(/[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/g, '')
    : text
}

/** Signs of arithmetic and of money, as character codes. */
const signs = codesOf('+-*/=^<>%$±×÷≤≥√−≠∑∫')
const brackets = codesOf('()[]{};')
/** Last three letters of words that are learned rather than spoken. */
const endings = new WordTable(
  new Map('ion ent nce ity ism ogy cal lar ive sis tic ric hic'.split(' ').map((word): [string, number] => [word, 0])),
)

const newline = 10
const backslash = 92
const underscore = 95

/** @param folds whether words count in any case */
function count(text: string, folds: boolean) {
  const found = {
    letters: 0,
    words: 0,
    long: 0,
    sentences: 0,
    numbers: 0,
    digits: 0,
    signs: 0,
    commands: 0,
    brackets: 0,
    names: 0,
    uncommon: 0,
    learned: 0,
    capitals: 0,
  }
  kinds.fill(0)
  let lineStarts = true
  let sentenceStarts = true
  let fenced = false
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    if (code === newline) lineStarts = true
    if (isBlank(code)) {
      at++
      continue
    }
    if (lineStarts) {
      lineStarts = false
      sentenceStarts = true
      const fence = text.startsWith('```', at)
      const skipped = fence || fenced || text[at] === '>'
      if (fence) fenced = !fenced
      if (skipped) {
        at = lineEnd(text, at)
        continue
      }
    }
    if (isLetter(code)) {
      const end = wordEnd(text, at)
      const length = end - at
      found.letters += length
      found.words++
      if (length >= 9) found.long++
      if (!sentenceStarts && code >= 65 && code <= 90) found.capitals++
      const kind = known.find(text, at, end, folds)
      if (kind === undefined) {
        found.uncommon++
        if (length >= 7 && endings.find(text, end - 3, end, folds) !== undefined) found.learned++
      } else if (kind !== noKind) kinds[kind] = (kinds[kind] ?? 0) + 1
      sentenceStarts = false
      at = end
    } else if (isDigit(code)) {
      const end = numberEnd(text, at)
      found.numbers++
      found.digits += end - at
      sentenceStarts = false
      at = end
    } else {
      at++
      if (endsSentence(text, code, at)) {
        found.sentences++
        sentenceStarts = true
      } else if (signs.has(code)) found.signs++
      else if (code === backslash) found.commands++
      else if (brackets.has(code)) found.brackets++
      else if (code === underscore) found.names++
    }
  }
  return found
}

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)))
}

function isBlank(code: number): boolean {
  return code <= 32 || code === 0xa0
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** Letters of ASCII, and everything beyond Latin-1 signs that is no punctuation and no symbol. */
function isLetter(code: number): boolean {
  if (code < 0xc0) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
  return code !== 0xd7 && code !== 0xf7 && (code < 0x2000 || code >= 0x3040) && (code < 0xfe30 || code > 0xff0f)
}

/** A word goes on through apostrophes. */
function wordEnd(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (!isLetter(code) && code !== 39 && code !== 0x2019) break
  }
  return at
}

/** A number goes on through points and commas between digits. */
function numberEnd(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (!isDigit(code) && !((code === 46 || code === 44) && isDigit(text.charCodeAt(at + 1)))) break
  }
  return at
}

/** @param next the position after the mark */
function endsSentence(text: string, code: number, next: number): boolean {
  if (code === 63 || code === 0x3002 || code === 0xff1f) return true
  return (code === 46 || code === 33) && (next >= text.length || isBlank(text.charCodeAt(next)))
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}
