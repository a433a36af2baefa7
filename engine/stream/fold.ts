import { GatewayError } from '../spec/error.ts'
import type { ErrorCode } from '../spec/error-table.ts'
import type { GenerateEvent, GenerateReply, Item, Reasoning, StopReason, ToolCall } from '../spec/generate.ts'
import type { Annotation, Logprob, Part } from '../spec/part.ts'
import type { Rest } from '../spec/tool.ts'
import type { Usage } from '../spec/usage.ts'

interface OpenPart {
  readonly kind: 'text' | 'refusal' | 'summary' | 'reasoning'
  text: string
  annotations: Annotation[]
  logprobs: Logprob[]
}

interface OpenItem {
  readonly item: Item
  readonly parts: OpenPart[]
  input: string
  seal: Reasoning['seal']
}

/** Assembles the events of a streamed answer into items, one event at a time. */
export class Fold {
  readonly #open: OpenItem[] = []
  #start: Extract<GenerateEvent, { type: 'start' }> | undefined
  #stop: StopReason = 'end'
  #stopSequence: string | undefined
  #usage: Usage | undefined
  #further: GenerateReply['further']
  #rest: Rest | undefined

  add(event: GenerateEvent): void {
    switch (event.type) {
      case 'start':
        this.#start = event
        if (event.usage) this.#usage = event.usage
        return
      case 'item':
        this.#open[event.index] = { item: event.item, parts: [], input: '', seal: undefined }
        return
      case 'part':
        this.#at(event.index).parts.push({ kind: event.kind, text: '', annotations: [], logprobs: [] })
        return
      case 'delta':
        this.#append(this.#at(event.index), event)
        return
      case 'annotation':
        this.#lastPart(event.index).annotations.push(event.annotation)
        return
      case 'seal':
        this.#at(event.index).seal = event.seal
        return
      case 'usage':
        this.#usage = event.usage
        return
      case 'finish':
        this.#stop = event.stop
        this.#stopSequence = event.stopSequence
        if (event.usage) this.#usage = event.usage
        this.#further = event.further
        this.#rest = event.rest
        return
      case 'item-end':
      case 'failure':
    }
  }

  /** The item at `index`, as far as it has arrived. */
  item(index: number): Item {
    return closed(this.#at(index))
  }

  /** All items so far, in the order in which they were opened. */
  items(): readonly Item[] {
    return this.#open.filter((entry) => entry !== undefined).map(closed)
  }

  reply(): GenerateReply {
    const start = this.#start
    return {
      ...(start?.id === undefined ? {} : { id: start.id }),
      ...(start?.model === undefined ? {} : { model: start.model }),
      ...(start?.created === undefined ? {} : { created: start.created }),
      ...(start?.serviceTier === undefined ? {} : { serviceTier: start.serviceTier }),
      items: this.items(),
      stop: this.#stop,
      ...(this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#further === undefined ? {} : { further: this.#further }),
      ...(this.#rest === undefined ? {} : { rest: this.#rest }),
    }
  }

  #at(index: number): OpenItem {
    const entry = this.#open[index]
    if (!entry) throw new GatewayError('upstream_invalid_response', { reason: `item ${index} was never opened` })
    return entry
  }

  #lastPart(index: number): OpenPart {
    const part = this.#at(index).parts.at(-1)
    if (!part) throw new GatewayError('upstream_invalid_response', { reason: `item ${index} has no open part` })
    return part
  }

  #append(entry: OpenItem, event: Extract<GenerateEvent, { type: 'delta' }>): void {
    if (entry.item.type === 'call') {
      entry.input += event.text
      return
    }
    const part = this.#lastPart(event.index)
    part.text += event.text
    for (const logprob of event.logprobs ?? []) part.logprobs.push(logprob)
  }
}

function closed({ item, parts, input, seal }: OpenItem): Item {
  switch (item.type) {
    case 'message':
      return { ...item, content: [...item.content, ...parts.map(messagePart)], ...(seal ? { seal } : {}) }
    case 'reasoning': {
      const read = parts.map(({ kind, text }) => ({
        kind: kind === 'summary' ? ('summary' as const) : ('text' as const),
        text,
      }))
      return { ...item, parts: [...item.parts, ...read], ...(seal ? { seal } : {}) }
    }
    case 'call':
      return { ...item, input: item.input + input } satisfies ToolCall
    case 'result':
    case 'opaque':
      return item
  }
}

function messagePart({ kind, text, annotations, logprobs }: OpenPart): Part {
  if (kind === 'refusal') return { type: 'refusal', text }
  return {
    type: 'text',
    text,
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(logprobs.length > 0 ? { logprobs } : {}),
  }
}

/** The whole answer that a stream of events describes. Throws the failure that the stream reports, if any. */
export function fold(events: Iterable<GenerateEvent>): GenerateReply {
  const folded = new Fold()
  for (const event of events) {
    if (event.type === 'failure') throw failed(event)
    folded.add(event)
  }
  return folded.reply()
}

/**
 * A failure in a stream as an error. It keeps the message of the upstream or of the stage that reported the failure.
 */
export function failed(
  { failure }: Extract<GenerateEvent, { type: 'failure' }>,
  code: ErrorCode = 'upstream_error',
): GatewayError {
  return new GatewayError(
    code,
    {},
    {
      status: failure.status,
      code: failure.code,
      type: failure.type,
      message: failure.message,
      ...(failure.param === null ? {} : { param: failure.param }),
      ...(failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter }),
      tags: [String(failure.status)],
    },
  )
}
