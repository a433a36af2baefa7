import type { GenerateRequest, Item, Message } from '../../engine/index.ts'
import { clean } from './clean.ts'
import type { Cleaned } from './clean.ts'
import { isBlank } from './courtesy.ts'
import { isInjected } from './injected.ts'

/**
 * Characters of a request in which something is looked for that its client did not put there, and what each message
 * counts beside its own. Beyond them a message is taken for one in which the user says something, so that the loop is
 * not held up by many messages.
 */
const looked = 24_000
const perMessage = 100

/** What was found of the messages of a request, and the characters that are left to look at. */
interface Looking {
  readonly found: Map<Message, boolean>
  left: number
}

const lookings = new WeakMap<readonly Item[], Looking>()

/** The last turn of the user, and where it ends. */
export interface Turn extends Cleaned {
  /** Index of the first item after it: what follows are steps of the model. */
  readonly end: number
  readonly images: number
}

/**
 * The last turn of the user: the messages in a row in which the user says something, or shows an image. A message of
 * nothing but what its client put there is none.
 */
export function lastTurn({ items }: Pick<GenerateRequest, 'items'>): Turn {
  const end = turnEnd(items, items.length)
  const messages = turnBefore(items, end)
  const { text, fences, quotes, pastes } = clean(textOf(messages))
  return { text, fences, quotes, pastes, end, images: imagesOf(messages) }
}

/** The last text of the user, cleaned: of several messages in a row, the last one that has any. */
export function lastText({ items }: Pick<GenerateRequest, 'items'>): string {
  return latestTexts(items, 1)[0] ?? ''
}

/** The cleaned texts of the user before the last one, oldest first, whether or not they are of the same turn. */
export function earlierTexts({ items }: Pick<GenerateRequest, 'items'>, count: number): readonly string[] {
  return latestTexts(items, count + 1).slice(0, -1)
}

function latestTexts(items: readonly Item[], count: number): readonly string[] {
  const texts: string[] = []
  for (let end = turnEnd(items, items.length); texts.length < count && end > 0; end = turnEnd(items, end - 1)) {
    const { text } = clean(textOf([items[end - 1] as Message]))
    if (text !== '') texts.unshift(text)
  }
  return texts
}

/** How often the user had a turn. */
export function countTurns(items: readonly Item[]): number {
  let turns = 0
  let within = false
  for (const item of items) {
    if (!isUser(item)) within = false
    else if (!within && speaks(items, item)) {
      within = true
      turns++
    }
  }
  return turns
}

/** The index after the last message of the user before `end`; 0: there is none. */
function turnEnd(items: readonly Item[], end: number): number {
  for (let at = end; at > 0; at--) {
    const item = items[at - 1]
    if (isUser(item) && speaks(items, item)) return at
  }
  return 0
}

/** The messages of the user in a row before `end`. */
function turnBefore(items: readonly Item[], end: number): readonly Message[] {
  const messages: Message[] = []
  for (let at = end; at > 0; at--) {
    const item = items[at - 1]
    if (!isUser(item)) break
    messages.unshift(item)
  }
  return messages
}

function isUser(item: Item | undefined): item is Message {
  return item?.type === 'message' && item.role === 'user'
}

/** Whether the user says or shows anything in a message of a request. */
function speaks(items: readonly Item[], message: Message): boolean {
  const looking = lookings.get(items) ?? { found: new Map<Message, boolean>(), left: looked }
  lookings.set(items, looking)
  const known = looking.found.get(message)
  if (known !== undefined) return known
  const says = looking.left <= 0 || message.content.some((part) => saysSomething(part, looking))
  looking.found.set(message, says)
  return says
}

function saysSomething(part: Message['content'][number], looking: Looking): boolean {
  if (part.type !== 'text') return part.type !== 'refusal'
  const { text } = part
  // Most texts begin with a word.
  if (text !== '' && text[0] !== '<' && !isBlank(text, 0)) return true
  if (looking.left <= 0) return true
  const most = looking.left
  looking.left -= perMessage + text.length
  return !isInjected(text.slice(0, most), text.length > most)
}

function textOf(messages: readonly Message[]): string {
  let joined: string | undefined
  for (const { content } of messages)
    for (const part of content)
      if (part.type === 'text') joined = joined === undefined ? part.text : `${joined}\n\n${part.text}`
  return joined ?? ''
}

function imagesOf(messages: readonly Message[]): number {
  let images = 0
  for (const { content } of messages) for (const { type } of content) if (type === 'image') images++
  return images
}
