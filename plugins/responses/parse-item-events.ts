import { CustomInput } from '../../engine/kit.ts'
import type { Annotation, GenerateEvent, Item, JsonObject, Logprob, Restore } from '../../engine/index.ts'
import { parseOutputItem } from './parse-items.ts'
import { parseAnnotation, parseLogprobs } from './parse-parts.ts'
import { nativeSeal } from './reasoning.ts'
import { objects, protocol, text } from './values.ts'

export type PartKind = Extract<GenerateEvent, { type: 'part' }>['kind']

/** The field with the text of each kind of part. */
const fields = { text: 'text', refusal: 'refusal', summary: 'text', reasoning: 'text' } as const

interface Told {
  readonly kind: PartKind
  readonly at: number
  /** Characters that were emitted. */
  length: number
  annotations: number
}

/** One open item of a stream. It tracks the emitted content, so that its end can add the missing rest. */
export class OpenItem {
  /** The item's type in this protocol, and its id, if any. */
  readonly type: string
  readonly id: string | undefined
  readonly #item: Item
  /** Unwraps the text of a custom tool that was sent as a function. */
  readonly #custom: CustomInput | undefined
  /** By kind and index. */
  readonly #told = new Map<string, Told>()
  #current: Told | undefined
  #index = -1
  #input = ''
  ended = false

  constructor(item: JsonObject, restore: Restore | undefined) {
    this.type = typeOf(item)
    this.id = text(item['id']) || undefined
    this.#item = parseOutputItem(item, restore)
    const wrapped = item['type'] === 'function_call' && this.#item.type === 'call' && this.#item.kind === 'custom'
    this.#custom = wrapped ? new CustomInput() : undefined
  }

  /** Whether the item is forwarded unchanged. */
  get opaque(): boolean {
    return this.#item.type === 'opaque'
  }

  get call(): boolean {
    return this.#item.type === 'call'
  }

  get kind(): PartKind | undefined {
    return this.#current?.kind
  }

  get at(): number | undefined {
    return this.#current?.at
  }

  /** Whether a part of this kind belongs to this item. */
  speaks(kind: PartKind): boolean {
    return this.#item.type === (kind === 'text' || kind === 'refusal' ? 'message' : 'reasoning')
  }

  begin(index: number, out: GenerateEvent[]): void {
    this.#index = index
    out.push({ type: 'item', index, item: shell(this.#item) })
  }

  progress(value: JsonObject, out: GenerateEvent[]): void {
    const piece = text(value['type'])?.endsWith('.delta') === true
    out.push({ type: 'progress', index: this.#index, protocol, value, ...(piece ? { piece } : {}) })
  }

  enter(kind: PartKind, at: number, out: GenerateEvent[]): void {
    if (!this.speaks(kind) || (this.#current?.kind === kind && this.#current.at === at)) return
    this.#current = { kind, at, length: 0, annotations: 0 }
    const key = placeOf(kind, at)
    if (!this.#told.has(key)) this.#told.set(key, this.#current)
    out.push({ type: 'part', index: this.#index, kind })
  }

  say(delta: string, logprobs: readonly Logprob[] | undefined, out: GenerateEvent[]): void {
    if (!this.#current || delta === '') return
    this.#current.length += delta.length
    const index = this.#index
    out.push(logprobs ? { type: 'delta', index, text: delta, logprobs } : { type: 'delta', index, text: delta })
  }

  annotate(annotation: Annotation, out: GenerateEvent[]): void {
    this.enter('text', this.#current?.at ?? 0, out)
    if (this.#current) this.#current.annotations++
    out.push({ type: 'annotation', index: this.#index, annotation })
  }

  write(delta: string, out: GenerateEvent[]): void {
    this.#input += delta
    this.#pass(this.#custom ? this.#custom.push(delta) : delta, out)
  }

  #pass(text: string, out: GenerateEvent[]): void {
    if (text !== '') out.push({ type: 'delta', index: this.#index, text })
  }

  /** The item is done: `item` is all of it. */
  complete(item: JsonObject, out: GenerateEvent[]): void {
    switch (this.#item.type) {
      case 'message':
        this.#catchUp(item['content'], (type) => (type === 'refusal' ? 'refusal' : 'text'), out)
        break
      case 'reasoning': {
        this.#catchUp(item['summary'], () => 'summary', out)
        this.#catchUp(item['content'], () => 'reasoning', out)
        const seal = nativeSeal(item)
        if (seal) out.push({ type: 'seal', index: this.#index, seal })
        break
      }
      case 'call': {
        const whole = text(item['arguments']) ?? text(item['input']) ?? ''
        if (whole.length > this.#input.length && whole.startsWith(this.#input)) {
          this.write(whole.slice(this.#input.length), out)
        }
        break
      }
      case 'opaque':
        if (item !== this.#item.value)
          out.push({ type: 'item', index: this.#index, item: parseOutputItem(item, undefined) })
        break
      case 'result':
    }
    this.close(out)
  }

  /** Ends an item with the content that has arrived. */
  close(out: GenerateEvent[]): void {
    if (this.ended || this.#index < 0) return
    this.ended = true
    const index = this.#index
    if (this.#custom) this.#pass(this.#custom.end(), out)
    out.push({ type: 'item-end', index })
  }

  #catchUp(list: JsonObject[string], kindOf: (type: unknown) => PartKind, out: GenerateEvent[]): void {
    for (const [at, part] of objects(list).entries()) {
      const kind = kindOf(part['type'])
      const whole = text(part[fields[kind]])
      if (whole === undefined) continue
      const told = this.#told.get(placeOf(kind, at))
      if (told && told !== this.#current) continue
      if (!told) this.enter(kind, at, out)
      const length = told?.length ?? 0
      if (length < whole.length)
        this.say(whole.slice(length), length === 0 ? parseLogprobs(part['logprobs']) : undefined, out)
      for (const annotation of objects(part['annotations']).slice(told?.annotations ?? 0)) {
        this.annotate(parseAnnotation(annotation), out)
      }
    }
  }
}

/** The type of an item. Messages may omit it. */
export function typeOf(item: JsonObject): string {
  return text(item['type']) ?? 'message'
}

function placeOf(kind: PartKind, at: number): string {
  return `${kind} ${at}`
}

/** An item at its start: without text, but with the parts that have no deltas. */
function shell(item: Item): Item {
  switch (item.type) {
    case 'message':
      return { ...item, content: item.content.filter(({ type }) => type !== 'text' && type !== 'refusal') }
    case 'reasoning': {
      const { seal: _, ...open } = item
      return { ...open, parts: [] }
    }
    case 'call':
      return { ...item, input: '' }
    case 'result':
    case 'opaque':
      return item
  }
}
