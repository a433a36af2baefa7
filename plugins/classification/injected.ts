import { isBlank } from './courtesy.ts'
import elements from './injected.json' with { type: 'json' }

const removed: ReadonlySet<string> = new Set(elements.removed)
const unwrapped: ReadonlySet<string> = new Set(elements.unwrapped)

/** Most characters of an opening tag, and of the blanks before it. */
const tag = 400
const indent = 100
/** Most closing tags that are looked at in the tail of a text, most opening ones of known elements, and most elements of a text that has nothing else. */
const most = { closing: 50, opening: 500, alone: 50 }

/**
 * A text without the elements that clients put into what a user says: reminders, state of an editor, output of
 * commands. Elements that enclose what the user said lose their tags. An element begins a line.
 * @param cut whether the text goes on beyond its end, where an element may be closed
 */
export function withoutInjected(text: string, cut = false): string {
  if (!text.includes('<')) return text
  const kept: string[] = []
  /** Names that no closing tag follows: looking for it each time would take quadratic time. */
  const open = new Set<string>()
  let from = 0
  let seen = 0
  for (let at = text.indexOf('<'); at >= 0 && seen < most.opening; at = text.indexOf('<', at)) {
    const opening = openingAt(text, at)
    if (opening) seen++
    const element = opening && elementAt(text, opening, cut, open)
    if (!element) {
      at++
      continue
    }
    kept.push(text.slice(from, at), element.inner)
    at = from = element.end
  }
  return kept.length === 0 ? text : kept.join('') + text.slice(from)
}

/** Whether a text has nothing but such elements, in which the user says nothing. One with more than fifty is taken for something that is said. */
export function isInjected(text: string, cut = false): boolean {
  const open = new Set<string>()
  for (let at = 0, seen = 0; ; seen++) {
    while (at < text.length && isBlank(text, at)) at++
    if (at >= text.length) return true
    if (seen === most.alone) return false
    const opening = text[at] === '<' ? openingAt(text, at) : undefined
    const element = opening && elementAt(text, opening, cut, open)
    if (!element || element.inner.trim() !== '') return false
    at = element.end
  }
}

/** What follows the closing tags of such elements that the text does not open: the tail of a longer text. */
export function afterInjected(text: string): string {
  let start = 0
  for (let at = text.indexOf('</'), seen = 0; at >= 0 && seen < most.closing; at = text.indexOf('</', at + 2), seen++) {
    const name = nameAt(text, at + 2)
    const end = at + 2 + name.length
    if (removed.has(name) && text[end] === '>' && !text.slice(start, at).includes(`<${name}`)) start = end + 1
  }
  return text.slice(start)
}

interface Opening {
  readonly name: string
  readonly end: number
}

/** The tag of a known element that begins a line, or follows another tag. */
function openingAt(text: string, at: number): Opening | undefined {
  if (!isNameCharacter(text.charCodeAt(at + 1))) return undefined
  let before = at - 1
  while (at - before < indent && (text[before] === ' ' || text[before] === '\t')) before--
  if (before >= 0 && text[before] !== '\n' && text[before] !== '>') return undefined
  const name = nameAt(text, at + 1)
  if (!removed.has(name) && !unwrapped.has(name)) return undefined
  const end = text.slice(at, at + tag).indexOf('>')
  return end < 0 ? undefined : { name, end: at + end + 1 }
}

/** What stays of an element, and where it ends. */
function elementAt(text: string, { name, end }: Opening, cut: boolean, open: Set<string>) {
  const close = `</${name}>`
  const closed = open.has(name) ? -1 : text.indexOf(close, end)
  if (closed < 0) open.add(name)
  if (closed < 0) return cut && removed.has(name) ? { inner: '', end: text.length } : undefined
  // Elements within what the user said are found in a pass of their own.
  const inner = unwrapped.has(name) ? withoutInjected(text.slice(end, closed)) : ''
  return { inner, end: closed + close.length }
}

function nameAt(text: string, at: number): string {
  let end = at
  while (isNameCharacter(text.charCodeAt(end)) && end - at < 32) end++
  return text.slice(at, end)
}

function isNameCharacter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 45
}
