import { outline, stringEnd } from './outline.ts'

const unbound = { depth: Infinity, members: Infinity }

/**
 * The text of a JSON object, perhaps after something else in its line, with another text as the value of the member that
 * `path` leads to by the plain spelling of its names. Everything else stays as it is, and so does a text without the
 * member, or in which it is no text.
 */
export function spliceMember(text: string, path: readonly string[], value: string): string {
  let at = text.indexOf('{')
  for (const name of path) {
    const next = at < 0 || text[at] !== '{' ? -1 : valueOf(text.slice(at), name)
    at = next < 0 ? -1 : at + next
  }
  if (at < 0 || text[at] !== '"') return text
  return text.slice(0, at) + JSON.stringify(value) + text.slice(stringEnd(text, at))
}

/** Where the value of the member begins; of several the last one counts, as it does for readers. -1: there is none. */
function valueOf(text: string, name: string): number {
  const key = JSON.stringify(name)
  let found = -1
  outline(text, unbound, {
    key(start, end, value) {
      if (text.slice(start, end) === key) found = value
    },
  })
  return found
}
