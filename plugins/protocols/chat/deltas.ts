import { Losses, isObject, word } from '../../../engine/kit.ts'
import type {
  Annotation,
  Asked,
  GenerateEvent,
  GenerateReply,
  Json,
  JsonObject,
  Logprob,
  Message,
  Part,
  Reasoning,
  Seal,
  ToolCall,
} from '../../../engine/index.ts'
import { printAnnotation, printLogprobs } from './annotations.ts'
import { printDetails } from './details.ts'
import type { Offset } from './details.ts'
import { separator } from './parse-messages.ts'
import { wordOf } from './parts.ts'
import { printStop } from './stop.ts'
import { protocol } from './wire.ts'

/** A delta of the assistant message, and the log probabilities of its tokens. */
export interface Delta {
  readonly delta: JsonObject
  readonly logprobs?: JsonObject
}

type Delivery = Extract<GenerateEvent, { type: 'delta' }>

interface OpenMessage {
  readonly type: 'message'
  readonly commentary: boolean
  refusal: boolean
  /** Characters of the content before the open part, the base for the offsets of citations. */
  base: number
  /** Text to insert before its first text. */
  lead: string
  seal?: Seal
}

interface OpenReasoning {
  readonly type: 'reasoning'
  readonly id?: string
  readonly place: Offset
  readonly parts: { kind: 'summary' | 'text'; text: string }[]
  seal?: Seal
  lead: string
}

interface OpenCall {
  readonly type: 'call'
  readonly kind: ToolCall['kind']
  readonly number: number
  empty: boolean
}

/**
 * Turns neutral events into deltas of the single message of a chat answer. The content of several messages is joined,
 * except commentary on what the model is about to do, which is put into the reasoning, so that the content is the
 * answer alone. Calls have their own numbers. Fields that clients must send back whole are sent once, at the end.
 */
export class Deltas {
  readonly losses = new Losses(protocol)
  readonly #origin: string
  /** The client uses the legacy `functions` field and understands a single call. */
  readonly #legacy: boolean
  readonly #open = new Map<number, OpenMessage | OpenReasoning | OpenCall>()
  readonly #annotations: JsonObject[] = []
  readonly #details: JsonObject[] = []
  readonly #images: JsonObject[] = []
  #characters = 0
  #reasoned = 0
  #comments = ''
  #calls = 0
  #refused = false

  constructor({ origin, body }: Asked) {
    this.#origin = origin
    this.#legacy = isObject(body) && Array.isArray(body['functions']) && !body['tools']
  }

  /** The delta of an event, if any. */
  read(event: GenerateEvent): Delta | undefined {
    switch (event.type) {
      case 'delta':
        return this.#deliver(event)
      case 'item':
        return this.#begin(event)
      case 'part':
        return this.#part(event.index, event.kind)
      case 'annotation':
        return this.#annotate(event.index, event.annotation)
      case 'seal': {
        const open = this.#open.get(event.index)
        if (open && open.type !== 'call') open.seal = event.seal
        return undefined
      }
      case 'item-end':
        return this.#close(event.index)
      default:
        return undefined
    }
  }

  /**
   * The last delta: citations, pictures, and the reasoning for replay. One list each, because accumulating clients keep the last.
   */
  last(): Delta | undefined {
    const annotations = this.#annotations.length > 0 ? { annotations: this.#annotations } : {}
    const details = this.#details.length > 0 ? { reasoning_details: this.#details } : {}
    // Without other content, the commentary is the answer.
    const silent = this.#characters === 0 && this.#calls === 0 && !this.#refused
    const content = silent && this.#comments !== '' ? { content: this.#comments } : {}
    const images = this.#images.length > 0 ? { images: this.#images } : {}
    const delta = { ...content, ...annotations, ...images, ...details }
    return Object.keys(delta).length > 0 ? { delta } : undefined
  }

  /** The `finish_reason`. Fields that only the upstream's protocol has are lost. */
  finish({ stop, rest }: Pick<GenerateReply, 'stop' | 'rest'>): string {
    for (const name of Object.keys(rest?.fields ?? {})) this.losses.add(word(name), `only ${rest?.protocol} has it`)
    if (stop === 'pause') this.losses.add('stop_reason', 'this protocol cannot ask to go on')
    const reason = printStop(stop, { refused: this.#refused })
    return reason === 'tool_calls' && this.#legacy ? 'function_call' : reason
  }

  #begin({ index, item }: Extract<GenerateEvent, { type: 'item' }>): Delta | undefined {
    switch (item.type) {
      case 'message':
        return this.#message(index, item)
      case 'reasoning':
        this.#open.set(index, {
          type: 'reasoning',
          ...(item.id === undefined ? {} : { id: item.id }),
          place: [this.#characters, this.#calls],
          parts: [],
          lead: '',
        })
        return undefined
      case 'call':
        return this.#call(index, item)
      case 'result':
        this.losses.add('output', 'this protocol has no results in answers')
        return undefined
      case 'opaque':
        // A search is visible only in the citations.
        if (item.protocol !== protocol && !item.search)
          this.losses.add(wordOf(item.value), `only ${item.protocol} has it`)
        return undefined
    }
  }

  #message(index: number, { content, phase }: Message): undefined {
    for (const part of content) this.#show(part)
    const commentary = phase === 'commentary'
    const lead = (commentary ? this.#reasoned : this.#characters) > 0 ? separator : ''
    const base = this.#characters + lead.length
    this.#open.set(index, { type: 'message', commentary, refusal: false, base, lead })
  }

  /** A picture is shown in `images`, which several vendors have; other media have no place. */
  #show(part: Part): void {
    if (part.type === 'image' && part.source.kind === 'data') {
      const { mediaType, data } = part.source
      this.#images.push({
        type: 'image_url',
        image_url: { url: `data:${mediaType};base64,${data}` },
        index: this.#images.length,
      })
    } else this.losses.add(part.type, 'this protocol has none in answers')
  }

  #call(index: number, { kind, callId, name, namespace, input }: ToolCall): Delta | undefined {
    const number = this.#calls++
    const called = namespace === undefined ? name : `${namespace}__${name}`
    if (this.#legacy) {
      if (number > 0) {
        this.losses.add('tool_calls', 'the client understands one call')
        return undefined
      }
      this.#open.set(index, { type: 'call', kind, number, empty: input === '' })
      return { delta: { function_call: { name: called, arguments: input } } }
    }
    this.#open.set(index, { type: 'call', kind, number, empty: input === '' })
    const named =
      kind === 'custom'
        ? { type: 'custom', custom: { name: called, input } }
        : { type: 'function', function: { name: called, arguments: input } }
    return { delta: { tool_calls: [{ index: number, id: callId, ...named }] } }
  }

  #part(index: number, kind: 'text' | 'refusal' | 'summary' | 'reasoning'): undefined {
    const open = this.#open.get(index)
    if (open?.type === 'message') {
      open.refusal = kind === 'refusal'
      open.base = this.#characters + open.lead.length
    } else if (open?.type === 'reasoning') {
      open.parts.push({ kind: kind === 'summary' ? 'summary' : 'text', text: '' })
      open.lead = this.#reasoned > 0 ? separator : ''
    }
  }

  #deliver({ index, text, logprobs }: Delivery): Delta | undefined {
    const open = this.#open.get(index)
    if (!open || text === '') return undefined
    if (open.type === 'call') {
      open.empty = false
      return this.#input(open, text)
    }
    if (open.type === 'reasoning') return this.#reason(open, text)
    if (open.refusal) {
      this.#refused = true
      return withLogprobs({ refusal: text }, 'refusal', logprobs)
    }
    const said = open.lead === '' ? text : open.lead + text
    open.lead = ''
    if (open.commentary) {
      this.#comments += said
      this.#reasoned += said.length
      return { delta: { reasoning_content: said } }
    }
    this.#characters += said.length
    return withLogprobs({ content: said }, 'content', logprobs)
  }

  #reason(open: OpenReasoning, text: string): Delta {
    const part = open.parts.at(-1)
    if (part) part.text += text
    const said = open.lead + text
    open.lead = ''
    this.#reasoned += said.length
    return { delta: { reasoning_content: said } }
  }

  #input({ kind, number }: OpenCall, text: string): Delta {
    if (this.#legacy) return { delta: { function_call: { arguments: text } } }
    const piece = kind === 'custom' ? { custom: { input: text } } : { function: { arguments: text } }
    return { delta: { tool_calls: [{ index: number, ...piece }] } }
  }

  #annotate(index: number, annotation: Annotation): undefined {
    const open = this.#open.get(index)
    const commentary = open?.type === 'message' && open.commentary
    const printed = commentary ? undefined : printAnnotation(annotation, open?.type === 'message' ? open.base : 0)
    if (printed) this.#annotations.push(printed)
    else this.losses.add('annotations', 'only another protocol has them')
  }

  #close(index: number): Delta | undefined {
    const open = this.#open.get(index)
    this.#open.delete(index)
    if (open?.type === 'reasoning') this.#detail(open)
    // A message has no place for its seal. It comes back as reasoning after it.
    else if (open?.type === 'message' && open.seal)
      this.#detail({ parts: [], seal: open.seal, place: [this.#characters, this.#calls] })
    // Clients parse the arguments, so a call without any has an empty object.
    return open?.type === 'call' && open.kind === 'function' && open.empty ? this.#input(open, '{}') : undefined
  }

  #detail({ place, ...block }: Omit<Reasoning, 'type'> & { readonly place: Offset }): void {
    const details = printDetails({ type: 'reasoning', ...block }, place, this.#details.length, this.#origin)
    for (const entry of details) this.#details.push(entry)
  }
}

function withLogprobs(delta: JsonObject, field: 'content' | 'refusal', list: readonly Logprob[] | undefined): Delta {
  if (!list) return { delta }
  const printed: Json = printLogprobs(list)
  return {
    delta,
    logprobs: { content: field === 'content' ? printed : null, refusal: field === 'refusal' ? printed : null },
  }
}
