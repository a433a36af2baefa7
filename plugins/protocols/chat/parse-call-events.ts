import { randomUUID } from 'node:crypto'
import { CustomInput, isObject, legalCallId, restored } from '../../../engine/kit.ts'
import type { Json, JsonObject, Restore, ToolCall } from '../../../engine/index.ts'
import type { Events } from './events.ts'
import { jsonText } from './parse-messages.ts'

interface OpenCall {
  /** Its position among the calls of the answer. */
  readonly number: number
  /** The upstream's id, once it has arrived. */
  id: string
  /** Number of the item, once the name is known and it could be opened. */
  item: number | undefined
  /** Input that arrived before the name. */
  held: string
  custom: CustomInput | undefined
}

/** One delta of a call, in any of its shapes. */
interface Piece {
  readonly id: string
  readonly name: string
  readonly input: string
  readonly custom: boolean
}

/** Calls as they arrive. Several may be open at once, distinguished by their `index` if there is one. */
export class CallParser {
  readonly #events: Events
  readonly #restore: Restore | undefined
  readonly #calls: OpenCall[] = []
  /** The first call of each upstream id. */
  readonly #named = new Map<string, OpenCall>()
  /** The current call of each index. */
  readonly #current = new Map<number, OpenCall>()

  constructor(events: Events, restore: Restore | undefined) {
    this.#events = events
    this.#restore = restore
  }

  /** Adds the `tool_calls` of one chunk. Calls without an id get one derived from `replyId`. */
  read(list: readonly Json[], replyId: string | undefined): void {
    for (const [at, value] of list.entries()) if (isObject(value)) this.#piece(value, at, replyId)
  }

  get any(): boolean {
    return this.#calls.length > 0
  }

  /** Ends every call. Returns false if one never got a name. */
  close(): boolean {
    for (const { item, custom } of this.#calls) {
      if (item === undefined) return false
      const rest = custom?.end() ?? ''
      if (rest !== '') this.#events.push({ type: 'delta', index: item, text: rest })
      this.#events.push({ type: 'item-end', index: item })
    }
    return true
  }

  #piece(value: JsonObject, at: number, replyId: string | undefined): void {
    const piece = pieceOf(value)
    const index = typeof value['index'] === 'number' ? value['index'] : undefined
    const call = this.#continued(piece, index, at) ?? this.#begin(index ?? at)
    if (call.id === '') this.#name(call, piece.id)
    if (call.item === undefined && piece.name !== '') this.#open(call, piece, replyId)
    this.#input(call, piece.input)
  }

  /**
   * The call that a delta continues. A new id together with a name starts another call, even under a known index.
   * Without an index, a name alone starts one, too, and a delta with neither continues the call at its position in the
   * list.
   */
  #continued({ id, name }: Piece, index: number | undefined, at: number): OpenCall | undefined {
    if (index === undefined && id !== '') {
      const known = this.#named.get(id)
      if (known) return known
    }
    const current =
      this.#current.get(index ?? at) ?? (index === undefined && name === '' ? this.#calls.at(-1) : undefined)
    if (!current || name === '') return current
    if (current.item === undefined) return current
    if (index === undefined) return undefined
    return id !== '' && current.id !== '' && id !== current.id ? undefined : current
  }

  #begin(key: number): OpenCall {
    const call: OpenCall = { number: this.#calls.length, id: '', item: undefined, held: '', custom: undefined }
    this.#calls.push(call)
    this.#current.set(key, call)
    return call
  }

  #name(call: OpenCall, id: string): void {
    call.id = id
    if (id !== '' && !this.#named.has(id)) this.#named.set(id, call)
  }

  #open(call: OpenCall, { name, custom }: Piece, replyId: string | undefined): void {
    const tool = restored(this.#restore, name)
    // Results refer to calls by id, so a call without an id, or with the id of another call, gets a new one.
    const own = this.#named.get(call.id) === call
    const callId = own ? call.id : legalCallId(`${replyId ?? randomUUID()}:${call.number}`)
    const kind: ToolCall['kind'] = custom ? 'custom' : tool.kind
    const { name: called, namespace } = tool
    if (!custom && kind === 'custom') call.custom = new CustomInput()
    const space = namespace === undefined ? {} : { namespace }
    call.item = this.#events.open({ type: 'call', kind, callId, name: called, ...space, input: '' })
  }

  #input(call: OpenCall, input: string): void {
    if (call.item === undefined) {
      call.held += input
      return
    }
    const whole = call.held + input
    call.held = ''
    const text = call.custom ? call.custom.push(whole) : whole
    if (text !== '') this.#events.push({ type: 'delta', index: call.item, text })
  }
}

function pieceOf(value: JsonObject): Piece {
  const { id, function: called, custom } = value
  const inner = isObject(custom) ? custom : isObject(called) ? called : {}
  return {
    id: typeof id === 'string' ? id : '',
    name: typeof inner['name'] === 'string' ? inner['name'] : '',
    input: jsonText(isObject(custom) ? inner['input'] : inner['arguments']),
    custom: isObject(custom),
  }
}
