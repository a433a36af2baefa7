import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
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

/** Gathers from the body of one protocol, which says what its items (or blocks, or parts) hold. */
export abstract class Gathering implements Gathered {
  readonly texts: string[] = []
  media = 0

  /** Gathers what an item holds. */
  protected abstract item(item: JsonObject): void

  text(value: Json | undefined): void {
    if (typeof value === 'string' && value !== '') this.texts.push(value)
  }

  /** An image in base64; any other counts as a large one. */
  image(data: Json | undefined): void {
    this.media += imageTokens(data)
  }

  /** A document in base64; any other counts as an ordinary one. */
  document(data: Json | undefined): void {
    this.media += pageTokens * (typeof data === 'string' ? pages(data) : unknownPages)
  }

  /** A text, an item, or a list of them. */
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
