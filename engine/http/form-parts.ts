import { GatewayError } from '../spec/error.ts'

/** Most parts of a form. */
const partLimit = 100
/** Most bytes of a part's headers, and most headers. */
const headerLimit = 8 * 1024
const headerCount = 16
/** Most bytes of a field's name. */
const nameLimit = 100

/** One part of a form: what it is called, and where it stands in the bytes. */
export interface FormPart {
  readonly name: string
  /** It names a file; otherwise it is a text field. */
  readonly file: boolean
  /** Character set its own headers state, in lower case. */
  readonly charset?: string
  /** First byte of its headers. */
  readonly headers: number
  /** First byte of its content, and the byte after its last. */
  readonly start: number
  readonly end: number
}

/**
 * The parts of a `multipart/form-data` body (RFC 7578, RFC 2046 section 5.1), in order.
 * Stricter than either: whatever two readers could understand differently (a preamble, folded or repeated headers,
 * a delimiter line with anything after the boundary, encoded content, `name*`) is refused with `invalid_request`, so
 * that the upstream sees the same parts as the gateway.
 */
export function formParts(bytes: Buffer, contentType: string): readonly FormPart[] {
  const delimiter = Buffer.from(`\r\n--${boundaryOf(contentType)}`, 'latin1')
  const parts: FormPart[] = []
  let at = opening(bytes, delimiter)
  for (;;) {
    const after = bytes.toString('latin1', at, at + 2)
    if (after === '--') break
    if (after !== '\r\n') throw malformed('a delimiter line does not end after the boundary')
    if (parts.length === partLimit) throw malformed(`it has more than ${partLimit} parts`)
    const end = bytes.indexOf(delimiter, at)
    if (end < 0) throw malformed('it has no end')
    parts.push(partOf(bytes, at + 2, end))
    at = end + delimiter.length
  }
  const rest = bytes.toString('latin1', at + 2, at + 12)
  if (rest.length > 8 || rest.trim() !== '') throw malformed('something follows its end')
  return parts
}

/** The boundary that the content type names. */
export function boundaryOf(contentType: string): string {
  const [type, ...params] = contentType.split(';')
  if (type?.trim().toLowerCase() !== 'multipart/form-data')
    throw malformed('the content type is not multipart/form-data')
  const boundaries = params.filter((param) => /^\s*boundary/i.test(param))
  const match = /^\s*boundary=(?:"([^"]*)"|([^\s"]*))\s*$/i.exec(boundaries[0] ?? '')
  const boundary = match?.[1] ?? match?.[2] ?? ''
  // The characters of RFC 2046 without those that content types are cut at.
  if (boundaries.length !== 1 || !/^[0-9A-Za-z'()+_,./:=?-]{1,70}$/.test(boundary)) {
    throw malformed('the content type names no valid boundary')
  }
  return boundary
}

/** A form that cannot be read in exactly one way. */
export function malformed(reason: string): GatewayError {
  return new GatewayError('invalid_request', { reason: `The form is malformed: ${reason}.` })
}

function opening(bytes: Buffer, delimiter: Buffer): number {
  const first = delimiter.subarray(2)
  if (bytes.subarray(0, first.length).equals(first)) return first.length
  if (bytes.subarray(0, delimiter.length).equals(delimiter)) return delimiter.length
  throw malformed('it does not begin with its boundary')
}

function partOf(bytes: Buffer, headers: number, end: number): FormPart {
  const length = bytes.subarray(headers, Math.min(end, headers + headerLimit)).indexOf('\r\n\r\n')
  if (length < 0)
    throw malformed(end - headers > headerLimit ? 'the headers of a part are too long' : 'a part has no headers')
  const fields = headerFields(bytes.toString('latin1', headers, headers + length))
  const disposition = parameters(fields.get('content-disposition') ?? '', 'form-data')
  const name = disposition.get('name')
  if (name === undefined || disposition.has('name*')) throw malformed('a part has no plain name')
  if (Buffer.byteLength(name) > nameLimit) throw malformed(`the name of a part is longer than ${nameLimit} bytes`)
  if (!/^(7bit|8bit|binary)$/i.test(fields.get('content-transfer-encoding') ?? 'binary'))
    throw malformed('a part is encoded')
  const charset = /;\s{0,64}charset\s{0,64}=\s{0,64}"?([^\s";]+)/i
    .exec(fields.get('content-type') ?? '')?.[1]
    ?.toLowerCase()
  return {
    name,
    file: disposition.has('filename') || disposition.has('filename*'),
    ...(charset === undefined ? {} : { charset }),
    headers,
    start: headers + length + 4,
    end,
  }
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

/** Parameters of a header whose value must be `kind`, by their names in lower case. */
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
