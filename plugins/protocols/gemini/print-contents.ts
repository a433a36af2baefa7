import type {
  GenerateRequest,
  Item,
  JsonObject,
  Message,
  Reasoning,
  ToolCall,
  ToolResult,
} from '../../../engine/index.ts'
import { PairedCalls, isObject, parseVerbatim, word } from '../../../engine/kit.ts'
import { isMedia, printParts } from './print-parts.ts'
import type { Printing } from './printing.ts'
import { placeholderSignature } from './signatures.ts'
import { protocol } from './wire.ts'

/** A turn under construction, with its calls. */
interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: JsonObject[]
  readonly calls: ToolCall[]
  /** The signature of the part that comes next. */
  next?: string
}

/** The first turn of a conversation that does not begin with the user's, which the protocol requires. */
const opening = '(conversation starts)'
const cancelled = '(cancelled: there is no result)'

/** The leading system messages as parts. */
export function systemParts({ items }: GenerateRequest, printing: Printing): JsonObject[] {
  return items
    .slice(0, leading(items))
    .flatMap((item) => (item.type === 'message' ? said(item, printing) : []))
    .filter((part) => {
      if (!isMedia(part)) return true
      printing.losses.add('systemInstruction', 'only users and tools can show media')
      return false
    })
}

/**
 * The turns of a conversation in the order that the protocol requires: the user's turn first, then alternating roles. A
 * turn with calls is followed by a user's turn that begins with one result for every call.
 */
export function contents({ items }: GenerateRequest, printing: Printing): JsonObject[] {
  const calls = new PairedCalls(items)
  const turns: Turn[] = []
  const turn = (role: Turn['role']) => {
    const last = turns.at(-1)
    if (last?.role === role) return last
    const opened = { role, parts: [], calls: [] }
    turns.push(opened)
    return opened
  }
  for (const item of items.slice(leading(items))) place(item, turn, calls, printing)
  return merged(turns.flatMap((one) => withResults(one, calls, printing)))
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
  return printParts(item.content, printing)
}

function add(turn: Turn, more: readonly JsonObject[]): void {
  if (more.length > 0) settle(turn)
  for (const part of more) turn.parts.push(part)
}

/** A signature whose part the client has not kept, or which ends the text before it, gets an empty part of its own. */
function settle(turn: Turn): void {
  if (turn.next === undefined) return
  turn.parts.push({ text: '', thoughtSignature: turn.next })
  delete turn.next
}

/** Adds an item to its turn. The result of a call only opens a turn: it is printed with the calls of its own turn. */
function place(item: Item, turn: (role: Turn['role']) => Turn, all: PairedCalls, printing: Printing): void {
  switch (item.type) {
    case 'message':
      add(turn(roleOf(item, printing)), said(item, printing))
      return
    case 'reasoning':
      think(item, turn, printing)
      return
    case 'call': {
      const own = turn('model')
      own.parts.push(functionCall(item, all.id(item), own, printing))
      own.calls.push(item)
      delete own.next
      return
    }
    case 'result':
      add(turn('user'), all.call(item) ? [] : orphan(item, printing))
      return
    case 'opaque':
      if (item.protocol === protocol) {
        // What a search found belongs to an answer, and is no part of a conversation.
        if (!item.value.groundingMetadata) add(turn(item.role === 'user' ? 'user' : 'model'), [item.value])
        return
      }
      printing.losses.add(`input.${word(item.value.type)}`, `only ${item.protocol} knows it`)
      if (item.instead) place(item.instead, turn, all, printing)
  }
}

function roleOf(item: Message, { losses }: Printing): Turn['role'] {
  if (item.role === 'assistant') return 'model'
  if (item.role !== 'user') losses.add('messages[].role', 'system text in mid-conversation became a text of the user')
  return 'user'
}

/** Thoughts go back to the provider and model that had them. A signature belongs to its thought, or to what follows. */
function think({ parts, seal }: Reasoning, turn: (role: 'model') => Turn, { target, losses }: Printing): void {
  if (seal?.origin !== target.origin || seal.kind === 'encrypted' || seal.data === '') {
    losses.add('reasoning', 'it has no signature of this model')
    return
  }
  const own = turn('model')
  const text = parts.map((part) => part.text).join('')
  if (seal.kind === 'signature') add(own, [{ text, thought: true, thoughtSignature: seal.data }])
  else {
    if (text !== '') add(own, [{ text, thought: true }])
    settle(own)
    const last = own.parts.at(-1)
    if (text === '' && last && isMedia(last) && last.thoughtSignature === undefined)
      own.parts[own.parts.length - 1] = { ...last, thoughtSignature: seal.data }
    else own.next = seal.data
  }
}

/**
 * A call with its signature. The vendor wants one at the first call of a turn, also where another model made the call
 * (ai.google.dev/gemini-api/docs/thought-signatures).
 */
function functionCall(call: ToolCall, id: string, turn: Turn, { names, traits }: Printing): JsonObject {
  const first = turn.calls.length === 0 && traits.placeholder_signatures
  const signature = turn.next ?? (first ? placeholderSignature : undefined)
  const args = call.kind === 'custom' ? { input: call.input } : argumentsOf(call.input)
  return {
    functionCall: { ...(traits.call_ids ? { id } : {}), name: names.printed(call), args },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }
}

/** Arguments as an object, which the protocol requires. Other text is wrapped, so that the model sees its mistake. */
export function argumentsOf(text: string): JsonObject {
  if (text.trim() === '') return {}
  try {
    const parsed: unknown = parseVerbatim(text, 'all')
    if (isObject(parsed)) return parsed
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return { _invalid_json: text }
}

function orphan(item: ToolResult, printing: Printing): JsonObject[] {
  printing.losses.add('tool_call_id', 'a result without its call became a text of the user')
  const parts = printParts(item.content, printing)
  return parts.length === 0 ? [] : [{ text: 'Result of an earlier tool call:' }, ...parts]
}

/** A turn. If it has calls, a user's turn with their results follows, in the order of the calls. */
function withResults(turn: Turn, all: PairedCalls, printing: Printing): Turn[] {
  settle(turn)
  if (turn.calls.length === 0) return [turn]
  const results = turn.calls.map((call) => functionResponse(call, all.id(call), all.answer(call)?.result, printing))
  // The vendor counts as many results as calls before it reads anything else.
  const parts = [...results.map(({ response }) => response), ...results.flatMap(({ media }) => media)]
  return [turn, { role: 'user', parts, calls: [] }]
}

function functionResponse(call: ToolCall, id: string, result: ToolResult | undefined, printing: Printing) {
  const { names, traits, losses } = printing
  if (!result) losses.add('messages', 'a call without a result was answered as cancelled')
  const content = result ? printParts(result.content, printing) : []
  const text = content.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n')
  const media = content.filter((part) => typeof part.text !== 'string')
  const response = result ? { [result.error === true ? 'error' : 'result']: text } : { error: cancelled }
  const own = traits.result_media && media.length > 0
  return {
    response: {
      functionResponse: {
        ...(traits.call_ids ? { id } : {}),
        name: names.printed(call),
        response,
        ...(own ? { parts: media } : {}),
      },
    },
    media: own ? [] : media,
  }
}

/** The turns with content. Adjacent turns of one role are joined, and the first one is the user's. */
function merged(turns: readonly Turn[]): JsonObject[] {
  const list: { role: string; parts: JsonObject[] }[] = []
  for (const { role, parts } of turns) {
    if (parts.length === 0) continue
    const last = list.at(-1)
    if (last?.role === role) for (const part of parts) last.parts.push(part)
    else list.push({ role, parts })
  }
  if (list[0]?.role !== 'user') list.unshift({ role: 'user', parts: [{ text: opening }] })
  return list
}
