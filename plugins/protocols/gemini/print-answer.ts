import type { Annotation, Asked, GenerateEvent, Item, Json, JsonObject, Loss } from '../../../engine/index.ts'
import type { Logprob, Part, Reasoning, Rest, Seal, StopReason, ToolCall, Usage } from '../../../engine/index.ts'
import { Losses, flatName, isObject, word } from '../../../engine/kit.ts'
import { InOrder } from '../in-order.ts'
import type { ItemEvent } from '../in-order.ts'
import { Grounding } from './grounding.ts'
import { printLogprobs } from './logprobs.ts'
import { argumentsOf } from './print-contents.ts'
import { Signatures } from './signatures.ts'
import { camelCased } from './spelling.ts'
import { printStop } from './stop.ts'
import { printUsage } from './usage.ts'
import { protocol } from './wire.ts'

type Finish = Extract<GenerateEvent, { type: 'finish' }>

/** What an event adds to an answer: parts, and at its end the reason. */
export interface Addition {
  readonly parts: readonly JsonObject[]
  readonly logprobs?: readonly Logprob[]
  readonly end?: { readonly candidate: JsonObject; readonly fields: JsonObject }
}

/** Makes the parts of an answer for a client from neutral events. */
export class AnswerPrinter {
  readonly #asked: Asked
  readonly #losses = new Losses(protocol)
  readonly #order = new InOrder()
  readonly #grounding = new Grounding()
  readonly #showsThoughts: boolean
  #item: Item | undefined
  /** The input of the open call. */
  #text = ''
  /** The parts of the open reasoning. */
  #thoughts: { kind: 'summary' | 'text'; text: string }[] = []
  #seal: Seal | undefined
  readonly #signatures: Signatures
  #model: string
  #usage: Usage | undefined
  #refused = false

  constructor(asked: Asked) {
    this.#asked = asked
    this.#model = asked.model
    this.#showsThoughts = showsThoughts(asked.body)
    this.#signatures = new Signatures(asked.origin)
  }

  get losses(): readonly Loss[] {
    return this.#losses.list()
  }

  /** Fields that every chunk has. */
  get head(): JsonObject {
    return { modelVersion: this.#model, responseId: this.#asked.id }
  }

  *print(event: Exclude<GenerateEvent, { type: 'failure' }>): Iterable<Addition> {
    switch (event.type) {
      case 'start':
        this.#model = event.model ?? this.#model
        this.#usage = event.usage
        return
      case 'usage':
        this.#usage = event.usage
        return
      case 'finish':
        for (const one of this.#order.flush()) yield* this.#write(one)
        yield this.#end(event)
        return
      default:
        for (const one of this.#order.take(event)) yield* this.#write(one)
    }
  }

  #write(event: ItemEvent): readonly Addition[] {
    if (event.type === 'item') {
      this.#item = event.item
      this.#text = ''
      this.#thoughts = []
      this.#seal = event.item.type === 'reasoning' || event.item.type === 'message' ? event.item.seal : undefined
    }
    if (event.type === 'seal') {
      this.#seal = event.seal
      return []
    }
    switch (this.#item?.type) {
      case 'message':
        return this.#message(event)
      case 'reasoning':
        return this.#reasoning(event, this.#item)
      case 'call':
        return this.#call(event, this.#item)
      case 'result':
        if (event.type === 'item') this.#losses.add('parts.result', 'answers hold no results of tools here')
        return []
      case 'opaque':
        return event.type === 'item-end' ? this.#opaque(this.#item) : []
      default:
        return []
    }
  }

  #message(event: ItemEvent): readonly Addition[] {
    switch (event.type) {
      case 'item':
        return event.item.type === 'message' ? this.#parts(event.item.content.flatMap((part) => this.#part(part))) : []
      case 'part':
        if (event.kind === 'refusal') this.#refused = true
        this.#grounding.open()
        return []
      case 'delta': {
        if (event.text === '') return []
        this.#grounding.say(event.text)
        const { logprobs } = event
        return [{ parts: [{ text: event.text, ...this.#signatures.ofText() }], ...(logprobs ? { logprobs } : {}) }]
      }
      case 'annotation':
        this.#cite(event.annotation)
        return []
      case 'item-end':
        return this.#seal ? this.#parts([this.#signatures.ofMessage(this.#seal)]) : []
      default:
        return []
    }
  }

  #part(part: Part): readonly JsonObject[] {
    if (part.type === 'opaque' && part.protocol === protocol) return [part.value]
    if ('source' in part && part.source.kind === 'data')
      return [{ inlineData: { mimeType: part.source.mediaType, data: part.source.data } }]
    this.#losses.add(`parts.${part.type}`, 'answers have no such part here')
    return []
  }

  #cite(annotation: Annotation): void {
    if (!this.#grounding.cite(annotation))
      this.#losses.add('parts.annotations', 'citations of other protocols have no form here')
  }

  /** Thoughts are shown to clients that ask for them; their seal goes with what follows. */
  #reasoning(event: ItemEvent, item: Reasoning): readonly Addition[] {
    switch (event.type) {
      case 'part':
        this.#thoughts.push({ kind: event.kind === 'summary' ? 'summary' : 'text', text: '' })
        return this.#thoughts.length > 1 ? this.#think('\n\n') : []
      case 'delta': {
        const part = this.#thoughts.at(-1)
        if (part) part.text += event.text
        return event.text === '' ? [] : this.#think(event.text)
      }
      case 'item-end':
        return this.#thought(item)
      default:
        return []
    }
  }

  #think(text: string): readonly Addition[] {
    return this.#showsThoughts ? this.#parts([{ text, thought: true }]) : []
  }

  #thought(item: Reasoning): readonly Addition[] {
    if (this.#seal) this.#signatures.add({ ...item, parts: this.#thoughts, seal: this.#seal })
    return []
  }

  #call(event: ItemEvent, item: ToolCall): readonly Addition[] {
    if (event.type === 'delta') this.#text += event.text
    if (event.type !== 'item-end') return []
    const input = item.input + this.#text
    return this.#parts([
      {
        functionCall: {
          id: item.callId,
          name: flatName(item),
          args: item.kind === 'custom' ? { input } : argumentsOf(input),
        },
        ...this.#signatures.ofCall(),
      },
    ])
  }

  #opaque(item: Extract<Item, { type: 'opaque' }>): readonly Addition[] {
    if (item.search) this.#grounding.search(item, protocol)
    else if (item.protocol === protocol) return this.#parts([...this.#signatures.rest(), item.value])
    else this.#losses.add(`parts.${word(item.value.type)}`, `only ${item.protocol} knows it`)
    return []
  }

  #end({ stop, usage = this.#usage, rest }: Finish): Addition {
    const { candidate, ...fields } = this.#rest(rest)
    const flushed = this.#signatures.rest()
    return {
      // Official clients take an answer whose last chunk has no part for a broken one.
      parts: flushed.length > 0 ? flushed : [{ text: '' }],
      end: {
        candidate: {
          ...(isObject(candidate) ? candidate : {}),
          ...this.#grounding.printed(),
          finishReason: printStop(this.#stop(stop)),
        },
        fields: { ...fields, ...(usage ? { usageMetadata: printUsage(usage) } : {}) },
      },
    }
  }

  #rest(rest: Rest | undefined): JsonObject {
    return this.#losses.own(rest, { because: `only ${rest?.protocol} knows it` })
  }

  /** A refusal is a part in other protocols. This protocol has only the finish reason for it. */
  #stop(stop: StopReason): StopReason {
    return this.#refused && stop === 'end' ? 'refusal' : stop
  }

  #parts(parts: readonly JsonObject[]): readonly Addition[] {
    return parts.length > 0 ? [{ parts }] : []
  }
}

function showsThoughts(body: Json): boolean {
  const { generationConfig } = isObject(body)
    ? camelCased({ generationConfig: body.generationConfig ?? body.generation_config ?? null })
    : {}
  const thinking = isObject(generationConfig) ? generationConfig.thinkingConfig : undefined
  return isObject(thinking) && thinking.includeThoughts === true
}

/** A chunk of an answer, or all of it. A refused prompt has no candidate. */
export function chunk(head: JsonObject, { parts, logprobs, end }: Addition): JsonObject {
  const { promptFeedback: feedback } = end?.fields ?? {}
  const refused = isObject(feedback) && feedback.blockReason !== undefined && parts.every(({ text }) => text === '')
  if (refused) return { ...end?.fields, ...head }
  const candidate = {
    content: { role: 'model', parts },
    ...end?.candidate,
    index: 0,
    ...(logprobs ? { logprobsResult: printLogprobs(logprobs) } : {}),
  }
  return { candidates: [candidate], ...end?.fields, ...head }
}
