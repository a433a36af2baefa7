import { isUtf8 } from 'node:buffer'
import { GatewayError } from '../spec/error.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { Body, BodyReader } from '../spec/source.ts'
import { spliced } from '../stream/body.ts'
import type { Token } from '../json/client-json.ts'
import { FormParts, boundaryOf, fieldLimit, malformed } from './form-parts.ts'
import type { FormPart } from './form-parts.ts'

/** A file of a form, without its content. */
export interface FormFile {
  readonly name: string
  /** The last segment of the path that the client sent. Never used as a path. */
  readonly filename: string
  /** The client's media type, in lower case, without parameters. */
  readonly mediaType: string
  /** Length of the content in bytes. */
  readonly bytes: number
}

/** A parsed form. */
export interface Form {
  /**
   * All parts by name, as a protocol's schema describes them: a text is a string, a file is `{ filename, mediaType,
   * bytes }`. A name that is repeated, or ends in `[]`, holds a list. Has no prototype.
   */
  readonly fields: JsonObject
  readonly files: readonly FormFile[]
  readonly parts: readonly FormPart[]
}

/**
 * Parses a `multipart/form-data` body while it arrives, and keeps only its text fields. Throws `invalid_request` when
 * it is malformed, truncated, or beyond a limit (100 parts, names of 100 bytes, texts of 1 MiB each and 8 MiB in
 * total).
 */
export class FormReader implements BodyReader {
  readonly memory = 256 * 1024
  readonly #parts: FormParts
  readonly #boundary: string

  constructor(contentType: string) {
    this.#boundary = boundaryOf(contentType)
    this.#parts = new FormParts(this.#boundary)
  }

  get kept(): number {
    return this.#parts.kept
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk)
  }

  /** The fields of the whole form. */
  async read(): Promise<Form> {
    const parts = this.#parts.end()
    const found = await parse(withoutFiles(parts, this.#boundary), this.#boundary)
    const fields = new Map<string, Json[]>()
    const files: FormFile[] = []
    for (const [index, { name, file, start, end }] of parts.entries()) {
      const given = found[index]
      if (!given || given.name !== name || file !== (given.file !== undefined)) throw malformed('it is ambiguous')
      const described = given.file && { ...given.file, bytes: end - start }
      if (described) files.push({ name, ...described })
      fields.set(name, [...(fields.get(name) ?? []), described ?? given.text])
    }
    return { fields: listed(fields), files, parts }
  }
}

/**
 * The position of the content of the single text field `name`. Throws `invalid_value` when the field is missing, is
 * repeated, or is not one line of UTF-8 text.
 */
export function fieldAt({ parts }: Pick<Form, 'parts'>, name: string): Token {
  const [part, ...others] = parts.filter((candidate) => candidate.name === name)
  const refuse = (reason: string) => new GatewayError('invalid_value', { param: name, reason })
  if (!part) throw refuse('it is missing')
  if (others.length > 0) throw refuse('it is there more than once')
  if (part.file || !/^(utf-?8|us-ascii)$/.test(part.charset ?? 'utf-8') || !isUtf8(part.text))
    throw refuse('it is not UTF-8 text')
  if (part.text.includes('\n') || part.text.includes('\r')) throw refuse('it has line breaks')
  return { start: part.start, end: part.end }
}

/**
 * The form with `value` in place of the content at `place`; all other bytes stay as they are. `value` must be one
 * line.
 */
export function spliceField(body: Body, place: Token, value: string): Body {
  if (/[\r\n]/.test(value)) throw new TypeError('The new value of a form field must be one line.')
  return spliced(body, place, Buffer.from(value))
}

/** What the parser returns for a part. */
interface Given {
  readonly name: string
  readonly text: string
  readonly file?: { readonly filename: string; readonly mediaType: string }
}

/** The same form with empty files: parsing their content would only cost time. */
function withoutFiles(parts: readonly FormPart[], boundary: string): Buffer {
  const line = Buffer.from(`--${boundary}\r\n`)
  const newline = Buffer.from('\r\n')
  const pieces = parts.flatMap(({ head, text }) => [line, head, text, newline])
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--`)])
}

async function parse(form: Buffer, boundary: string): Promise<readonly Given[]> {
  // Loaded on first use: most requests are JSON.
  const { Busboy } = await import('@fastify/busboy')
  return new Promise((resolve, reject) => {
    const found: Given[] = []
    const parser = new Busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      isPartAFile: (_name, _type, filename) => filename !== undefined,
      limits: { fieldSize: fieldLimit },
    })
    parser.on('field', (name, text) => found.push({ name, text }))
    parser.on('file', (name, stream, filename, _encoding, mediaType) => {
      stream.resume()
      found.push({ name, text: '', file: { filename, mediaType } })
    })
    parser.on('error', () => reject(malformed('it cannot be parsed')))
    parser.on('finish', () => resolve(found))
    parser.end(form)
  })
}

function listed(fields: ReadonlyMap<string, readonly Json[]>): JsonObject {
  const body = Object.create(null) as Record<string, Json>
  for (const [name, values] of fields) {
    const [only, ...others] = values
    body[name] = only === undefined || others.length > 0 || name.endsWith('[]') ? values : only
  }
  return body
}
