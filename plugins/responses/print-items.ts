import { defined, legalCallId, PairedCalls, word } from '../../engine/kit.ts'
import type { Item, JsonObject, Message, Reasoning, ToolCall, ToolResult } from '../../engine/index.ts'
import { printOutput, printParts } from './print-parts.ts'
import type { Printing } from './print-parts.ts'
import type { Naming } from './print-tools.ts'
import { printNative } from './reasoning.ts'
import { protocol } from './values.ts'

/** Context for printing the conversation. */
export interface Conversing extends Printing {
  readonly naming: Naming
  /** Reasoning of any other origin is dropped. */
  readonly origin: string
  /** The upstream stores the conversation, so it knows the ids of its items. */
  readonly stored: boolean
}

/** Prints the leading system texts as `instructions`, and the other items as input in their order. */
export function printItems(
  items: readonly Item[],
  conversing: Conversing,
): { instructions?: string; input: JsonObject[] } {
  const count = items.findIndex((item) => !isInstruction(item))
  // A conversation with only system texts stays in the input, which must not be empty.
  const leading = count < 0 ? [] : items.slice(0, count)
  const texts = leading.flatMap((item) => (item.type === 'message' ? [joined(item, conversing)] : []))
  const input = printInput(items.slice(leading.length), conversing)
  return texts.length > 0 ? { instructions: texts.join('\n\n'), input } : { input }
}

/** Prints items in their order. A call without a result gets one at the end of its turn; otherwise it is rejected. */
function printInput(items: readonly Item[], conversing: Conversing): JsonObject[] {
  const calls = new PairedCalls(items)
  const input: JsonObject[] = []
  let unanswered: JsonObject[] = []
  for (const item of items) {
    if (item.type !== 'call' && item.type !== 'reasoning') {
      for (const output of unanswered) input.push(output)
      unanswered = []
    }
    const printed = printItem(item, calls, conversing)
    if (printed) input.push(printed)
    if (item.type !== 'call' || calls.answer(item)) continue
    conversing.losses.add('input', 'a call without a result was answered as cancelled')
    unanswered.push(outputOf(item, calls.id(item), 'Error: the call was cancelled.', conversing))
  }
  return [...input, ...unanswered]
}

function isInstruction(item: Item): boolean {
  return item.type === 'message' && item.role === 'system' && item.content.every(({ type }) => type === 'text')
}

function joined(item: Message, { losses }: Printing): string {
  if (item.content.some((part) => 'cache' in part && part.cache)) {
    losses.add('cache_control', 'the responses protocol caches by prompt_cache_key')
  }
  return item.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n')
}

function printItem(item: Item, calls: PairedCalls, conversing: Conversing): JsonObject | undefined {
  switch (item.type) {
    case 'message':
      return printMessage(item, conversing)
    case 'reasoning':
      return printReasoning(item, conversing)
    case 'call':
      return printCall(item, calls.id(item), conversing)
    case 'result':
      return printResult(item, calls, conversing)
    case 'opaque':
      if (item.protocol === protocol) return item.value
      conversing.losses.add(`messages[].${word(item.value['type'])}`, 'only another protocol has this item')
      return item.instead && printMessage(item.instead, conversing)
  }
}

function printMessage(item: Message, conversing: Conversing): JsonObject | undefined {
  if (item.name !== undefined) conversing.losses.add('messages[].name', 'a message has no name')
  const content = printParts(item.content, item.role, conversing)
  if (content.length === 0) return undefined
  const role = item.role === 'system' ? 'developer' : item.role
  return defined({ type: 'message', role, content, phase: item.phase })
}

function printReasoning({ seal }: Reasoning, { losses, origin, stored }: Conversing): JsonObject | undefined {
  const item = seal?.origin === origin ? printNative(seal, stored) : undefined
  if (!item) losses.add('reasoning', 'it comes from another model or in the form of another protocol')
  return item
}

function printCall(call: ToolCall, callId: string, { losses, naming, traits }: Conversing): JsonObject {
  if (call.cache) losses.add('cache_control', 'the responses protocol caches by prompt_cache_key')
  const tied = {
    call_id: callId,
    name: naming.printed(call),
    ...(traits.namespaces ? defined({ namespace: call.namespace }) : {}),
  }
  if (call.kind === 'function') return { type: 'function_call', ...tied, arguments: call.input || '{}' }
  if (traits.custom_tools) return { type: 'custom_tool_call', ...tied, input: call.input }
  return { type: 'function_call', ...tied, arguments: JSON.stringify({ input: call.input }) }
}

/** Prints the result of an earlier call. If the upstream stores the call, the result keeps its id. */
function printResult(result: ToolResult, calls: PairedCalls, conversing: Conversing): JsonObject {
  if (result.cache) conversing.losses.add('cache_control', 'the responses protocol caches by prompt_cache_key')
  const call = calls.call(result)
  const output = printOutput(result.content, result.error === true, conversing)
  return outputOf(call ?? result, call ? calls.id(call) : legalCallId(result.callId), output, conversing)
}

function outputOf(
  { kind }: ToolCall | ToolResult,
  callId: string,
  output: string | JsonObject[],
  { traits }: Conversing,
): JsonObject {
  const custom = kind === 'custom' && traits.custom_tools
  return { type: custom ? 'custom_tool_call_output' : 'function_call_output', call_id: callId, output }
}
