import type { Annotation, Asked, Item, JsonObject, Part, ToolCall } from '../../../engine/index.ts'
import { word } from '../../../engine/kit.ts'
import type { Losses } from '../../../engine/kit.ts'
import { inputObject } from './print-turns.ts'
import { clientThinking, messageSeal } from './thinking.ts'
import { citation, searchBlocks } from './web-search.ts'
import { protocol } from './wire.ts'

/** The name of a called tool. The protocol has no namespaces. */
export function callName({ name, namespace }: ToolCall): string {
  return namespace === undefined ? name : `${namespace}__${name}`
}

/** The blocks of one item of an answer, for a client. */
export function replyBlocks(item: Item, asked: Asked, losses: Losses): readonly JsonObject[] {
  switch (item.type) {
    case 'message': {
      const seal = messageSeal(item.seal, asked.origin)
      return [...item.content.flatMap((part) => textBlock(part, asked, losses)), ...(seal ? [seal] : [])]
    }
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
      if (item.search) return searchBlocks(item, asked.origin)
      losses.add(`content[].${word(item.value.type)}`, `only ${item.protocol} knows it`)
      return []
  }
}

function textBlock(part: Part, asked: Asked, losses: Losses): readonly JsonObject[] {
  if (part.type !== 'text' && part.type !== 'refusal') {
    losses.add(`content[].${part.type}`, 'answers are written text here')
    return []
  }
  if (part.type === 'refusal') return part.text === '' ? [] : [{ type: 'text', text: part.text }]
  if (part.logprobs) losses.add('logprobs', 'the protocol has no such field')
  const citations = replyCitations(part.annotations, asked, losses)
  if (part.text === '' && citations.length === 0) return []
  return [{ type: 'text', text: part.text, ...(citations.length > 0 ? { citations } : {}) }]
}

/** Citations for a client; those that only another protocol has are lost. */
export function replyCitations(
  annotations: readonly Annotation[] = [],
  { origin }: Asked,
  losses: Losses,
): readonly JsonObject[] {
  return annotations.flatMap((annotation) => {
    const printed = citation(annotation, origin)
    if (!printed) losses.add('content[].annotations', 'citations of other protocols have no form here')
    return printed ? [printed] : []
  })
}
