import type { Annotation, Asked, JsonObject, Logprob, Message, Reasoning, Seal, ToolCall } from '../../engine/index.ts'
import { defined, word } from '../../engine/kit.ts'
import type { Losses } from '../../engine/kit.ts'
import { printAnnotation, printLogprobs } from './parse-parts.ts'
import { packReasoning, showsSeal } from './reasoning.ts'
import { itemId } from './response.ts'
import { protocol } from './values.ts'

/** The id prefix of each type of item, which vendors expect. */
const prefixes = { message: 'msg', reasoning: 'rs', function_call: 'fc', custom_tool_call: 'ctc' } as const

export type Status = 'in_progress' | 'completed' | 'incomplete'

/** Prints a part of an item. All reasoning is shown as a summary. */
export class PartPrinter {
  readonly kind: 'text' | 'refusal' | 'summary'
  readonly index: number
  /** The original kind of a part of reasoning. */
  readonly nature: Reasoning['parts'][number]['kind']
  readonly annotations: JsonObject[] = []
  readonly logprobs: JsonObject[] = []
  text = ''

  constructor(kind: 'text' | 'refusal' | 'summary' | 'reasoning', index: number) {
    this.kind = kind === 'reasoning' ? 'summary' : kind
    this.nature = kind === 'reasoning' ? 'text' : 'summary'
    this.index = index
  }

  /** Adds text, and returns its log probabilities in their printed form. */
  add(text: string, logprobs: readonly Logprob[] | undefined): readonly JsonObject[] {
    this.text += text
    if (!logprobs) return []
    const printed = printLogprobs(logprobs)
    for (const entry of printed) this.logprobs.push(entry)
    return printed
  }

  /** The printed annotation; undefined, and a loss, for one of another protocol. */
  annotate(annotation: Annotation, losses: Losses): JsonObject | undefined {
    const printed = printAnnotation(annotation)
    if (printed) this.annotations.push(printed)
    else losses.add('annotations', 'only another protocol has this kind of citation')
    return printed
  }

  print(): JsonObject {
    switch (this.kind) {
      case 'text':
        return {
          type: 'output_text',
          text: this.text,
          annotations: [...this.annotations],
          logprobs: [...this.logprobs],
        }
      case 'refusal':
        return { type: 'refusal', refusal: this.text }
      case 'summary':
        return { type: 'summary_text', text: this.text }
    }
  }
}

/** Prints an output item. */
export class ItemPrinter {
  readonly id: string
  readonly outputIndex: number
  readonly type: keyof typeof prefixes
  readonly #item: Message | Reasoning | ToolCall
  readonly #asked: Asked
  /** Closed parts in their printed form. */
  readonly #parts: JsonObject[]
  readonly #said: Reasoning['parts'][number][] = []
  #seal: Seal | undefined
  /** The input of a call so far. */
  input = ''
  part: PartPrinter | undefined
  ended = false

  constructor(item: Message | Reasoning | ToolCall, outputIndex: number, asked: Asked, losses: Losses) {
    this.#item = item
    this.#asked = asked
    this.#parts = item.type === 'message' ? whole(item, losses) : []
    this.outputIndex = outputIndex
    this.type = item.type !== 'call' ? item.type : item.kind === 'custom' ? 'custom_tool_call' : 'function_call'
    this.id = itemId(prefixes[this.type], asked.id, outputIndex)
  }

  get call(): boolean {
    return this.#item.type === 'call'
  }

  /** The name of the called tool. */
  get name(): string | undefined {
    return this.#item.type === 'call' ? this.#item.name : undefined
  }

  /** Whether this is a message without content, which clients do not expect. */
  get empty(): boolean {
    return this.type === 'message' && this.#parts.length === 0 && this.part === undefined
  }

  open(kind: 'text' | 'refusal' | 'summary' | 'reasoning'): PartPrinter {
    this.part = new PartPrinter(kind, this.#parts.length)
    return this.part
  }

  close(part: PartPrinter): void {
    this.#parts.push(part.print())
    if (part.kind === 'summary') this.#said.push({ kind: part.nature, text: part.text })
    this.part = undefined
  }

  seal(seal: Seal): void {
    this.#seal = seal
  }

  /** What is sealed, if the client does not see it. */
  get unshown(): string | undefined {
    return this.#sealed(false)
  }

  #sealed(shown: boolean): string | undefined {
    const seal = this.#seal
    return seal && showsSeal(seal, this.#asked) === shown ? packReasoning(seal, this.#said, this.#asked) : undefined
  }

  print(status: Status): JsonObject {
    const item = this.#item
    const head = { id: this.id, type: this.type, status }
    const parts = this.part ? [...this.#parts, this.part.print()] : [...this.#parts]
    switch (item.type) {
      case 'message':
        return defined({
          ...head,
          role: 'assistant',
          content: parts,
          phase: item.phase,
          encrypted_content: this.#sealed(true),
        })
      case 'reasoning':
        return defined({ ...head, summary: parts, encrypted_content: this.#sealed(true) })
      case 'call': {
        const { name, namespace } = item
        const call_id = item.callId || this.id.replace(/^[a-z]+/, 'call')
        const tied = defined({ ...head, call_id, name, namespace })
        return item.kind === 'custom' ? { ...tied, input: this.input } : { ...tied, arguments: this.input }
      }
    }
  }
}

/** Parts that have no deltas. An answer can have only those of this protocol. */
function whole(message: Message, losses: Losses): JsonObject[] {
  return message.content.flatMap<JsonObject>((part) => {
    if (part.type === 'opaque' && part.protocol === protocol) return part.value
    const type = part.type === 'opaque' ? word(part.value['type']) : part.type
    losses.add(`output[].content.${type}`, 'a message of the responses protocol cannot hold it')
    return []
  })
}
