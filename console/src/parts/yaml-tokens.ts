import { highlightTree, tagHighlighter, tags } from '@lezer/highlight'
import { parser } from '@lezer/yaml'

export interface Token {
  readonly text: string
  readonly look: 'plain' | 'key' | 'text' | 'comment' | 'mark'
}

const looks = tagHighlighter([
  { tag: tags.definition(tags.propertyName), class: 'key' },
  { tag: [tags.string, tags.special(tags.string)], class: 'text' },
  { tag: tags.lineComment, class: 'comment' },
  { tag: [tags.separator, tags.punctuation, tags.brace, tags.squareBracket], class: 'mark' },
])

/** The pieces of each line of a YAML text, with what they are. */
export function tokensOf(text: string): readonly (readonly Token[])[] {
  const lines: Token[][] = [[]]
  const add = (piece: string, look: Token['look']) => {
    for (const [index, part] of piece.split('\n').entries()) {
      if (index > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push({ text: part, look })
    }
  }
  let at = 0
  highlightTree(parser.parse(text), looks, (from, to, look) => {
    if (from > at) add(text.slice(at, from), 'plain')
    add(text.slice(from, to), look as Token['look'])
    at = to
  })
  add(text.slice(at), 'plain')
  return lines
}
