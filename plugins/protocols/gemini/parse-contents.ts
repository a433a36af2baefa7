import { isDeepStrictEqual } from 'node:util'
import type { AudioPart, FilePart, ImagePart, Item, MediaSource, Message } from '../../../engine/index.ts'
import type { Part as NeutralPart, Seal, ToolResult } from '../../../engine/index.ts'
import { asText, isObject } from '../../../engine/kit.ts'
import { parseSigned, placeholderSignature } from './signatures.ts'
import type { Signed } from './signatures.ts'
import type { Content, FunctionCall, FunctionResponse, Part } from './wire.ts'
import { protocol } from './wire.ts'

/** The texts of a system instruction as one message; none if it is empty. */
export function systemMessages(instruction: Content | null | undefined): readonly Message[] {
  const content = (instruction?.parts ?? []).flatMap((part) => {
    const text = asText(part.text)
    return text === '' ? [] : [{ type: 'text' as const, text }]
  })
  return content.length === 0 ? [] : [{ type: 'message', role: 'system', content }]
}

/**
 * The items of a conversation, in order. Chats of official clients keep each chunk of a stream as a turn of its own, so
 * adjacent turns of one role continue each other.
 */
export function conversationItems(contents: readonly Content[]): readonly Item[] {
  const reader = new ContentsReader()
  for (const { role, parts } of contents)
    for (const part of parts ?? []) reader.take(part, role === 'model' ? 'assistant' : 'user')
  return reader.end()
}

class ContentsReader {
  readonly #items: Item[] = []
  /** The message that further parts of its role continue. */
  #message: { readonly role: 'user' | 'assistant'; readonly content: NeutralPart[] } | undefined
  /** Text of a thought whose signature may still come. */
  #thought: string | undefined
  /** Calls without a result. */
  readonly #calls: { readonly name: string; readonly id: string; readonly callId: string }[] = []
  #named = 0

  take(part: Part, role: 'user' | 'assistant'): void {
    const signature = asText(part.thoughtSignature)
    if (part.thought === true) return this.#think(asText(part.text), signature)
    if (isObject(part.functionCall)) return this.#call(part.functionCall as FunctionCall, signature)
    if (isObject(part.functionResponse)) return this.#result(part.functionResponse as FunctionResponse)
    const content = contentOf(part)
    const signed = signature === '' || signature === placeholderSignature ? undefined : this.#signed(signature)
    if (signed?.place === 'before') this.#place(signed)
    if (content) this.#say(content, role)
    else if (Object.keys(part).some((name) => name !== 'thoughtSignature' && name !== 'text')) {
      this.#close()
      this.#items.push({ type: 'opaque', protocol, value: part, role })
    }
    if (signed && signed.place !== 'before') this.#place(signed)
  }

  end(): readonly Item[] {
    this.#close()
    return this.#items
  }

  #think(text: string, signature: string): void {
    if (this.#thought === undefined) this.#close()
    this.#thought = (this.#thought ?? '') + text
    if (signature !== '') this.#place(this.#signed(signature))
  }

  #say(content: NeutralPart, role: 'user' | 'assistant'): void {
    if (this.#message?.role !== role || this.#thought !== undefined) {
      this.#close()
      this.#message = { role, content: [] }
      this.#items.push({ type: 'message', ...this.#message })
    }
    const { content: parts } = this.#message ?? { content: [] }
    const last = parts.at(-1)
    // The chunks of one answer are one text.
    if (role === 'assistant' && content.type === 'text' && last?.type === 'text')
      parts[parts.length - 1] = { ...last, text: last.text + content.text }
    else parts.push(content)
  }

  #call({ id, name, args }: FunctionCall, signature: string): void {
    if (signature !== '' && signature !== placeholderSignature) this.#place(this.#signed(signature))
    this.#close()
    const callId = asText(id) || `call_${this.#named++}`
    this.#calls.push({ name, id: asText(id), callId })
    this.#items.push({ type: 'call', kind: 'function', callId, name, input: JSON.stringify(args ?? {}) })
  }

  /** A result answers the call of its id; without one, the first of its name. */
  #result(response: FunctionResponse): void {
    this.#close()
    const { name } = response
    const id = asText(response.id)
    const byId = id === '' ? -1 : this.#calls.findIndex((call) => call.id === id)
    const at = byId >= 0 ? byId : this.#calls.findIndex((call) => call.name === name)
    const [call] = at < 0 ? [] : this.#calls.splice(at, 1)
    this.#items.push(resultOf(response, call?.callId ?? (id || `call_${this.#named++}`)))
  }

  /** What a signature seals, with the thought right before it. */
  #signed(signature: string): Signed {
    const text = this.#thought ?? ''
    this.#thought = undefined
    return parseSigned(text, signature)
  }

  #place({ blocks, place }: Signed): void {
    this.#close()
    const last = this.#items.at(-1)
    const ahead = place === 'ahead' && last?.type === 'message' && last.role === 'assistant'
    const at = this.#items.length - (ahead ? 1 : 0)
    // The text itself may have the same signature.
    const repeated = place === 'ahead' && isDeepStrictEqual(sealOf(this.#items[at - 1]), sealOf(blocks.at(-1)))
    if (!repeated) this.#items.splice(at, 0, ...blocks)
  }

  #close(): void {
    this.#message = undefined
    if (this.#thought === undefined) return
    this.#items.push({ type: 'reasoning', parts: [{ kind: 'summary', text: this.#thought }] })
    this.#thought = undefined
  }
}

function sealOf(item: Item | undefined): Seal | undefined {
  return item?.type === 'reasoning' ? item.seal : undefined
}

function resultOf({ response, parts }: FunctionResponse, callId: string): ToolResult {
  const { error } = response ?? {}
  const [only, ...others] = Object.entries(response ?? {})
  const plain = only && others.length === 0 && typeof only[1] === 'string' ? only[1] : undefined
  const media = (parts ?? []).map(contentOf).filter((part) => part !== undefined)
  return {
    type: 'result',
    kind: 'function',
    callId,
    content: [{ type: 'text', text: plain ?? JSON.stringify(response ?? {}) }, ...media],
    ...(error === undefined || error === null ? {} : { error: true }),
  }
}

/** A part with text or a medium; undefined for any other. */
function contentOf(part: Part): NeutralPart | undefined {
  if (typeof part.text === 'string') return part.text === '' ? undefined : { type: 'text', text: part.text }
  if (isObject(part.inlineData)) {
    const { mimeType, data, displayName } = part.inlineData
    return medium({ kind: 'data', mediaType: asText(mimeType), data: asText(data) }, asText(mimeType), displayName)
  }
  if (!isObject(part.fileData)) return undefined
  const { mimeType, fileUri, displayName } = part.fileData
  return medium(sourceOf(asText(fileUri)), asText(mimeType), displayName)
}

/** Files that the vendor keeps are known to it alone. */
function sourceOf(uri: string): MediaSource {
  const kept = /^gs:|^(https:\/\/generativelanguage\.googleapis\.com\/v1(beta)?\/)?files\//.test(uri)
  return kept ? { kind: 'id', id: uri, api: protocol } : { kind: 'url', url: uri }
}

function medium(source: MediaSource, mimeType: string, name: unknown): ImagePart | AudioPart | FilePart {
  if (mimeType.startsWith('image/')) return { type: 'image', source }
  if (mimeType.startsWith('audio/')) {
    const format = mimeType
      .slice('audio/'.length)
      .replace(/^x-/, '')
      .replace(/^mpeg$/, 'mp3')
    return { type: 'audio', source, format }
  }
  return { type: 'file', source, ...(typeof name === 'string' ? { filename: name } : {}) }
}
