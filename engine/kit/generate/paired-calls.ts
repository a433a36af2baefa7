import type { Item, ToolCall, ToolResult } from '../../spec/generate.ts'
import { legalCallId } from './names.ts'

/** A result, and its index among the items. */
export interface CallAnswer {
  readonly result: ToolResult
  readonly at: number
}

/** Calls of one turn with the same id; those before `next` have results. */
interface Waiting {
  readonly turn: number
  readonly calls: ToolCall[]
  next: number
}

/**
 * Gives each call of a conversation a unique id, and pairs it with its result. Some servers count calls from zero in
 * each turn, or give several calls of one turn the same id. A result belongs to the latest turn with an open call of
 * its id, and there to the first such call.
 */
export class PairedCalls {
  readonly #ids = new Map<ToolCall, string>()
  readonly #answers = new Map<ToolCall, CallAnswer>()
  readonly #calls = new Map<ToolResult, ToolCall>()

  constructor(items: readonly Item[]) {
    const unique = uniqueIds()
    const open = new Map<string, Waiting[]>()
    let turn = 0
    for (const [at, item] of items.entries()) {
      if (item.type === 'call') {
        wait(open, item, turn)
        this.#ids.set(item, unique(item.callId))
      } else if (item.type === 'result') {
        turn++
        const call = answered(open, item.callId)
        if (!call) continue
        this.#answers.set(call, { result: item, at })
        this.#calls.set(item, call)
      } else if (item.type === 'message' && item.role !== 'assistant') turn++
    }
  }

  /** An id that every protocol accepts and no other call has. */
  id(call: ToolCall): string {
    return this.#ids.get(call) ?? legalCallId(call.callId)
  }

  answer(call: ToolCall): CallAnswer | undefined {
    return this.#answers.get(call)
  }

  /** The call of a result; undefined if no earlier call with its id is open. */
  call(result: ToolResult): ToolCall | undefined {
    return this.#calls.get(result)
  }
}

function wait(open: Map<string, Waiting[]>, call: ToolCall, turn: number): void {
  const turns = open.get(call.callId) ?? []
  open.set(call.callId, turns)
  const last = turns.at(-1)
  if (last?.turn === turn) last.calls.push(call)
  else turns.push({ turn, calls: [call], next: 0 })
}

function answered(open: Map<string, Waiting[]>, callId: string): ToolCall | undefined {
  const turns = open.get(callId)
  const last = turns?.at(-1)
  const call = last?.calls[last.next++]
  if (last && last.next >= last.calls.length) turns?.pop()
  return call
}

function uniqueIds(): (callId: string) => string {
  const taken = new Set<string>()
  const times = new Map<string, number>()
  return (callId) => {
    let again = times.get(callId) ?? 1
    let id = legalCallId(again === 1 ? callId : `${callId}_${again}`)
    while (taken.has(id)) id = legalCallId(`${callId}_${++again}`)
    times.set(callId, again)
    taken.add(id)
    return id
  }
}
