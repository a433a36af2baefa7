import { isObject } from '../../engine/kit.ts'
import type { GenerateEvent, Item } from '../../engine/index.ts'

type Of<T extends GenerateEvent['type']> = Extract<GenerateEvent, { type: T }>

interface Open {
  readonly type: Item['type']
  /** Whether a part is open. */
  part: boolean
}

/**
 * Checks the events that a stage makes. Printers rely on what the type says, and a stage may be JavaScript: what it
 * gets wrong would otherwise be lost on the way to the client.
 */
export class EventRules {
  readonly #open = new Map<number, Open>()

  /** Throws an error that says what is wrong with an event. */
  check(event: GenerateEvent): void {
    if (!isObject(event)) throw new Error('an event is no object')
    const wrong = this.#wrong(event)
    if (wrong) throw new Error(`an event "${event.type}" ${wrong}`)
  }

  /** Notes an event that the provider made: it is passed on whether or not it is right. */
  see(event: GenerateEvent): void {
    this.#wrong(event)
  }

  /** The items that are open. */
  get open(): Iterable<number> {
    return this.#open.keys()
  }

  #wrong(event: GenerateEvent): string | undefined {
    switch (event.type) {
      case 'start':
        return undefined
      case 'item':
        return this.#begin(event)
      case 'usage':
        return isObject(event.usage) ? undefined : 'has no usage'
      case 'finish':
        return stops.has(event.stop) ? undefined : 'has no known reason to stop'
      case 'failure':
        return isObject(event.failure) && typeof event.failure.message === 'string' ? undefined : 'has no failure'
      case 'part':
      case 'delta':
      case 'annotation':
      case 'seal':
      case 'progress':
      case 'item-end':
        return this.#within(event)
    }
    return 'is unknown'
  }

  #begin({ index, item }: Of<'item'>): string | undefined {
    if (!Number.isInteger(index) || index < 0) return 'has no index'
    if (!isObject(item)) return 'has no item'
    const wrong = wrongItem(item)
    if (!wrong) this.#open.set(index, { type: item.type, part: false })
    return wrong
  }

  #within(event: Extract<GenerateEvent, { readonly index: number }>): string | undefined {
    const open = this.#open.get(event.index)
    if (!open) return `belongs to no open item (index ${event.index})`
    switch (event.type) {
      case 'part':
        open.part = true
        return kinds.has(event.kind) ? undefined : 'has no known kind'
      case 'delta':
        if (typeof event.text !== 'string') return 'has no text'
        return open.part || open.type === 'call' ? undefined : 'belongs to no open part'
      case 'annotation':
        if (!isObject(event.annotation)) return 'has no annotation'
        return open.part ? undefined : 'belongs to no open part'
      case 'seal':
        return isObject(event.seal) && typeof event.seal.data === 'string' ? undefined : 'has no seal'
      case 'progress':
        return isObject(event.value) ? undefined : 'has no value'
      case 'item-end':
        this.#open.delete(event.index)
        return undefined
    }
  }
}

const stops: ReadonlySet<Of<'finish'>['stop']> = new Set([
  'end',
  'stop',
  'length',
  'context',
  'tool',
  'refusal',
  'filter',
  'pause',
])

const kinds: ReadonlySet<Of<'part'>['kind']> = new Set(['text', 'refusal', 'summary', 'reasoning'])

function wrongItem(item: Item): string | undefined {
  switch (item.type) {
    case 'message':
      return Array.isArray(item.content) ? undefined : 'is a message without content'
    case 'reasoning':
      return Array.isArray(item.parts) ? undefined : 'is reasoning without parts'
    case 'call':
      return typeof item.name === 'string' && typeof item.input === 'string' ? undefined : 'is a call without a name'
    case 'result':
      return Array.isArray(item.content) ? undefined : 'is a result without content'
    case 'opaque':
      return isObject(item.value) ? undefined : 'is opaque without a value'
  }
  return 'is of an unknown type'
}
