import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { imageSize } from './image-size.ts'

/** The parts of a request that cost tokens. */
export interface Gathered {
  readonly texts: readonly string[]
  /** Tokens of images and documents, by rule. */
  readonly media: number
}

/** Tokens of an image: one per 750 pixels, at most 1,600, because larger ones are scaled down. */
const pixelsPerToken = 750
const imageLimit = 1600
/** Number of base64 characters that are searched for the size of an image. */
const imageHead = 128 * 1024

/**
 * A PDF costs the text and an image of each page. The page count is estimated from its length; a remote PDF counts as
 * ten.
 */
const pageTokens = 2000
const pageBytes = 32 * 1024
const pageLimit = 100
const unknownPages = 10

/** Gathers the body of one protocol. A subclass knows the content of items (or blocks, or parts). */
export abstract class Gathering implements Gathered {
  readonly texts: string[] = []
  media = 0

  /** Gathers the content of an item. */
  protected abstract item(item: JsonObject): void

  text(value: Json | undefined): void {
    if (typeof value === 'string' && value !== '') this.texts.push(value)
  }

  /** Counts an image in base64. Any other image counts as a large one. */
  image(data: Json | undefined): void {
    this.media += imageTokens(data)
  }

  /** Counts a document in base64. Any other document counts as an ordinary one. */
  document(data: Json | undefined): void {
    this.media += pageTokens * (typeof data === 'string' ? pages(data) : unknownPages)
  }

  /** Gathers a text, an item, or a list of them. */
  content(value: Json | undefined): void {
    if (Array.isArray(value)) for (const one of value) this.content(one)
    else if (isObject(value)) this.item(value)
    else this.text(value)
  }
}

function imageTokens(data: Json | undefined): number {
  const size = typeof data === 'string' ? imageSize(Buffer.from(data.slice(0, imageHead), 'base64')) : undefined
  return size ? Math.min(Math.ceil((size.width * size.height) / pixelsPerToken), imageLimit) : imageLimit
}

function pages(base64: string): number {
  return Math.min(Math.max(Math.ceil((base64.length * 0.75) / pageBytes), 1), pageLimit)
}
