import type { JsonObject, Reasoning, ToolCall, ToolResult } from '../../../engine/index.ts'
import { callInput } from '../messages/print-turns.ts'
import { upstreamThinking } from '../messages/thinking.ts'
import type { Blocks, PrintedTurn } from '../turns.ts'
import { messageBlocks, resultBlocks } from './print-parts.ts'
import { pointAfter } from './printing.ts'
import type { Printing } from './printing.ts'
import { protocol } from './wire.ts'

/** The blocks of turns in this protocol. */
export function blocksOf(printing: Printing): Blocks {
  return {
    protocol,
    losses: printing.losses,
    systemTurns: false,
    text: (text) => ({ text }),
    content: (parts, role) => messageBlocks(parts, role, printing),
    reasoning: (item) => reasoningBlock(item, printing),
    call: (call, id) => [toolUse(call, id, printing), ...pointAfter(call.cache, printing)],
    result: (result, id) => toolResult(result, id, printing),
  }
}

/** Whether the last turn of the assistant has calls, and no reasoning before them. */
export function unthought(turns: readonly PrintedTurn[]): boolean {
  const last = turns.findLast((turn) => turn.role === 'assistant')
  return last?.blocks.some((block) => 'toolUse' in block) === true && !('reasoningContent' in (last.blocks[0] ?? {}))
}

function reasoningBlock(item: Reasoning, { target }: Printing): JsonObject | undefined {
  const block = upstreamThinking(item, target.origin)
  if (!block) return undefined
  const reasoningContent =
    block.type === 'thinking'
      ? { reasoningText: { text: block.thinking, signature: block.signature } }
      : { redactedContent: block.data }
  return { reasoningContent }
}

function toolUse(call: ToolCall, id: string, { names }: Printing): JsonObject {
  return { toolUse: { toolUseId: id, name: names.printed(call), input: callInput(call) } }
}

function toolResult(
  { content: parts, error, cache }: Pick<ToolResult, 'content' | 'error' | 'cache'>,
  id: string,
  printing: Printing,
): JsonObject[] {
  const { content, mark } = resultBlocks(parts, printing)
  const told = printing.family === 'claude' || printing.family === 'nova'
  if (error === true && !told) printing.losses.add('is_error', 'the model takes no status of results')
  const status = error === true && told ? { status: 'error' } : {}
  return [{ toolResult: { toolUseId: id, content, ...status } }, ...pointAfter(cache ?? mark, printing)]
}
