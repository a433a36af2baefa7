import { defined } from '../../../engine/kit.ts'
import type { JsonObject, Message, Part, Reasoning, ToolCall, ToolResult } from '../../../engine/index.ts'
import type { PairedCalls } from '../../../engine/kit.ts'
import { nativeDetails } from './native-details.ts'
import { separator } from './parse-messages.ts'
import { plainText, printCache, printPart } from './parts.ts'
import type { ToolPrinting } from './tools.ts'
import { protocol } from './wire.ts'

/** Context for printing messages. */
export interface MessagePrinting extends ToolPrinting {
  /** The origin whose seals are printed. */
  readonly origin: string
}

/** Collects one turn of the assistant: one message, the results of its calls, and their media. */
export class Turn {
  readonly #printing: MessagePrinting
  /** Printed text of each message of the turn. */
  readonly #said: JsonObject[][] = []
  readonly #calls: ToolCall[] = []
  readonly #details: JsonObject[] = []
  #reasoning = ''
  #refusal = ''
  #name: string | undefined
  #extra: JsonObject = {}
  #last: 'message' | 'reasoning' | 'call' | undefined
  /** The turn has more than reasoning, which may be dropped. */
  #spoken = false

  constructor(printing: MessagePrinting) {
    this.#printing = printing
  }

  /** A message right after another stays separate. After reasoning or calls it belongs to their turn. */
  get endsBeforeMessage(): boolean {
    return this.#last === 'message' && this.#calls.length === 0
  }

  say({ content, name, phase }: Message): void {
    if (phase !== undefined) this.#printing.losses.add('phase', 'this protocol has no such field')
    this.#last = 'message'
    this.#spoken = true
    this.#name ??= name
    const said = content.map((part) => this.#part(part)).filter((part) => part !== undefined)
    if (said.length > 0) this.#said.push(said)
  }

  think(item: Reasoning): void {
    const { origin, traits, losses } = this.#printing
    if (item.seal?.origin !== origin) return losses.add('reasoning', 'another provider or model made it')
    this.#last = 'reasoning'
    const details = nativeDetails(item)
    for (const entry of details) this.#details.push(entry)
    if (details.length === 0 && item.seal.data !== '') losses.add('reasoning', 'it is in the form of another protocol')
    const text = item.parts.map((part) => part.text).join('')
    if (traits.reasoning_content) this.#reasoning += text
    else if (item.seal.data === '' && text !== '') losses.add('reasoning', 'the provider does not take it back')
  }

  call(item: ToolCall): void {
    this.#last = 'call'
    this.#spoken = true
    this.#calls.push(item)
  }

  /** The message, then one tool message per call, then the media of the results. Empty if the turn is empty. */
  print(calls: PairedCalls): JsonObject[] {
    const answers = this.#calls.map((call) => this.#answer(calls.id(call), calls.answer(call)?.result))
    const media = answers.flatMap((answer) => answer.media)
    return [
      ...this.#message(calls),
      ...answers.map((answer) => answer.message),
      ...(media.length > 0 ? [{ role: 'user', content: media }] : []),
    ]
  }

  #message(calls: PairedCalls): JsonObject[] {
    const extra = Object.keys(this.#extra).length > 0
    const replayed = this.#details.length > 0 || this.#reasoning !== ''
    if (!this.#spoken && !replayed) return []
    const bare = this.#calls.length > 0 || this.#refusal !== '' || extra
    return [
      defined({
        role: 'assistant',
        name: this.#name,
        content: this.#content() ?? (bare ? null : ''),
        refusal: this.#refusal === '' ? undefined : this.#refusal,
        ...this.#extra,
        reasoning_content: this.#reasoning === '' ? undefined : this.#reasoning,
        reasoning_details: this.#details.length > 0 ? this.#details : undefined,
        tool_calls:
          this.#calls.length > 0 ? this.#calls.map((call) => this.#printCall(call, calls.id(call))) : undefined,
      }),
    ]
  }

  /** Adds a part. A part with its own field in the message goes there instead. */
  #part(part: Part): JsonObject | undefined {
    switch (part.type) {
      case 'text':
        return printPart(part, this.#printing)
      case 'refusal':
        this.#refusal += part.text
        return undefined
      case 'opaque':
        if (part.protocol !== protocol || part.value['type'] !== undefined) return printPart(part, this.#printing)
        this.#extra = part.value
        return undefined
      default:
        this.#printing.losses.add(part.type, 'this protocol has none in the messages of the assistant')
        return undefined
    }
  }

  /** One string, which every server accepts, unless parts must stay separate. */
  #content(): string | JsonObject[] | undefined {
    if (this.#said.length === 0) return undefined
    const texts = this.#said.map((parts) => plainText(parts, ''))
    return texts.every((text) => text !== undefined) ? texts.join(separator) : this.#said.flat()
  }

  #printCall(call: ToolCall, id: string): JsonObject {
    const { names, traits } = this.#printing
    const name = names.printed(call)
    const cache = printCache(call.cache, this.#printing)
    if (call.kind === 'custom' && traits.custom_tools)
      return { id, type: 'custom', custom: { name, input: call.input }, ...cache }
    const input = call.kind === 'custom' ? JSON.stringify({ input: call.input }) : call.input
    return { id, type: 'function', function: { name, arguments: input === '' ? '{}' : input }, ...cache }
  }

  #answer(id: string, result: ToolResult | undefined): { message: JsonObject; media: JsonObject[] } {
    if (!result) {
      this.#printing.losses.add('messages', 'a call without a result was answered as cancelled')
      return { message: { role: 'tool', tool_call_id: id, content: 'Error: the call was cancelled.' }, media: [] }
    }
    const parts = result.content.map((part) => printPart(part, this.#printing)).filter((part) => part !== undefined)
    const text = parts
      .filter((part) => part['type'] === 'text')
      .map((part) => part['text'] as string)
      .join('\n')
    const told = result.error === true ? `Error: ${text}` : text
    const cache = printCache(result.cache ?? lastCache(result), this.#printing)
    const content = cache['cache_control'] ? [{ type: 'text', text: told, ...cache }] : told
    return {
      message: { role: 'tool', tool_call_id: id, content },
      media: parts.filter((part) => part['type'] !== 'text'),
    }
  }
}

/** The cache mark of a result, whose parts become one text. */
function lastCache({ content }: ToolResult) {
  return content.findLast((part) => part.type === 'text')?.cache
}
