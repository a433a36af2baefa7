import { Marks } from './marks.ts'
import type { Seen } from './marks.ts'
import { among, indexesOf, isAmong, runAfter, runBefore } from './runs.ts'
import type { Among, Place, Searched } from './runs.ts'

/** A key that begins with the mark of its vendor: what follows, and how much of that at least. */
interface Prefixed {
  readonly prefix: string
  readonly least: number
  readonly most?: number
  readonly of?: Among
}

const upperOrDigit = among.upper | among.digit
const dotted = among.with(among.token, '.')
const base64 = among.with(among.alphanumeric, '+/=')

/** Prefixes of known vendors. Each is found where no letter or digit stands before it. */
const prefixes: Readonly<Record<'api_key' | 'aws' | 'github' | 'slack', readonly Prefixed[]>> = {
  api_key: [
    { prefix: 'sk-', least: 20 },
    { prefix: 'sk_live_', least: 16 },
    { prefix: 'sk_test_', least: 16 },
    { prefix: 'rk_live_', least: 16 },
    { prefix: 'pk_live_', least: 16 },
    { prefix: 'whsec_', least: 20, of: base64 },
    { prefix: 'AIza', least: 35 },
    { prefix: 'ya29.', least: 20 },
    { prefix: 'GOCSPX-', least: 20 },
    { prefix: 'hf_', least: 30 },
    { prefix: 'gsk_', least: 30 },
    { prefix: 'xai-', least: 40 },
    { prefix: 'r8_', least: 30 },
    { prefix: 'pplx-', least: 30 },
    { prefix: 'glpat-', least: 20, of: dotted },
    { prefix: 'npm_', least: 36 },
    { prefix: 'pypi-', least: 50 },
    { prefix: 'SG.', least: 40, of: dotted },
    { prefix: 'shpat_', least: 32 },
    { prefix: 'dop_v1_', least: 60 },
    { prefix: 'dckr_pat_', least: 20 },
    { prefix: 'ATATT3', least: 50, of: among.with(among.token, '=') },
    { prefix: 'lin_api_', least: 30 },
    { prefix: 'secret_', least: 40 },
    { prefix: 'ntn_', least: 40 },
    { prefix: 'key-', least: 32, of: among.hex },
  ],
  aws: ['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((prefix) => ({ prefix, least: 16, most: 16, of: upperOrDigit })),
  github: [
    ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix) => ({ prefix, least: 36, of: among.alphanumeric })),
    { prefix: 'github_pat_', least: 22 },
  ],
  slack: [
    ...['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-', 'xoxe.xoxp-'].map((prefix) => ({
      prefix,
      least: 10,
    })),
    { prefix: 'hooks.slack.com/services/T', least: 20, of: among.with(among.alphanumeric, '/') },
  ],
}

/** Words beside which a key may stand. */
const words = /key|token|secret|password|passwd|credential|bearer|schlüssel|passwort/iy
const eachWord = words.source.split('|')

const marks = new Marks([
  ...Object.values(prefixes).flatMap((some) => some.map(({ prefix }) => prefix)),
  ...eachWord,
  'aws',
])

/** Keys, tokens and passwords of programs. */
export const secrets = {
  see: (text) => marks.in(text),
  sizeOf: ({ count }) => count,
  finders: {
    private_key: { find: findPrivateKeys, longest: 80 },
    jwt: { find: findTokens, longest: 256 },
    aws: { find: findAws, longest: 192 },
    github: { find: (text, seen) => prefixed(text, seen, 'github'), longest: 96 },
    slack: { find: (text, seen) => prefixed(text, seen, 'slack'), longest: 96 },
    // What beside a word is a key of a known vendor is called by that.
    api_key: { find: findKeys, longest: 192 },
  },
} as const satisfies Searched<Seen>

function* prefixed(text: string, seen: Seen, entity: keyof typeof prefixes): Generator<Place> {
  for (const { prefix, least, most = Infinity, of = among.token } of prefixes[entity]) {
    const starts = seen.startsOf(prefix)
    if (starts.length === 0) continue
    const runs = new Runs(text, of)
    let covered = 0
    for (const start of starts) {
      if (start < covered || isAmong(text.charCodeAt(start - 1), among.alphanumeric)) continue
      if (!text.startsWith(prefix, start)) continue
      const from = start + prefix.length
      const end = runs.after(from)
      const length = end - from
      if (length < least || length > most) continue
      // Names of programs begin as some keys do; the others are known by their marks alone.
      if (entity !== 'api_key' || isRandom(text.slice(from, Math.min(end, from + 64)))) {
        yield { start, end, entity }
        covered = end
      }
    }
  }
}

/** Whether a text looks as if it was drawn: words and file names have no digits, or few different characters. */
function isRandom(text: string): boolean {
  return bitsPerCharacter(text) >= 2.5
}

/** The marks of vendors, and what stands beside a word such as `key` and is too irregular for a word. */
function* findKeys(text: string, seen: Seen): Generator<Place> {
  yield* prefixed(text, seen, 'api_key')
  const values = new Runs(text, ofValue)
  for (const end of endsOfWords(text, seen)) {
    const value = valueAfter(text, end, values)
    if (value) yield { ...value, entity: 'api_key' }
  }
}

/** The indexes after words beside which a key may stand; none overlaps another. */
function* endsOfWords(text: string, seen: Seen): Generator<number> {
  const starts = eachWord.flatMap((word) => seen.startsOf(word))
  let last = 0
  for (const start of starts.toSorted((left, right) => left - right)) {
    // Words that begin alike are listed at the same places.
    if (start < last) continue
    last = start + 1
    words.lastIndex = start
    if (words.test(text)) yield (last = words.lastIndex)
  }
}

const ofValue = among.with(among.token, '+/.')

const equals = among.with(0, '=')

/** Characters between the word and its value. */
const between = 24

/** What is written behind a word, as in `key = "…"`, `"api_key": "…"` or `the key is …`. */
function valueAfter(
  text: string,
  from: number,
  values: Runs,
): { readonly start: number; readonly end: number } | undefined {
  // The word may go on, as in `keys` and `api_key_id`.
  let at = runAfter(text, from, among.token, between)
  const last = at + between
  for (; at <= last && at < text.length; at++) {
    if (!isAmong(text.charCodeAt(at), among.alphanumeric)) continue
    const end = values.withoutDots(at)
    const value = text.slice(at, end)
    if (isIrregular(value)) {
      const padded = runAfter(text, end, equals, 2)
      return { start: at, end: padded }
    }
    // A short word such as `is` may stand between.
    if (value.length > 8) return undefined
    at = end - 1
  }
  return undefined
}

function isIrregular(value: string): boolean {
  const sample = value.slice(0, 128)
  return value.length >= 16 && /\d/.test(sample) && /[A-Za-z]/.test(sample) && bitsPerCharacter(sample) >= 3.5
}

/** How often each character of a sample occurs. Such samples are of ASCII, and taken too often for a map of their own. */
const counts = new Uint16Array(128)

/** The entropy of the characters of a text of at most 128. */
function bitsPerCharacter(text: string): number {
  counts.fill(0)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index) & 127
    counts[code] = (counts[code] as number) + 1
  }
  let bits = 0
  for (const count of counts) if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** The runs of some characters in a text. Each is read once, however often it is asked for in the order of the text. */
class Runs {
  readonly #text: string
  readonly #set: Among
  #from = 0
  #end = 0
  #withoutDots = 0

  constructor(text: string, set: Among) {
    this.#text = text
    this.#set = set
  }

  /** Index after the run that goes on at an index. */
  after(from: number): number {
    if (from < this.#from || from >= this.#end) {
      this.#from = from
      this.#end = runAfter(this.#text, from, this.#set)
      this.#withoutDots = this.#end
      while (this.#withoutDots > from && this.#text[this.#withoutDots - 1] === '.') this.#withoutDots--
    }
    return this.#end
  }

  /** The same without the dots at its end. */
  withoutDots(from: number): number {
    this.after(from)
    return Math.max(from, this.#withoutDots)
  }
}

/** Most characters of a private key. */
const longestKey = 16_384

/** A private key in the form PEM, from its first line to its last, or to the end of the text. */
function* findPrivateKeys(text: string): Generator<Place> {
  let closing = 0
  let until = text.length
  for (const start of indexesOf(text, '-----BEGIN ')) {
    const line = text.slice(start + 11, start + 60)
    const end = /^[A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----/.exec(line)?.[0].length
    if (end === undefined) continue
    // Keys that have no last line of their own end with the same one: it is looked for once.
    const inner = start + 11 + end
    if (closing !== -1 && closing < inner) {
      closing = text.indexOf('-----END ', inner)
      const after = closing === -1 ? -1 : text.indexOf('-----', closing + 9)
      until = after === -1 ? text.length : after + 5
    }
    yield { start, end: Math.min(until, start + longestKey), entity: 'private_key' }
  }
}

/** Signed tokens (RFC 7519): two parts of JSON in base64url, and a signature. */
function* findTokens(text: string): Generator<Place> {
  for (const dot of indexesOf(text, '.eyJ')) {
    const start = runBefore(text, dot, among.token, 2_048)
    if (!text.startsWith('eyJ', start) || dot - start < 12) continue
    let end = runAfter(text, dot + 1, among.token)
    if (end - dot < 9) continue
    if (text[end] === '.') end = runAfter(text, end + 1, among.token)
    yield { start, end, entity: 'jwt' }
  }
}

/** Most characters from the name of the vendor to the word before a value. */
const nearAws = 128

const ofAssignment = among.with(0, ` "':=`)

function* findAws(text: string, seen: Seen): Generator<Place> {
  yield* prefixed(text, seen, 'aws')
  if (seen.startsOf('aws').length === 0) return
  for (const { index } of text.matchAll(/secret|access_?key/gi)) {
    if (!/aws/i.test(text.slice(Math.max(0, index - nearAws), index + 40))) continue
    const from = runAfter(text, index, among.token, 40)
    const start = runAfter(text, from, ofAssignment, 8)
    const end = runAfter(text, start, base64, 41)
    if (end - start === 40 && bitsPerCharacter(text.slice(start, end)) >= 3.5) yield { start, end, entity: 'aws' }
  }
}
