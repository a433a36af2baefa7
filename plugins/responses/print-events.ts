import type { Asked, EventPrinter, Failure, Frame, GenerateEvent, Item, ToolCall } from '../../engine/index.ts'
import type { JsonObject, Loss, Unshown } from '../../engine/index.ts'
import { defined, flatName, Losses, word } from '../../engine/kit.ts'
import { inputEvent, partEvent, textDelta, textDone } from './events.ts'
import type { StreamEvent } from './events.ts'
import { done } from './keeper.ts'
import { errorEvent, responseError } from './errors.ts'
import { NativeItems } from './native-items.ts'
import { responseObject } from './response.ts'
import type { State } from './response.ts'
import { printStop } from './stop.ts'
import { toolRef } from './tools.ts'
import { printUsage } from './usage.ts'
import { isList, noSuchField, object, objects, protocol } from './values.ts'
import { sources } from './web-search.ts'
import { ItemPrinter } from './print-item-events.ts'
import type { Status } from './print-item-events.ts'

type Of<T extends GenerateEvent['type']> = Extract<GenerateEvent, { type: T }>

/**
 * Prints a stream of this protocol: events named by their type and numbered from 0, `[DONE]` last.
 * `whole` prints no frames, only `response`.
 */
export class ResponsesPrinter implements EventPrinter<GenerateEvent> {
  readonly #asked: Asked
  readonly #allows: ReturnType<typeof allowance>
  readonly #whole: boolean
  readonly #losses = new Losses(protocol)
  /** By the neutral index. */
  readonly #items = new Map<number, ItemPrinter>()
  readonly #native: NativeItems
  /** Printed items, by output index. */
  readonly #output: JsonObject[] = []
  /** The item that ended last. The next event determines whether it is complete. */
  #held: ItemPrinter | undefined
  #frames: Frame[] = []
  #sequence = 0
  #count = 0
  #usage: JsonObject | null = null
  #tier: string | undefined
  #model: string | undefined
  #started = false
  #ended = false
  #refused = false
  /** The response of the terminal event. */
  response: JsonObject = {}

  constructor(asked: Asked, form: 'stream' | 'whole') {
    this.#asked = asked
    this.#allows = allowance(object(asked.body) ?? {})
    this.#whole = form === 'whole'
    const include = object(asked.body)?.['include']
    const output = {
      items: this.#output,
      next: () => this.#count++,
      emit: (type: string, fields: JsonObject) => this.#emit({ type, sequence_number: this.#sequence++, ...fields }),
    }
    this.#native = new NativeItems(output, asked.id, isList(include) && include.includes(sources))
  }

  get losses(): readonly Loss[] {
    return this.#losses.list()
  }

  get unshown(): Unshown {
    return new Map([...this.#items.values()].flatMap(({ id, unshown }) => (unshown ? [[id, unshown] as const] : [])))
  }

  print(event: GenerateEvent): readonly Frame[] {
    if (this.#ended) return []
    const frames: Frame[] = []
    this.#frames = frames
    if (event.type === 'delta') this.#delta(event)
    else if (event.type === 'failure') this.#fail(event.failure)
    else this.#take(event)
    return frames
  }

  #take(event: Exclude<GenerateEvent, Of<'delta'> | Of<'failure'>>): void {
    if (!this.#started) this.#start(event.type === 'start' ? event : undefined)
    if (event.type === 'start' || event.type === 'usage' || event.type === 'finish') {
      if (event.usage) this.#usage = printUsage(event.usage)
      if (event.type === 'finish') this.#finish(event)
      return
    }
    this.#release('completed')
    if (event.type === 'item') return this.#item(event.index, event.item)
    if (event.type === 'progress') return this.#native.progress(event)
    if (event.type === 'item-end' && this.#native.end(event.index)) return
    const open = this.#items.get(event.index)
    if (!open || open.ended) return
    switch (event.type) {
      case 'part':
        return this.#part(open, event.kind)
      case 'annotation':
        return this.#annotation(open, event)
      case 'seal':
        return open.seal(event.seal)
      case 'item-end':
        return this.#end(open)
    }
  }

  #emit(event: StreamEvent): void {
    if (!this.#whole) this.#frames.push({ event: event.type, data: JSON.stringify(event) })
  }

  #snapshot(state: State): JsonObject {
    return responseObject(this.#asked, { ...state, model: this.#model, serviceTier: this.#tier, usage: this.#usage })
  }

  #start(told?: Of<'start'>): void {
    this.#started = true
    this.#tier = told?.serviceTier
    this.#model = told?.model
    if (this.#whole) return
    const response = this.#snapshot({ status: 'in_progress', output: [] })
    this.#emit({ type: 'response.created', sequence_number: this.#sequence++, response })
    this.#emit({ type: 'response.in_progress', sequence_number: this.#sequence++, response })
  }

  #item(index: number, item: Item): void {
    if (item.type === 'call' && !this.#allows(item))
      return this.#losses.add(`output[].${item.kind}_call`, 'the model called a tool that was not allowed')
    if (item.type !== 'opaque' && item.type !== 'result') {
      const open = new ItemPrinter(item, this.#count++, this.#asked, this.#losses)
      this.#items.set(index, open)
      this.#itemEvent('response.output_item.added', open.outputIndex, open.print('in_progress'))
      return
    }
    if (item.type === 'opaque' && this.#native.take(index, item)) return
    const type = item.type === 'opaque' ? word(item.value['type']) : item.type
    this.#losses.add(`output[].${type}`, 'only another protocol has this item')
  }

  #itemEvent(type: string, output_index: number, item: JsonObject): void {
    this.#emit({ type, sequence_number: this.#sequence++, output_index, item })
  }

  #part(open: ItemPrinter, kind: Of<'part'>['kind']): void {
    if (open.call) return
    this.#closePart(open)
    if (kind === 'refusal') this.#refused = true
    const part = open.open(kind)
    this.#emit(partEvent(this.#sequence++, open, part, 'added'))
  }

  #closePart(open: ItemPrinter): void {
    const { part } = open
    if (!part) return
    this.#emit(textDone(this.#sequence++, open, part))
    this.#emit(partEvent(this.#sequence++, open, part, 'done'))
    open.close(part)
  }

  #delta({ index, text, logprobs }: Of<'delta'>): void {
    if (this.#held) this.#release('completed')
    const open = this.#items.get(index)
    if (!open || open.ended) return
    if (open.call) return this.#input(open, text)
    if (!open.part) this.#part(open, open.type === 'reasoning' ? 'summary' : 'text')
    const { part } = open
    if (!part) return
    const printed = part.add(text, logprobs)
    if (!this.#whole) this.#emit(textDelta(this.#sequence++, open, part, text, printed))
  }

  #input(open: ItemPrinter, text: string): void {
    open.input += text
    if (!this.#whole) this.#emit(inputEvent(this.#sequence++, open, 'delta', text))
  }

  #annotation(open: ItemPrinter, { annotation }: Of<'annotation'>): void {
    const { part } = open
    if (part?.kind !== 'text') return
    const printed = part.annotate(annotation, this.#losses)
    if (!printed) return
    this.#emit({
      type: 'response.output_text.annotation.added',
      sequence_number: this.#sequence++,
      item_id: open.id,
      output_index: open.outputIndex,
      content_index: part.index,
      annotation_index: part.annotations.length - 1,
      annotation: printed,
    })
  }

  #end(open: ItemPrinter): void {
    if (open.empty) this.#part(open, 'text')
    this.#closePart(open)
    if (open.call) this.#endInput(open)
    open.ended = true
    this.#release('completed')
    this.#held = open
  }

  #endInput(open: ItemPrinter): void {
    if (open.type === 'function_call' && open.input === '') this.#input(open, '{}')
    this.#emit(inputEvent(this.#sequence++, open, 'done', open.input))
  }

  #release(status: Status): void {
    const held = this.#held
    if (!held) return
    this.#held = undefined
    const item = held.print(status)
    this.#output[held.outputIndex] = item
    this.#itemEvent('response.output_item.done', held.outputIndex, item)
  }

  #finish({ stop, rest }: Of<'finish'>): void {
    for (const open of this.#items.values()) if (!open.ended) this.#end(open)
    this.#native.finish()
    if (this.#count === 0) {
      this.#item(0, { type: 'message', role: 'assistant', content: [] })
      const [message] = this.#items.values()
      if (message) this.#end(message)
    }
    const native = this.#losses.own(rest, { because: noSuchField })
    const { status, ...reason } = printStop(stop, this.#refused)
    this.#release(status)
    this.#ended = true
    this.response = { ...this.#snapshot({ status, ...reason, output: this.#output }), ...native }
    this.#emit({ type: `response.${status}`, sequence_number: this.#sequence++, response: this.response })
    this.#frames.push(done)
  }

  #fail(failure: Failure): void {
    if (!this.#started) this.#start()
    this.#release('completed')
    this.#ended = true
    for (const open of this.#items.values()) this.#output[open.outputIndex] ??= open.print('incomplete')
    this.response = this.#snapshot({ status: 'failed', error: responseError(failure), output: this.#output })
    this.#emit(errorEvent(failure, this.#sequence++))
    this.#emit({ type: 'response.failed', sequence_number: this.#sequence++, response: this.response })
    this.#frames.push(done)
  }
}

/** Whether calls are among the `allowed_tools` of a request's `tool_choice`. Without a list, all are. */
function allowance(body: JsonObject): (call: ToolCall) => boolean {
  const choice = object(body['tool_choice'])
  if (choice?.['type'] !== 'allowed_tools') return () => true
  const allowed = new Set(
    objects(choice['tools'])
      .flatMap((listed) => toolRef(listed) ?? [])
      .map(exact),
  )
  return ({ name, namespace }) =>
    [defined({ name, namespace }), { name }, { name: flatName(defined({ name, namespace })) }].some((tool) =>
      allowed.has(exact(tool)),
    )
}

function exact({ name, namespace }: { readonly name: string; readonly namespace?: string }): string {
  return JSON.stringify([namespace, name])
}
