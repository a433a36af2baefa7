import type { Asked, Item, JsonObject, Part, ToolCall } from '../../../engine/index.ts'
import { word } from '../../../engine/index.ts'
import type { Losses } from './losses.ts'
import { nativeCitations } from './print-parts.ts'
import { inputObject } from './print-turns.ts'
import { clientThinking } from './thinking.ts'
import { protocol } from './wire.ts'

/** The name of a called tool; the wire has no namespaces. */
export function callName({ name, namespace }: ToolCall): string {
  return namespace === undefined ? name : `${namespace}__${name}`
}

/** The blocks of one item of an answer, as a client gets them. */
export function replyBlocks(item: Item, asked: Asked, losses: Losses): readonly JsonObject[] {
  switch (item.type) {
    case 'message':
      return item.content.flatMap((part) => textBlock(part, losses))
    case 'reasoning': {
      const block = clientThinking(item, asked.origin)
      return block ? [block] : []
    }
    case 'call': {
      const input = item.kind === 'custom' ? { input: item.input } : inputObject(item.input)
      return [{ type: 'tool_use', id: item.callId, name: callName(item), input }]
    }
    case 'result':
      losses.add('content[].result', 'answers hold no results of tools here')
      return []
    case 'opaque':
      if (item.protocol === protocol) return [item.value]
      losses.add(`content[].${word(item.value.type)}`, `only ${item.protocol} knows it`)
      return []
  }
}

function textBlock(part: Part, losses: Losses): readonly JsonObject[] {
  if (part.type !== 'text' && part.type !== 'refusal') {
    losses.add(`content[].${part.type}`, 'answers are written text here')
    return []
  }
  if (part.type === 'refusal') return part.text === '' ? [] : [{ type: 'text', text: part.text }]
  if (part.logprobs) losses.add('logprobs', 'the protocol has no such field')
  const citations = nativeCitations(part.annotations, 'content[].annotations', losses)
  if (part.text === '' && citations.length === 0) return []
  return [{ type: 'text', text: part.text, ...(citations.length > 0 ? { citations } : {}) }]
}
