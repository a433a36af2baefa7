import type { Asked, EventPrinter, Frame, GenerateEvent, Item, Loss, StopReason, Usage } from '../../../engine/index.ts'
import { Losses, word } from '../../../engine/kit.ts'
import { InOrder } from '../in-order.ts'
import type { ItemEvent } from '../in-order.ts'
import { errorFrame } from './errors.ts'
import { BlockFrames, frame } from './frames.ts'
import type { ItemPrinter } from './frames.ts'
import { messageId, ownRest, replyUsage } from './reply-fields.ts'
import { printStop } from './stop.ts'
import { mergeUsage } from './usage.ts'
import { isForeignSearch, searchCounter } from './web-search.ts'
import { protocol } from './wire.ts'
import { CallPrinter, OpaquePrinter, SearchPrinter } from './print-call-events.ts'
import { TextPrinter, ThinkingPrinter } from './print-text-events.ts'

type Finish = Extract<GenerateEvent, { type: 'finish' }>

/**
 * Prints an answer for a client: blocks in sequence, each with start, deltas and stop. While one item is open, the
 * events of other items wait.
 */
export class MessagesPrinter implements EventPrinter<GenerateEvent> {
  readonly #asked: Asked
  readonly #losses = new Losses(protocol)
  readonly #blocks = new BlockFrames()
  readonly #order = new InOrder()
  /** Of the open item; undefined if this protocol has no block for it. */
  #writer: ItemPrinter | undefined
  #usage: Usage | undefined
  #tier: string | undefined
  #refused = false
  /** Items of another protocol's web search. */
  readonly #searches = new Set<number>()
  #state: 'new' | 'open' | 'done' = 'new'

  constructor(asked: Asked) {
    this.#asked = asked
  }

  get losses(): readonly Loss[] {
    return this.#losses.list()
  }

  print(event: GenerateEvent): readonly Frame[] {
    if (this.#state === 'done') return []
    switch (event.type) {
      case 'start':
        this.#usage = event.usage
        this.#tier = event.serviceTier
        return this.#start(event.model)
      case 'usage':
        this.#usage = event.usage
        return []
      case 'finish':
        return [...this.#start(), ...this.#written(this.#order.flush()), ...this.#finish(event)]
      case 'failure':
        this.#state = 'done'
        return [errorFrame(event.failure, this.#asked.id)]
      case 'item':
        return [...this.#start(), ...this.#item(event, event.item)]
      default:
        return this.#item(event)
    }
  }

  #start(model = this.#asked.model): readonly Frame[] {
    if (this.#state !== 'new') return []
    this.#state = 'open'
    const message = {
      id: messageId(this.#asked),
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: replyUsage({
        ...(this.#usage ? { usage: this.#usage } : {}),
        ...(this.#tier ? { serviceTier: this.#tier } : {}),
      }),
    }
    return [frame({ type: 'message_start', message })]
  }

  #item(event: ItemEvent, opened?: Item): readonly Frame[] {
    if (event.type === 'part' && event.kind === 'refusal') this.#refused = true
    if (opened && isForeignSearch(opened)) this.#searches.add(event.index)
    else if (opened) this.#searches.delete(event.index)
    return this.#written(this.#order.take(event))
  }

  #written(events: Iterable<ItemEvent>): readonly Frame[] {
    const frames: Frame[] = []
    for (const event of events) {
      if (event.type === 'item') this.#writer = itemWriter(event.item, this.#blocks, this.#asked, this.#losses)
      for (const frame of this.#writer?.write(event) ?? []) frames.push(frame)
    }
    return frames
  }

  #finish({ stop, stopSequence, usage = this.#usage, rest }: Finish): readonly Frame[] {
    this.#state = 'done'
    const { usage: counters, ...fields } = ownRest(rest, this.#losses)
    const delta = { ...fields, stop_reason: printStop(this.#stop(stop)), stop_sequence: stopSequence ?? null }
    const counted = { ...replyUsage(usage ? { usage } : {}), ...searchCounter(this.#searches.size) }
    const total = mergeUsage(counted, counters)
    return [frame({ type: 'message_delta', delta, usage: total }), frame({ type: 'message_stop' })]
  }

  /** A refusal is a part in other protocols. This protocol has only the stop reason for it. */
  #stop(stop: StopReason): StopReason {
    return this.#refused && stop === 'end' ? 'refusal' : stop
  }
}

/** The printer of an item; undefined if this protocol has no block for it. */
function itemWriter(item: Item, blocks: BlockFrames, asked: Asked, losses: Losses): ItemPrinter | undefined {
  switch (item.type) {
    case 'message':
      for (const part of item.content) losses.add(`content[].${part.type}`, 'answers are written text here')
      return new TextPrinter(blocks, asked, losses)
    case 'reasoning':
      return new ThinkingPrinter(item, blocks, asked.origin)
    case 'call':
      return new CallPrinter(item, blocks)
    case 'result':
      losses.add('content[].result', 'answers hold no results of tools here')
      return undefined
    case 'opaque':
      if (item.protocol === protocol) return new OpaquePrinter(item, blocks)
      if (item.search) return new SearchPrinter(item, blocks, asked)
      losses.add(`content[].${word(item.value.type)}`, `only ${item.protocol} knows it`)
      return undefined
  }
}
