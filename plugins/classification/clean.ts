import { withoutPhrases } from './courtesy.ts'
import { afterInjected, withoutInjected } from './injected.ts'

/** What a user said, without what clients, pastes and habits add to it. */
export interface Cleaned {
  readonly text: string
  /** Blocks of code, quotes and pasted paragraphs, of which `text` has the first characters. */
  readonly fences: number
  readonly quotes: number
  readonly pastes: number
}

/** Characters that are looked at, from the front and from the end, so that a text of any size takes the same time. */
const looked = { front: 24_000, end: 12_000 }
/** Characters that are kept. */
const kept = { front: 4_000, end: 2_000 }
/** Characters of a block that are kept, and characters from which a paragraph beside a shorter one is pasted. */
const excerpt = 200
const pasted = 1_500
/** Characters without a blank from which a word is encoded data. */
const encoded = 200

/** Cleans what a user said in one turn. */
export function clean(said: string): Cleaned {
  const own = withoutData(joined(said))
  const counts = { fences: 0, quotes: 0, pastes: 0 }
  const blocks = own.length > excerpt ? blocksOf(own) : undefined
  const shorter = blocks?.some(({ kind, text }) => kind === 'prose' && text.length <= pasted) ?? false
  const texts = blocks?.map(({ kind, text }) => {
    if (kind === 'fence') {
      counts.fences++
      return text.length <= excerpt ? text : `${text.slice(0, excerpt)}\n\`\`\``
    }
    if (kind === 'quote') {
      counts.quotes++
      return text.slice(0, excerpt)
    }
    if (text.length <= pasted || !shorter) return text
    counts.pastes++
    return `> ${text.slice(0, excerpt).replaceAll('\n', '\n> ')}`
  })
  return { text: bounded(withoutPhrases((texts?.join('\n\n') ?? own).trim())), ...counts }
}

/** The user's own words, from the front and the end of a long text. */
function joined(said: string): string {
  if (said.length <= looked.front + looked.end) return withoutInjected(said).trim()
  const front = withoutInjected(said.slice(0, looked.front), true)
  const end = withoutInjected(afterInjected(said.slice(-looked.end)))
  return `${front.trim()}\n\n${end.trim()}`.trim()
}

function bounded(text: string): string {
  if (text.length <= kept.front + kept.end) return text
  return `${text.slice(0, kept.front)}${text.slice(-kept.end)}`
}

/** A text without base64. */
function withoutData(text: string): string {
  if (text.length < encoded) return text
  const pieces: string[] = []
  let from = 0
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && isBase64(text.charCodeAt(at))) continue
    if (at - start >= encoded) {
      pieces.push(text.slice(from, start).replace(/data:[\w/.+-]{0,64};base64,$/i, ''))
      from = at
    }
    start = at + 1
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(from)
}

function isBase64(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 47 && code <= 57) ||
    code === 43 ||
    code === 61 ||
    code === 95 ||
    code === 45
  )
}

interface Block {
  readonly kind: 'prose' | 'fence' | 'quote'
  readonly text: string
}

/** The fenced blocks, the quotes and the paragraphs of a text. */
function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = []
  let lines: string[] = []
  let kind: Block['kind'] = 'prose'
  let fence = ''
  const end = () => {
    const own = lines.join('\n').trim()
    if (own !== '') blocks.push({ kind, text: own })
    lines = []
    kind = 'prose'
  }
  for (const line of text.split('\n')) {
    const lead = line.trimStart()
    if (kind === 'fence') {
      lines.push(line)
      if (lead.startsWith(fence)) end()
    } else if (lead.startsWith('```') || lead.startsWith('~~~')) {
      end()
      kind = 'fence'
      fence = lead.slice(0, 3)
      lines.push(line)
    } else if (lead === '') end()
    else {
      const quoted = lead.startsWith('>')
      if (quoted !== (kind === 'quote')) end()
      if (quoted) kind = 'quote'
      lines.push(line)
    }
  }
  end()
  return blocks
}
