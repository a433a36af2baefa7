import type { GenerateRequest, Item, JsonObject, Message, ToolCall, ToolResult } from '../../../engine/index.ts'
import { PairedCalls, isObject, parseVerbatim, word } from '../../../engine/kit.ts'
import { messageBlocks, resultContent } from './print-parts.ts'
import { cacheControl } from './printing.ts'
import type { Printing } from './printing.ts'
import { upstreamThinking } from './thinking.ts'
import { protocol } from './wire.ts'

/** A turn under construction, with its calls. */
export interface PrintedTurn {
  readonly role: 'user' | 'assistant' | 'system'
  readonly blocks: JsonObject[]
  readonly calls: ToolCall[]
}

/** The first turn of a conversation that does not begin with the user's, which the protocol requires. */
const opening = '(conversation starts)'
const cancelled = '(cancelled: there is no result)'

/** Blocks of the system text: the leading system messages. */
export function systemBlocks({ items }: GenerateRequest, printing: Printing): JsonObject[] {
  return items.slice(0, leading(items)).flatMap((item) => (item.type === 'message' ? said(item, printing) : []))
}

/**
 * The turns of a conversation in the order that the protocol requires: the user's turn first, then alternating roles.
 * A turn with calls is followed by a user's turn that begins with one result for every call.
 */
export function turns({ items }: GenerateRequest, printing: Printing): PrintedTurn[] {
  const calls = new PairedCalls(items)
  const drafts: PrintedTurn[] = []
  const turn = (role: PrintedTurn['role']) => {
    const last = drafts.at(-1)
    if (last?.role === role) return last
    const opened = { role, blocks: [], calls: [] }
    drafts.push(opened)
    return opened
  }
  for (const item of items.slice(leading(items))) place(item, turn, calls, printing)
  return merged(drafts.flatMap((draft) => withAnswers(draft, calls, printing)))
}

function leading(items: readonly Item[]): number {
  const first = items.findIndex((item) => item.type !== 'message' || !isSystem(item))
  return first < 0 ? items.length : first
}

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

function said(item: Message, printing: Printing): JsonObject[] {
  if (item.name !== undefined) printing.losses.add('messages[].name', 'participants have no names here')
  if (item.phase !== undefined) printing.losses.add('messages[].phase', 'messages have no phases here')
  return messageBlocks(item.content, item.role, printing)
}

function add({ blocks }: PrintedTurn, more: readonly JsonObject[]): void {
  for (const block of more) blocks.push(block)
}

/** Adds an item to its turn. The result of a call only opens a turn: it is printed with the calls of its own turn. */
function place(
  item: Item,
  turn: (role: PrintedTurn['role']) => PrintedTurn,
  all: PairedCalls,
  printing: Printing,
): void {
  switch (item.type) {
    case 'message':
      add(turn(messageRole(item, printing)), said(item, printing))
      return
    case 'reasoning': {
      const block = upstreamThinking(item, printing.target.origin)
      if (block) turn('assistant').blocks.push(block)
      else printing.losses.add('reasoning', 'it comes from another model')
      return
    }
    case 'call': {
      const { blocks, calls } = turn('assistant')
      blocks.push(toolUse(item, all.id(item), printing))
      calls.push(item)
      return
    }
    case 'result':
      add(turn('user'), all.call(item) ? [] : orphan(item, printing))
      return
    case 'opaque':
      if (item.protocol === protocol) {
        turn(item.role ?? 'assistant').blocks.push(item.value)
        return
      }
      printing.losses.add(`input.${word(item.value.type)}`, `only ${item.protocol} knows it`)
      if (item.instead) place(item.instead, turn, all, printing)
  }
}

function messageRole(item: Message, { traits, losses }: Printing): PrintedTurn['role'] {
  if (item.role === 'user' || item.role === 'assistant') return item.role
  if (traits.system_messages) return 'system'
  losses.add('messages[].role', 'system text in mid-conversation became a text of the user')
  return 'user'
}

function orphan(item: ToolResult, printing: Printing): JsonObject[] {
  printing.losses.add('tool_call_id', 'a result without its call became a text of the user')
  const blocks = messageBlocks(item.content, 'user', printing)
  return blocks.length === 0 ? [] : [{ type: 'text', text: 'Result of an earlier tool call:' }, ...blocks]
}

/** A turn. If it has calls, a user's turn with their results follows, in their order of arrival. */
function withAnswers(turn: PrintedTurn, all: PairedCalls, printing: Printing): PrintedTurn[] {
  if (turn.calls.length === 0) return [turn]
  const found = turn.calls.map((call) => ({ id: all.id(call), answer: all.answer(call) }))
  found.sort((one, other) => (one.answer?.at ?? Infinity) - (other.answer?.at ?? Infinity))
  const blocks = found.map(({ id, answer }) => toolResult(id, answer?.result, printing))
  return [turn, { role: 'user', blocks, calls: [] }]
}

/** The turns with content. Adjacent turns of one role are joined, and the first one is the user's. */
function merged(drafts: readonly PrintedTurn[]): PrintedTurn[] {
  const list: PrintedTurn[] = []
  for (const draft of drafts) {
    if (draft.blocks.length === 0) continue
    const last = list.at(-1)
    if (last?.role === draft.role) add(last, draft.blocks)
    else list.push(draft)
  }
  if (list[0]?.role !== 'user') list.unshift({ role: 'user', blocks: [{ type: 'text', text: opening }], calls: [] })
  return list
}

function toolUse(call: ToolCall, id: string, printing: Printing): JsonObject {
  return {
    type: 'tool_use',
    id,
    name: printing.names.printed(call),
    input: call.kind === 'custom' ? { input: call.input } : inputObject(call.input),
    ...cacheControl(call.cache, printing),
  }
}

function toolResult(id: string, result: ToolResult | undefined, printing: Printing): JsonObject {
  if (!result) {
    printing.losses.add('messages', 'a call without a result was answered as cancelled')
    return { type: 'tool_result', tool_use_id: id, content: cancelled, is_error: true }
  }
  const content = resultContent(result.content, printing)
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content === undefined ? {} : { content }),
    ...(result.error === true ? { is_error: true } : {}),
    ...cacheControl(result.cache, printing),
  }
}

/** Arguments as an object, which the protocol requires. Other text is wrapped, so that the model sees its mistake. */
export function inputObject(text: string): JsonObject {
  if (text.trim() === '') return {}
  try {
    const parsed: unknown = parseVerbatim(text, 'all')
    if (isObject(parsed)) return parsed
  } catch {
    // Wrapped below, like JSON that is no object.
  }
  return { _invalid_json: text }
}
