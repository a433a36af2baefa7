import type { JsonObject, ToolCall, ToolResult } from '../../../engine/index.ts'
import { isObject, parseVerbatim } from '../../../engine/kit.ts'
import type { Blocks } from '../turns.ts'
import { messageBlocks, resultContent } from './print-parts.ts'
import { cacheControl } from './printing.ts'
import type { Printing } from './printing.ts'
import { upstreamThinking } from './thinking.ts'
import { protocol } from './wire.ts'

/** The blocks of turns in this protocol. */
export function blocksOf(printing: Printing): Blocks {
  return {
    protocol,
    losses: printing.losses,
    systemTurns: printing.traits.system_messages,
    text: (text) => ({ type: 'text', text }),
    content: (parts, role) => messageBlocks(parts, role, printing),
    reasoning: (item) => upstreamThinking(item, printing.target.origin),
    call: (call, id) => [toolUse(call, id, printing)],
    result: (result, id) => [toolResult(result, id, printing)],
  }
}

function toolUse(call: ToolCall, id: string, printing: Printing): JsonObject {
  return {
    type: 'tool_use',
    id,
    name: printing.names.printed(call),
    input: callInput(call),
    ...cacheControl(call.cache, printing),
  }
}

function toolResult(
  result: Pick<ToolResult, 'content' | 'error' | 'cache'>,
  id: string,
  printing: Printing,
): JsonObject {
  const content = resultContent(result.content, printing)
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content === undefined ? {} : { content }),
    ...(result.error === true ? { is_error: true } : {}),
    ...cacheControl(result.cache, printing),
  }
}

/** The input of a call as an object; free text becomes its only property. */
export function callInput({ kind, input }: ToolCall): JsonObject {
  return kind === 'custom' ? { input } : inputObject(input)
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
