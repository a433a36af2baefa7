import type { GenerateEvent, GenerateReply, Item, Message, Reasoning } from '../../spec/generate.ts'
import type { Part } from '../../spec/part.ts'

/** A whole answer as stream events, for a client that requested a stream. */
export function* unfold(reply: GenerateReply): Iterable<GenerateEvent> {
  yield {
    type: 'start',
    ...(reply.id === undefined ? {} : { id: reply.id }),
    ...(reply.model === undefined ? {} : { model: reply.model }),
    ...(reply.created === undefined ? {} : { created: reply.created }),
    ...(reply.usage === undefined ? {} : { usage: reply.usage }),
    ...(reply.serviceTier === undefined ? {} : { serviceTier: reply.serviceTier }),
  }
  for (const [index, item] of reply.items.entries()) yield* itemEvents(index, item)
  yield {
    type: 'finish',
    stop: reply.stop,
    ...(reply.stopSequence === undefined ? {} : { stopSequence: reply.stopSequence }),
    ...(reply.usage === undefined ? {} : { usage: reply.usage }),
    ...(reply.further === undefined ? {} : { further: reply.further }),
    ...(reply.rest === undefined ? {} : { rest: reply.rest }),
  }
}

function* itemEvents(index: number, item: Item): Iterable<GenerateEvent> {
  switch (item.type) {
    case 'message':
      yield* messageEvents(index, item)
      break
    case 'reasoning':
      yield* reasoningEvents(index, item)
      break
    case 'call':
      yield { type: 'item', index, item: { ...item, input: '' } }
      if (item.input !== '') yield { type: 'delta', index, text: item.input }
      break
    case 'result':
    case 'opaque':
      yield { type: 'item', index, item }
  }
  yield { type: 'item-end', index }
}

function* messageEvents(index: number, item: Message): Iterable<GenerateEvent> {
  // Parts without a delta of their own (generated images, opaque parts) are sent with the item.
  const whole = item.content.filter((part) => part.type !== 'text' && part.type !== 'refusal')
  const { seal, ...open } = item
  yield { type: 'item', index, item: { ...open, content: whole } }
  for (const part of item.content) yield* partEvents(index, part)
  if (seal) yield { type: 'seal', index, seal }
}

function* partEvents(index: number, part: Part): Iterable<GenerateEvent> {
  if (part.type !== 'text' && part.type !== 'refusal') return
  yield { type: 'part', index, kind: part.type }
  const logprobs = part.type === 'text' ? part.logprobs : undefined
  if (part.text !== '') yield { type: 'delta', index, text: part.text, ...(logprobs ? { logprobs } : {}) }
  if (part.type === 'refusal') return
  for (const annotation of part.annotations ?? []) yield { type: 'annotation', index, annotation }
}

function* reasoningEvents(index: number, item: Reasoning): Iterable<GenerateEvent> {
  const { seal, ...open } = item
  yield { type: 'item', index, item: { ...open, parts: [] } }
  for (const part of item.parts) {
    yield { type: 'part', index, kind: part.kind === 'summary' ? 'summary' : 'reasoning' }
    if (part.text !== '') yield { type: 'delta', index, text: part.text }
  }
  if (seal) yield { type: 'seal', index, seal }
}
