import { defined, parsedObject } from '../../engine/kit.ts'
import type { EventParser, Failure, Frame, GenerateEvent, JsonObject, Restore } from '../../engine/index.ts'
import { drawn } from './drawn.ts'
import { cutShort, eventFailure, responseFailure, unreadable } from './errors.ts'
import { nativeFields } from './native-fields.ts'
import { parseAnnotation, parseLogprobs } from './parse-parts.ts'
import { OpenItem, typeOf } from './parse-item-events.ts'
import type { PartKind } from './parse-item-events.ts'
import { parseStop } from './stop.ts'
import { usageOf } from './usage.ts'
import { number, object, objects, text, without } from './values.ts'

const partKinds: ReadonlyMap<unknown, PartKind> = new Map<unknown, PartKind>([
  ['output_text', 'text'],
  ['refusal', 'refusal'],
  ['reasoning_text', 'reasoning'],
])

/** Fields that every stream numbers itself. */
const numbering = new Set(['sequence_number'])

/** Parses a stream of this protocol. Content that is missing in the deltas is taken from the `done` events. */
export class ResponsesParser implements EventParser<GenerateEvent> {
  readonly #restore: Restore | undefined
  /** By `output_index`. */
  readonly #items = new Map<number, OpenItem>()
  #out: GenerateEvent[] = []
  #opened = 0
  #started = false
  #ended = false
  #call = false
  #refusal = false

  constructor(restore: Restore | undefined) {
    this.#restore = restore
  }

  parse(frame: Frame): readonly GenerateEvent[] {
    if (this.#ended || frame.data === '[DONE]') return []
    const out: GenerateEvent[] = []
    this.#out = out
    const event = parsedObject(frame.data)
    if (event) this.#take(event, text(event['type']) ?? frame.event)
    else this.#fail(unreadable('an event of its stream is not JSON').failure)
    return out
  }

  end(): readonly GenerateEvent[] {
    if (this.#ended) return []
    this.#out = []
    this.#fail(cutShort())
    return this.#out
  }

  #take(event: JsonObject, type: string | undefined): void {
    switch (type) {
      case 'response.output_text.delta':
        return this.#delta(event, 'content', 'text')
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#input(event)
      case 'response.reasoning_summary_text.delta':
        return this.#delta(event, 'summary', 'summary')
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        return this.#delta(event, 'content', 'reasoning')
      case 'response.refusal.delta':
        return this.#delta(event, 'content', 'refusal')
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.#start(object(event['response']))
      case 'response.output_item.added':
        return this.#add(event)
      case 'response.content_part.added':
        return this.#part(event, partKinds.get(object(event['part'])?.['type']))
      case 'response.reasoning_summary_part.added':
        return this.#part(event, 'summary')
      case 'response.output_text.annotation.added':
        return this.#annotation(event)
      case 'response.output_item.done':
        return this.#done(event)
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(object(event['response']) ?? {}, type === 'response.incomplete')
      case 'response.cancelled':
        return this.#fail(responseFailure(object(event['response']) ?? {}))
      case 'response.failed':
      case 'error':
      case undefined: {
        const failure = eventFailure(event['type'] === undefined && type !== undefined ? { ...event, type } : event)
        if (failure) this.#fail(failure)
        return
      }
      default:
        return this.#progress(event)
    }
  }

  /** An event of an item that only this protocol has. Other unknown events are ignored. */
  #progress(event: JsonObject): void {
    if (typeof event['output_index'] !== 'number') return
    const open = this.#at(event)
    if (open?.opaque && !open.ended) open.progress(without(event, numbering), this.#out)
  }

  #start(response: JsonObject | undefined): void {
    if (this.#started) return
    this.#started = true
    const tier = text(response?.['service_tier'])
    this.#out.push(
      defined({
        type: 'start' as const,
        id: text(response?.['id']),
        model: text(response?.['model']),
        created: number(response?.['created_at']),
        // `auto` repeats the request. The actual tier is not known yet.
        serviceTier: tier === 'auto' ? undefined : tier,
      }),
    )
  }

  #at(event: JsonObject): OpenItem | undefined {
    return this.#items.get(typeof event['output_index'] === 'number' ? event['output_index'] : this.#items.size - 1)
  }

  #add(event: JsonObject): void {
    this.#start(undefined)
    const item = object(event['item'])
    const key = number(event['output_index']) ?? this.#items.size
    const before = this.#items.get(key)
    if (item && (!before || before.ended)) this.#items.set(key, this.#open(item))
  }

  #open(item: JsonObject): OpenItem {
    const open = new OpenItem(item, this.#restore)
    if (open.call) this.#call = true
    open.begin(this.#opened++, this.#out)
    return open
  }

  #part(event: JsonObject, kind: PartKind | undefined): void {
    const open = this.#at(event)
    if (open && !open.ended && kind) this.#enter(open, event, kind)
  }

  #enter(open: OpenItem, event: JsonObject, kind: PartKind): void {
    const at = number(event[kind === 'summary' ? 'summary_index' : 'content_index']) ?? 0
    if (kind === 'refusal') this.#refusal = true
    open.enter(kind, at, this.#out)
  }

  #delta(event: JsonObject, area: 'content' | 'summary', kind: PartKind): void {
    let open = this.#at(event)
    if (!open && (kind === 'text' || kind === 'refusal')) {
      this.#add({ ...event, item: { type: 'message', role: 'assistant' } })
      open = this.#at(event)
    }
    const { delta } = event
    if (!open || open.ended || !open.speaks(kind) || typeof delta !== 'string') return
    const at = event[area === 'summary' ? 'summary_index' : 'content_index']
    if (open.kind !== kind || open.at !== (at ?? 0)) this.#enter(open, event, kind)
    const { logprobs } = event
    open.say(delta, Array.isArray(logprobs) && logprobs.length > 0 ? parseLogprobs(logprobs) : undefined, this.#out)
  }

  #input(event: JsonObject): void {
    const open = this.#at(event)
    if (open?.call && !open.ended && typeof event['delta'] === 'string') open.write(event['delta'], this.#out)
  }

  #annotation(event: JsonObject): void {
    const open = this.#at(event)
    const annotation = object(event['annotation'])
    if (open && !open.ended && annotation) open.annotate(parseAnnotation(annotation), this.#out)
  }

  #done(event: JsonObject): void {
    const item = object(event['item'])
    if (!item) return
    const open = this.#at(event)
    const placed = typeof event['output_index'] === 'number'
    if (!open || (open.ended && !placed)) this.#add(event)
    this.#complete(this.#at(event), item)
  }

  #complete(open: OpenItem | undefined, item: JsonObject): void {
    if (!open || open.ended) return
    if (objects(item['content']).some(({ type }) => type === 'refusal')) this.#refusal = true
    open.complete(item, this.#out)
  }

  #finish(response: JsonObject, incomplete: boolean): void {
    this.#start(response)
    const output = objects(response['output'])
    const streamed = partners(output, this.#items)
    // Some upstreams send parts of an item only at the end.
    for (const [at, item] of output.entries()) this.#complete(streamed[at] ?? this.#open(item), item)
    for (const open of this.#items.values()) open.close(this.#out)
    this.#ended = true
    const status = incomplete ? 'incomplete' : (text(response['status']) ?? 'completed')
    this.#out.push(
      defined({
        type: 'finish' as const,
        stop: parseStop({ ...response, status }, { call: this.#call, refusal: this.#refusal }),
        usage: usageOf(response),
        further: drawn(response),
        rest: nativeFields(response),
      }),
    )
  }

  #fail(failure: Failure): void {
    this.#ended = true
    this.#out.push({ type: 'failure', failure })
  }
}

/**
 * Matches each item of the final output to a streamed item (a map by `output_index`): by its id; if an upstream changed
 * the ids, by type and index, otherwise to the next item of its type. Undefined: the item was not streamed.
 */
function partners(
  output: readonly JsonObject[],
  streamed: ReadonlyMap<number, OpenItem>,
): readonly (OpenItem | undefined)[] {
  const byId = new Map(
    [...streamed.values()].flatMap((open) => (open.id === undefined ? [] : [[open.id, open] as const])),
  )
  const same = output.map((item) => byId.get(text(item['id']) ?? ''))
  const left = new Set(streamed.values()).difference(new Set(same))
  const placed = output.map((item, at) => {
    const open = streamed.get(at)
    if (same[at] || !open || open.type !== typeOf(item) || !left.delete(open)) return same[at]
    return open
  })
  const next = new Map(
    Array.from(
      Map.groupBy(left, ({ type }) => type),
      ([type, open]) => [type, open.values()],
    ),
  )
  return placed.map((open, at) => open ?? next.get(typeOf(output[at] ?? {}))?.next().value)
}
