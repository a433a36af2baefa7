import { outline, stringEnd } from './outline.ts'

const unbound = { depth: Infinity, members: Infinity }

/**
 * Replaces the value of the member at `path` in the text of a JSON object, which may follow other text in its line.
 * The names in `path` match in their plain spelling only. All other bytes stay. A text without the member, or in
 * which its value is not a string, is returned unchanged.
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

/** Index at which the value of the member begins, or -1. Of a repeated member the last one counts, as in parsers. */
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
