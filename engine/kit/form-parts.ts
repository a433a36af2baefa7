import { GatewayError } from '../spec/error.ts'

/** Maximum number of parts. */
const partLimit = 100
/** Maximum bytes of a part's headers, and maximum number of headers. */
const headerLimit = 8 * 1024
const headerCount = 16
/** Maximum bytes of a field's name. */
const nameLimit = 100

/**
 * Maximum bytes of a text field, and of all text fields: they are parsed synchronously, which blocks other requests.
 */
export const fieldLimit = 1024 * 1024
const textLimit = 8 * fieldLimit

/** One part of a form: its name, and its position in the bytes. */
export interface FormPart {
  readonly name: string
  /** Whether it is a file; otherwise it is a text field. */
  readonly file: boolean
  /** The character set stated in its own headers, in lower case. */
  readonly charset?: string
  /** Its headers and the empty line after them. */
  readonly head: Buffer
  /** Its content; empty for a file. */
  readonly text: Buffer
  /** Offset of the first byte of its content, and of the byte after the last. */
  readonly start: number
  readonly end: number
}

type Growing = Omit<FormPart, 'end' | 'text'> & { end: number; text: Buffer }

/**
 * The parts of a `multipart/form-data` body (RFC 7578, RFC 2046 section 5.1), in order, parsed while it arrives. File
 * contents are not kept. The parser is stricter than both RFCs: it refuses with `invalid_request` whatever two
 * parsers could understand differently (a preamble, folded or repeated headers, a delimiter line with anything after
 * the boundary or a bare line feed before it, encoded content, `name*`). So the upstream sees the same parts as the gateway.
 */
export class FormParts {
  /** The delimiter between two parts. */
  readonly #delimiter: Buffer
  /** The same from its line feed on. */
  readonly #fromLineFeed: Buffer
  readonly #parts: Growing[] = []
  /** What the parser expects next. */
  #next: 'opening' | 'line' | 'head' | 'content' | 'ending' = 'opening'
  #at = 0
  /** Bytes that need more bytes before they can be parsed. */
  #rest: Buffer = nothing
  #texts = 0
  /** Bytes kept in memory: headers and texts. */
  kept = 0

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#fromLineFeed = this.#delimiter.subarray(1)
  }

  /** Parses the next bytes of the body. */
  push(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (let read = this.#read(bytes); read !== undefined; read = this.#read(bytes)) {
      this.#at += read
      bytes = bytes.subarray(read)
    }
    this.#rest = bytes.length === 0 ? nothing : Buffer.from(bytes)
  }

  /** The body has ended. Returns its parts. */
  end(): readonly FormPart[] {
    if (this.#next === 'ending') return this.#parts
    if (this.#next === 'opening') throw malformed('it does not begin with its boundary')
    if (this.#next === 'line') throw malformed('a delimiter line does not end after the boundary')
    throw malformed('it has no end')
  }

  /** Parses from `#at`. Returns the number of bytes consumed; undefined when it needs more. */
  #read(bytes: Buffer): number | undefined {
    switch (this.#next) {
      case 'opening':
        return this.#opening(bytes)
      case 'line':
        return this.#line(bytes)
      case 'head':
        return this.#head(bytes)
      case 'content':
        return this.#content(bytes)
      case 'ending':
        return this.#ending(bytes)
    }
  }

  #opening(bytes: Buffer): number | undefined {
    const first = bytes[0] === carriageReturn ? this.#delimiter : this.#delimiter.subarray(2)
    if (bytes.length < first.length) return undefined
    if (!bytes.subarray(0, first.length).equals(first)) throw malformed('it does not begin with its boundary')
    this.#next = 'line'
    return first.length
  }

  /** What follows a boundary: a line end, which is left for the headers, or the end of the form. */
  #line(bytes: Buffer): number | undefined {
    if (bytes.length < 2) return undefined
    const after = bytes.toString('latin1', 0, 2)
    if (after === '--') {
      this.#next = 'ending'
      return 2
    }
    if (after !== '\r\n') throw malformed('a delimiter line does not end after the boundary')
    if (this.#parts.length === partLimit) throw malformed(`it has more than ${partLimit} parts`)
    this.#next = 'head'
    return 0
  }

  /** The headers of a part, from the line end before them up to, but without, the end of their last line. */
  #head(bytes: Buffer): number | undefined {
    const lines = bytes.subarray(0, 2 + headerLimit)
    const last = lines.indexOf('\r\n\r\n', 2)
    const delimiter = lines.indexOf(this.#delimiter)
    if (delimiter >= 0 && (last < 0 || delimiter <= last)) throw malformed('a part has no headers')
    if (last >= 0) {
      const head = Buffer.from(lines.subarray(2, last + 4))
      this.kept += head.length
      this.#parts.push(partOf(head, this.#at + last + 4))
      this.#next = 'content'
      return last + 2
    }
    if (lines.length === 2 + headerLimit) throw malformed('the headers of a part are too long')
    return undefined
  }

  /** The content of a part, starting with the empty line before it. */
  #content(bytes: Buffer): number | undefined {
    const part = this.#parts.at(-1) as Growing
    const line = bytes.indexOf(this.#fromLineFeed)
    if (line >= 0 && bytes[line - 1] !== carriageReturn) throw malformed('a delimiter follows a bare line feed')
    const end = line - 1
    const read = end < 0 ? bytes.length - this.#open(bytes) : end
    if (end === 0 && this.#at < part.start) throw malformed('a part has no headers')
    const before = Math.max(0, part.start - this.#at)
    if (read > before) this.#keep(part, bytes.subarray(before, read))
    if (end >= 0) {
      part.text = part.text.subarray(0, part.end - part.start)
      this.#next = 'line'
      return end + this.#delimiter.length
    }
    return read === 0 ? undefined : read
  }

  /** Length of the end of `bytes` that may be the beginning of a delimiter, or of one after a bare line feed. */
  #open(bytes: Buffer): number {
    return Math.max(beginning(bytes, this.#delimiter), beginning(bytes, this.#fromLineFeed))
  }

  #keep(part: Growing, bytes: Buffer): void {
    const length = part.end - part.start
    part.end += bytes.length
    if (part.file) return
    this.kept += bytes.length
    this.#texts += bytes.length
    if (length + bytes.length > fieldLimit)
      throw new GatewayError('invalid_value', { param: part.name, reason: `it is longer than ${fieldLimit} bytes` })
    if (this.#texts > textLimit) throw malformed(`its texts are longer than ${textLimit} bytes`)
    // Chunks may be tiny, and a buffer per chunk would take more memory than its content.
    if (part.text.length < length + bytes.length)
      part.text = Buffer.concat([part.text.subarray(0, length)], Math.max(length + bytes.length, 2 * length))
    bytes.copy(part.text, length)
  }

  #ending(bytes: Buffer): undefined {
    if (bytes.length > 8 || bytes.toString('latin1').trim() !== '') throw malformed('something follows its end')
  }
}

const nothing = Buffer.alloc(0)
const carriageReturn = 0x0d

/** Length of the longest suffix of `bytes` that may be a prefix of `delimiter`. */
function beginning(bytes: Buffer, delimiter: Buffer): number {
  for (let length = Math.min(bytes.length, delimiter.length - 1); length > 0; length--)
    if (bytes.compare(delimiter, 0, length, bytes.length - length) === 0) return length
  return 0
}

/** The boundary in a content type. */
export function boundaryOf(contentType: string): string {
  const [type, ...params] = contentType.split(';')
  if (type?.trim().toLowerCase() !== 'multipart/form-data')
    throw malformed('the content type is not multipart/form-data')
  const boundaries = params.filter((param) => /^\s*boundary/i.test(param))
  const match = /^\s*boundary=(?:"([^"]*)"|([^\s"]*))\s*$/i.exec(boundaries[0] ?? '')
  const boundary = match?.[1] ?? match?.[2] ?? ''
  // The characters of RFC 2046, without those at which parsers split a content type.
  if (boundaries.length !== 1 || !/^[0-9A-Za-z'()+_,./:=?-]{1,70}$/.test(boundary)) {
    throw malformed('the content type names no valid boundary')
  }
  return boundary
}

/** The error for a form that two parsers could read differently. */
export function malformed(reason: string): GatewayError {
  return new GatewayError('invalid_request', { reason: `The form is malformed: ${reason}.` })
}

function partOf(head: Buffer, start: number): Growing {
  const fields = headerFields(head.toString('latin1', 0, head.length - 4))
  const disposition = parameters(fields.get('content-disposition') ?? '', 'form-data')
  const name = disposition.get('name')
  if (name === undefined || disposition.has('name*')) throw malformed('a part has no plain name')
  if (Buffer.byteLength(name) > nameLimit) throw malformed(`the name of a part is longer than ${nameLimit} bytes`)
  if (!/^(7bit|8bit|binary)$/i.test(fields.get('content-transfer-encoding') ?? 'binary'))
    throw malformed('a part is encoded')
  const charset = /;\s{0,64}charset\s{0,64}=\s{0,64}"?([^\s";]+)/i
    .exec(fields.get('content-type') ?? '')?.[1]
    ?.toLowerCase()
  const file = disposition.has('filename') || disposition.has('filename*')
  return { name, file, ...(charset === undefined ? {} : { charset }), head, text: nothing, start, end: start }
}

function headerFields(block: string): Map<string, string> {
  const lines = block.split('\r\n')
  if (lines.length > headerCount) throw malformed(`a part has more than ${headerCount} headers`)
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, name, value = ''] =
      /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([!-~\x80-\xff][\t -~\x80-\xff]*)?$/.exec(line) ?? []
    const key = name?.toLowerCase()
    if (key === undefined || fields.has(key)) throw malformed('the headers of a part are not valid')
    fields.set(key, value)
  }
  return fields
}

/** Parameters of a header whose value must be `kind`, by lower-case name. */
function parameters(header: string, kind: string): Map<string, string> {
  const found = new Map<string, string>()
  const parameter = /;[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]*))[ \t]*/y
  parameter.lastIndex = kind.length
  if (header.slice(0, kind.length).toLowerCase() !== kind) throw malformed('a part is no form data')
  while (parameter.lastIndex < header.length) {
    const [, name, quoted, plain] = parameter.exec(header) ?? []
    const key = name?.toLowerCase()
    if (key === undefined || found.has(key)) throw malformed('the name of a part cannot be read')
    const value = quoted?.replace(/\\(["\\])/g, '$1') ?? plain ?? ''
    found.set(key, Buffer.from(value, 'latin1').toString())
  }
  return found
}
