import { isObject } from '../../../engine/index.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { imageSize } from './image-size.ts'

/** What of a request costs tokens. */
export interface Gathered {
  readonly texts: readonly string[]
  /** Tokens of images and documents, by rule. */
  readonly media: number
}

/** Tokens of an image: one per 750 pixels, at most 1,600, because larger ones are scaled down. */
const pixelsPerToken = 750
const imageLimit = 1600
/** Base64 characters that are searched for an image's size. */
const imageHead = 128 * 1024

/** A PDF costs text and a picture of each page. Its length tells about how many; a remote one is taken for ten. */
const pageTokens = 2000
const pageBytes = 32 * 1024
const pageLimit = 100
const unknownPages = 10

/** Fields that hold no text for the model: base64, proofs and ciphertexts. */
const sealed: ReadonlySet<string> = new Set([
  'data',
  'signature',
  'encrypted_content',
  'encrypted_index',
  'cache_control',
])

/** The texts and media of a messages body: system, messages and tools. */
export function gather({ system, messages, tools }: JsonObject): Gathered {
  const gathering = new Gathering()
  gathering.content(system)
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isObject(message)) continue
    gathering.text(message['role'])
    gathering.content(message['content'])
  }
  if (Array.isArray(tools) && tools.length > 0) gathering.text(JSON.stringify(tools))
  return gathering
}

class Gathering implements Gathered {
  readonly texts: string[] = []
  media = 0

  text(value: Json | undefined): void {
    if (typeof value === 'string' && value !== '') this.texts.push(value)
  }

  /** A text, a block, or a list of them. */
  content(value: Json | undefined): void {
    if (Array.isArray(value)) for (const block of value) this.content(block)
    else if (isObject(value)) this.#block(value)
    else this.text(value)
  }

  #block(block: JsonObject): void {
    switch (block['type']) {
      case 'text':
        return this.text(block['text'])
      case 'thinking':
        return this.text(block['thinking'])
      case 'redacted_thinking':
        return undefined
      case 'image':
        this.media += imageTokens(isObject(block['source']) ? block['source']['data'] : undefined)
        return undefined
      case 'document':
        this.text(block['title'])
        this.text(block['context'])
        return this.#document(block['source'])
      case 'tool_use':
        this.text(block['name'])
        return this.text(JSON.stringify(block['input'] ?? {}))
      case 'tool_result':
        return this.content(block['content'])
      default:
        return this.#other(block)
    }
  }

  #document(source: Json | undefined): void {
    const { type, data, content } = isObject(source) ? source : {}
    if (type === 'text') this.text(data)
    else if (type === 'content') this.content(content)
    else this.media += documentTokens(data)
  }

  /** What this page does not know: its fields as JSON, and what it contains. */
  #other({ content, ...fields }: JsonObject): void {
    this.text(JSON.stringify(fields, (key, value: unknown) => (sealed.has(key) ? undefined : value)))
    this.content(content)
  }
}

/** Tokens of an image, given as base64; of any other, those of a large one. */
export function imageTokens(data: Json | undefined): number {
  const size = typeof data === 'string' ? imageSize(Buffer.from(data.slice(0, imageHead), 'base64')) : undefined
  return size ? Math.min(Math.ceil((size.width * size.height) / pixelsPerToken), imageLimit) : imageLimit
}

/** Tokens of a document, given as base64; of any other, those of an ordinary one. */
export function documentTokens(data: Json | undefined): number {
  return pageTokens * (typeof data === 'string' ? pages(data) : unknownPages)
}

function pages(base64: string): number {
  return Math.min(Math.max(Math.ceil((base64.length * 0.75) / pageBytes), 1), pageLimit)
}
