import phrases from './courtesy.json' with { type: 'json' }

/** Words of which clauses of one kind consist; at least one of those in `said` makes it a clause of the kind. */
interface Vocabulary {
  readonly said: ReadonlySet<string>
  readonly all: ReadonlySet<string>
}

const setOf = (words: string) => new Set(words.split(' '))
const vocabulary = ({ said, beside }: { readonly said: string; readonly beside: string }): Vocabulary => ({
  said: setOf(said),
  all: setOf(`${said} ${beside}`),
})
const courtesy = vocabulary(phrases.courtesy)
const effort = vocabulary(phrases.effort)
const greetings: ReadonlySet<string> = new Set(phrases.greetings)
const followUp = setOf(phrases.follow_up)

/** Most clauses that are dropped at one end, and most characters of one. */
const clauses = 12
const length = 240
/** Most words of a follow-up. */
const few = 10

/**
 * The text without greetings, thanks and appeals to effort at both ends: they say nothing about what is asked. A text
 * that is nothing else stays as it is.
 */
export function withoutPhrases(text: string): string {
  return trimmed(text, [courtesy, effort]) || text
}

/** Whether a text is nothing but greeting or thanks. */
export function isCourtesy(text: string): boolean {
  return text.length <= length * clauses && trimmed(text, [courtesy]) === '' && text !== ''
}

/** Whether a text is short and refers to what was said before: "continue", "do it again". */
export function refersBack(text: string): boolean {
  if (text.length > length) return false
  const words = wordsOf(text)
  return words.length > 0 && words.length <= few && words.every((word) => followUp.has(word))
}

function trimmed(text: string, kinds: readonly Vocabulary[]): string {
  const idle = (clause: string) => {
    if (!mayBeIdle(clause)) return false
    const words = wordsOf(clause)
    return kinds.some((kind) => isOf(kind, clause, words))
  }
  let start = 0
  let end = text.length
  for (let count = 0; count < clauses; count++) {
    const next = firstEnd(text, start, end)
    if (next - start > length || !idle(text.slice(start, next))) break
    start = next
  }
  for (let count = 0; count < clauses; count++) {
    const before = lastStart(text, start, end)
    if (end - before > length || !idle(text.slice(before, end))) break
    end = before
  }
  return text.slice(start, end).trim()
}

function isOf({ said, all }: Vocabulary, clause: string, words: readonly string[]): boolean {
  if (all === effort.all && clause.includes('?')) return false
  if (all === courtesy.all && greetings.has(words.join(' '))) return true
  return words.some((word) => said.has(word)) && words.every((word) => all.has(word))
}

/** All words of clauses that are of a kind. */
const idleWords: ReadonlySet<string> = new Set([
  ...courtesy.all,
  ...effort.all,
  ...phrases.greetings.flatMap((greeting) => greeting.split(' ')),
])

/** Whether a clause may be of a kind. Nearly none is, and its first words tell: to find all of them takes memory. */
function mayBeIdle(clause: string): boolean {
  for (let at = 0; ;) {
    while (at < clause.length && !isWordCode(clause.charCodeAt(at)) && clause.charCodeAt(at) < 128) at++
    let end = at
    while (end < clause.length && isWordCode(clause.charCodeAt(end))) end++
    const next = clause.charCodeAt(end)
    // A word goes on through apostrophes, and letters beyond ASCII may have several forms.
    if (at === end || next === apostrophe || next >= 128) return true
    if (!idleWords.has(clause.slice(at, end).toLowerCase())) return false
    at = end
  }
}

const apostrophe = 39

/** Letters and digits of ASCII. */
function isWordCode(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
}

/** The words of a text in lower case, without apostrophes. */
function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .replace(/['’]/g, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

/** The end of the clause at `start`, with its punctuation and the blanks that follow. */
function firstEnd(text: string, start: number, end: number): number {
  let at = start
  while (at < end && at - start <= length && !endsClause(text, at)) at++
  while (at < end && (endsClause(text, at) || isBlank(text, at))) at++
  return at
}

/** The start of the last clause before `end`. */
function lastStart(text: string, start: number, end: number): number {
  let at = end
  while (at > start && (endsClause(text, at - 1) || isBlank(text, at - 1))) at--
  while (at > start && end - at <= length && !endsClause(text, at - 1)) at--
  return at
}

const marks = new Set('!?:;,。！？、，：；\n')

function endsClause(text: string, at: number): boolean {
  const mark = text[at] ?? ''
  // A point within a number or a name ends nothing.
  return mark === '.' || mark === '…' ? at + 1 >= text.length || isBlank(text, at + 1) : marks.has(mark)
}

/** Whether there is a blank, of whatever kind. */
export function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code <= 32 || code === 0xa0 || code === 0x3000
}
