import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'

const boundary = 'the-boundary'

/** A form with a recording of so many bytes; the field with the model's name stands before or after it. */
export interface Upload {
  readonly model: string
  readonly size: number
  readonly place: 'first' | 'last'
  /** What stands in the place of the form's end. */
  readonly end?: string
}

const piece = Buffer.from(Array.from({ length: 65_537 }, (_, index) => index % 251))

/** The bytes of the form, some at a time. */
export function* bytesOf({ model, size, place, end = `--${boundary}--\r\n` }: Upload): Generator<Uint8Array> {
  const head = (name: string, more = '') =>
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`)
  const text = (name: string, value: string) => Buffer.concat([head(name), Buffer.from(`${value}\r\n`)])
  if (place === 'first') yield text('model', model)
  yield text('language', 'de')
  yield head('file', '; filename="call.wav"\r\nContent-Type: audio/wav')
  for (let left = size; left > 0; left -= piece.length) yield left < piece.length ? piece.subarray(0, left) : piece
  yield Buffer.from('\r\n')
  if (place === 'last') yield text('model', model)
  yield Buffer.from(end)
}

/** Hashes of all bytes, of the first half and of the second, and how many there are. */
export function fingerprint(upload: Upload): string {
  let size = 0
  for (const bytes of bytesOf(upload)) size += bytes.length
  const halves = [createHash('sha256'), createHash('sha256')] as const
  const whole = createHash('sha256')
  let at = 0
  for (const bytes of bytesOf(upload)) {
    const middle = Math.min(Math.max(0, (size >> 1) - at), bytes.length)
    whole.update(bytes)
    halves[0].update(bytes.subarray(0, middle))
    halves[1].update(bytes.subarray(middle))
    at += bytes.length
  }
  return [...[whole, ...halves].map((hash) => hash.digest('hex')), size].join(' ')
}

/** Begins to send a form; its length is told only where it is asked for. */
export function begin(url: string, key: string, length?: number): ClientRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${boundary}` }
  const asking = request(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: length === undefined ? headers : { ...headers, 'content-length': length },
  })
  return asking
}

/** The answer to a form; `wait` is its `retry-after`, if it has one. */
interface Uploaded {
  readonly status: number
  readonly body: string
  readonly wait?: string
}

/** Sends a form as fast as it is taken, and gives the answer. */
export async function upload(url: string, key: string, form: Upload): Promise<Uploaded> {
  const asking = begin(url, key)
  const answered = once(asking, 'response') as Promise<[IncomingMessage]>
  let refused = false
  void answered.then(() => (refused = true))
  for (const bytes of bytesOf(form)) {
    if (refused) break
    if (!asking.write(bytes)) await Promise.race([once(asking, 'drain'), answered])
  }
  asking.end()
  const [response] = await answered
  const wait = response.headers['retry-after']
  const body = Buffer.concat(await response.toArray()).toString()
  return { status: response.statusCode ?? 0, body, ...(wait === undefined ? {} : { wait }) }
}
