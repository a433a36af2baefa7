import type {
  GenerateRequest,
  Item,
  JsonObject,
  Message,
  Part,
  Reasoning,
  ToolCall,
  ToolResult,
} from '../../engine/index.ts'
import { PairedCalls, word } from '../../engine/kit.ts'
import type { Losses } from '../../engine/kit.ts'

/** A turn under construction, with its calls. */
export interface PrintedTurn {
  readonly role: 'user' | 'assistant' | 'system'
  readonly blocks: JsonObject[]
  readonly calls: ToolCall[]
}

/** How a protocol of turns prints what stands in them. */
export interface Blocks {
  readonly protocol: string
  readonly losses: Losses
  /** Whether the protocol has turns of the system in mid-conversation. */
  readonly systemTurns: boolean
  readonly text: (text: string) => JsonObject
  /** Blocks of a message, without blank texts. */
  readonly content: (parts: readonly Part[], role: Message['role']) => readonly JsonObject[]
  /** Undefined for reasoning of another model. */
  readonly reasoning: (item: Reasoning) => JsonObject | undefined
  /** @param id unique among the calls, and accepted by every protocol */
  readonly call: (call: ToolCall, id: string) => readonly JsonObject[]
  readonly result: (result: Pick<ToolResult, 'content' | 'error' | 'cache'>, id: string) => readonly JsonObject[]
}

/** The first turn of a conversation that does not begin with the user's, which these protocols require. */
const opening = '(conversation starts)'
const cancelled = '(cancelled: there is no result)'

/** Blocks of the system text: the leading system messages. */
export function systemBlocks({ items }: GenerateRequest, blocks: Blocks): JsonObject[] {
  return items.slice(0, leading(items)).flatMap((item) => (item.type === 'message' ? said(item, blocks) : []))
}

/**
 * The turns of a conversation in the order that these protocols require: the user's turn first, then alternating roles.
 * A turn with calls is followed by a user's turn that begins with one result for every call.
 */
export function turns({ items }: GenerateRequest, blocks: Blocks): PrintedTurn[] {
  const calls = new PairedCalls(items)
  const drafts: PrintedTurn[] = []
  const turn = (role: PrintedTurn['role']) => {
    const last = drafts.at(-1)
    if (last?.role === role) return last
    const opened = { role, blocks: [], calls: [] }
    drafts.push(opened)
    return opened
  }
  for (const item of items.slice(leading(items))) place(item, turn, calls, blocks)
  return merged(
    drafts.flatMap((draft) => withAnswers(draft, calls, blocks)),
    blocks,
  )
}

function leading(items: readonly Item[]): number {
  const first = items.findIndex((item) => item.type !== 'message' || !isSystem(item))
  return first < 0 ? items.length : first
}

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

function said(item: Message, { losses, content }: Blocks): readonly JsonObject[] {
  if (item.name !== undefined) losses.add('messages[].name', 'participants have no names here')
  if (item.phase !== undefined) losses.add('messages[].phase', 'messages have no phases here')
  return content(item.content, item.role)
}

function add({ blocks }: PrintedTurn, more: readonly JsonObject[]): void {
  for (const block of more) blocks.push(block)
}

/** Adds an item to its turn. The result of a call only opens a turn: it is printed with the calls of its own turn. */
function place(item: Item, turn: (role: PrintedTurn['role']) => PrintedTurn, all: PairedCalls, blocks: Blocks): void {
  const { losses } = blocks
  switch (item.type) {
    case 'message':
      add(turn(messageRole(item, blocks)), said(item, blocks))
      return
    case 'reasoning': {
      const block = blocks.reasoning(item)
      if (block) turn('assistant').blocks.push(block)
      else losses.add('reasoning', 'it comes from another model')
      return
    }
    case 'call': {
      const assistant = turn('assistant')
      add(assistant, blocks.call(item, all.id(item)))
      assistant.calls.push(item)
      return
    }
    case 'result':
      add(turn('user'), all.call(item) ? [] : orphan(item, blocks))
      return
    case 'opaque':
      if (item.protocol === blocks.protocol) {
        turn(item.role ?? 'assistant').blocks.push(item.value)
        return
      }
      losses.add(`input.${word(item.value.type)}`, `only ${item.protocol} knows it`)
      if (item.instead) place(item.instead, turn, all, blocks)
  }
}

function messageRole(item: Message, { systemTurns, losses }: Blocks): PrintedTurn['role'] {
  if (item.role === 'user' || item.role === 'assistant') return item.role
  if (systemTurns) return 'system'
  losses.add('messages[].role', 'system text in mid-conversation became a text of the user')
  return 'user'
}

function orphan(item: ToolResult, { losses, content, text }: Blocks): readonly JsonObject[] {
  losses.add('tool_call_id', 'a result without its call became a text of the user')
  const blocks = content(item.content, 'user')
  return blocks.length === 0 ? [] : [text('Result of an earlier tool call:'), ...blocks]
}

/** A turn. If it has calls, a user's turn with their results follows, in their order of arrival. */
function withAnswers(turn: PrintedTurn, all: PairedCalls, blocks: Blocks): PrintedTurn[] {
  if (turn.calls.length === 0) return [turn]
  const found = turn.calls.map((call) => ({ id: all.id(call), answer: all.answer(call) }))
  found.sort((one, other) => (one.answer?.at ?? Infinity) - (other.answer?.at ?? Infinity))
  const results = found.flatMap(({ id, answer }) => blocks.result(answer?.result ?? unanswered(blocks), id))
  return [turn, { role: 'user', blocks: results, calls: [] }]
}

function unanswered({ losses }: Blocks): Pick<ToolResult, 'content' | 'error'> {
  losses.add('messages', 'a call without a result was answered as cancelled')
  return { content: [{ type: 'text', text: cancelled }], error: true }
}

/** The turns with content. Adjacent turns of one role are joined, and the first one is the user's. */
function merged(drafts: readonly PrintedTurn[], { text }: Blocks): PrintedTurn[] {
  const list: PrintedTurn[] = []
  for (const draft of drafts) {
    if (draft.blocks.length === 0) continue
    const last = list.at(-1)
    if (last?.role === draft.role) add(last, draft.blocks)
    else list.push(draft)
  }
  if (list[0]?.role !== 'user') list.unshift({ role: 'user', blocks: [text(opening)], calls: [] })
  return list
}
