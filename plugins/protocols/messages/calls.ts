import type { Item, ToolCall, ToolResult } from '../../../engine/index.ts'
import { legalCallId } from '../../../engine/index.ts'

/** A result, and where among the items it stands. */
interface Answer {
  readonly result: ToolResult
  readonly at: number
}

/** The calls of a conversation: an id of its own for each, and its result. */
export class Calls {
  readonly #ids = new Map<ToolCall, string>()
  readonly #answers = new Map<ToolCall, Answer>()
  readonly #orphans = new Set<ToolResult>()

  constructor(items: readonly Item[]) {
    const unique = uniqueIds()
    const open = new Map<string, ToolCall>()
    for (const [at, item] of items.entries()) {
      if (item.type === 'call') {
        open.set(item.callId, item)
        this.#ids.set(item, unique(item.callId))
      }
      if (item.type === 'result') this.#pair(open, item, at)
    }
  }

  id(call: ToolCall): string {
    return this.#ids.get(call) ?? legalCallId(call.callId)
  }

  answer(call: ToolCall): Answer | undefined {
    return this.#answers.get(call)
  }

  /** Whether a result belongs to no call, or to one that was answered before. */
  isOrphan(result: ToolResult): boolean {
    return this.#orphans.has(result)
  }

  /** The same id may be used again once it was answered. */
  #pair(open: Map<string, ToolCall>, result: ToolResult, at: number): void {
    const call = open.get(result.callId)
    if (call) this.#answers.set(call, { result, at })
    else this.#orphans.add(result)
    open.delete(result.callId)
  }
}

/** Some servers count calls from zero again in each turn, which the wire refuses. */
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
