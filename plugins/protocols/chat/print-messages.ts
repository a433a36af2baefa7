import { GatewayError } from '../../../engine/index.ts'
import { defined, PairedCalls } from '../../../engine/kit.ts'
import type { Item, JsonObject, Message } from '../../../engine/index.ts'
import { plainText, printPart, wordOf } from './parts.ts'
import { Turn } from './turn.ts'
import type { MessagePrinting } from './turn.ts'

/**
 * Prints items as messages. One turn of the assistant is one message. The results of its calls follow it directly, in
 * the order of the calls, even if other items were between. Throws `invalid_value` for a result without its call.
 */
export function printMessages(items: readonly Item[], printing: MessagePrinting): JsonObject[] {
  const calls = new PairedCalls(items)
  const messages: JsonObject[] = []
  let turn: Turn | undefined
  const close = () => {
    for (const message of turn?.print(calls) ?? []) messages.push(message)
    turn = undefined
  }
  const open = () => (turn ??= new Turn(printing))
  const speak = (item: Message) => {
    if (item.role !== 'assistant') {
      close()
      messages.push(printMessage(item, item.role, printing))
      return
    }
    if (turn?.endsBeforeMessage) close()
    open().say(item)
  }
  for (const item of items) {
    switch (item.type) {
      case 'message':
        speak(item)
        break
      case 'reasoning':
        open().think(item)
        break
      case 'call':
        open().call(item)
        break
      case 'result':
        if (!calls.call(item)) throw orphaned(item.callId)
        // The turn of its call prints it; that turn is over here.
        close()
        break
      case 'opaque':
        printing.losses.add(wordOf(item.value), `only ${item.protocol} has it`)
        if (item.instead) speak(item.instead)
    }
  }
  close()
  return messages
}

function orphaned(callId: string): GatewayError {
  const reason = `No tool call found for the result with call id ${callId.slice(0, 128)}.`
  return new GatewayError('invalid_request', { reason })
}

function printMessage(
  { content, name }: Message,
  role: 'system' | 'developer' | 'user',
  printing: MessagePrinting,
): JsonObject {
  const parts = content.map((part) => printPart(part, printing)).filter((part) => part !== undefined)
  if (role === 'user')
    return defined({ role, name, content: parts.length > 1 ? parts : (plainText(parts, '') ?? parts) })
  return defined({ role: printing.traits.system_role, name, content: plainText(parts, '\n\n') ?? parts })
}
