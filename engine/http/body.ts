import type { IncomingMessage } from 'node:http'
import type { BodyReader, Flow, Sink } from '../spec/source.ts'
import { BytesBody } from '../stream/body.ts'
import { joinedBytes } from '../stream/buffer-of.ts'
import { byteBudgetSpent } from '../stream/byte-budget.ts'
import type { Hold } from '../stream/byte-budget.ts'
import { ArrivingBody } from './arriving.ts'
import type { ArrivalLimits } from './arriving.ts'
import type { HttpLimits } from '../config/limits.ts'
import type { ExchangeScope } from './scope.ts'
import type { SpoolFile } from './spool.ts'

/** Limits and budget for reading a body. */
export interface BodyReading extends ArrivalLimits {
  readonly hold: Hold
  /** Stands still while the body arrives. */
  readonly clock?: Pick<ExchangeScope, 'stand' | 'go'>
}

/**
 * Reads the whole body of a request. Its bytes stay reserved in the budget until `hold` is released; a refused body
 * releases them at once. Rejects with `request_too_large`, `unsupported_media_type` (a compressed body),
 * `request_timeout`, `overloaded`, or `client_closed`.
 */
export function readBody(request: IncomingMessage, reading: BodyReading): Promise<BytesBody> {
  return new Promise((resolve, reject) => {
    const arriving = new ArrivingBody(request, reading)
    reading.clock?.stand()
    arriving.open(new Gathering(arriving, reading, resolve, reject))
  })
}

/** The chunks of a body that stays in memory. */
class Gathering implements Sink {
  readonly #arriving: ArrivingBody
  readonly #reading: BodyReading
  readonly #resolve: (body: BytesBody) => void
  readonly #reject: (error: Error) => void
  /** Made for the first chunk: V8 gives a list that grows from nothing room for 17 elements. */
  #parts: Uint8Array[] | undefined

  constructor(
    arriving: ArrivingBody,
    reading: BodyReading,
    resolve: (body: BytesBody) => void,
    reject: (error: Error) => void,
  ) {
    this.#arriving = arriving
    this.#reading = reading
    this.#resolve = resolve
    this.#reject = reject
  }

  data(chunk: Uint8Array): void {
    if (!this.#reading.hold.take(chunk.length)) {
      this.#arriving.cancel()
      this.fail(byteBudgetSpent())
    } else if (this.#parts) this.#parts.push(chunk)
    else this.#parts = [chunk]
  }

  end(): void {
    this.#reading.clock?.go()
    this.#resolve(new BytesBody(joinedBytes(this.#parts ?? [])))
  }

  fail(error: Error): void {
    this.#reading.clock?.go()
    this.#parts = undefined
    this.#reading.hold.release()
    this.#reject(error)
  }
}

/**
 * Like `readBody`, with a `reader` that sees each chunk. A body larger than the reader wants in memory is written to
 * a file, which the caller has to close. `hold` counts only bytes in memory.
 * @param open makes that file
 */
export function readAlong(
  request: IncomingMessage,
  reading: BodyReading,
  reader: BodyReader,
  open: () => Promise<SpoolFile>,
): Promise<BytesBody | SpoolFile> {
  return new Promise((resolve, reject) => {
    const arriving = new ArrivingBody(request, reading)
    arriving.open(new Spooling(arriving, reading.hold, reader, open, { resolve, reject }))
  })
}

/** Frees the memory of a chunk at once: garbage collection would only start after tens of megabytes of chunks. */
function free({ buffer, length }: Buffer): void {
  if (length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

interface Taken {
  resolve(body: BytesBody | SpoolFile): void
  reject(error: Error): void
}

/** Maximum bytes waiting for the disk; beyond it the sender is paused. */
const waitingLimit = 1024 * 1024

/** Reads a body into memory while it is small, and spools a larger one to a file while it arrives. */
class Spooling implements Sink {
  readonly #flow: Flow
  readonly #hold: Hold
  readonly #reader: BodyReader
  readonly #open: () => Promise<SpoolFile>
  readonly #done: Taken
  /** Chunks not yet written to the file. */
  #waiting: Buffer[] = []
  #size = 0
  #file: SpoolFile | undefined
  #writing = false
  #ended = false
  #over = false

  constructor(flow: Flow, hold: Hold, reader: BodyReader, open: () => Promise<SpoolFile>, done: Taken) {
    this.#flow = flow
    this.#hold = hold
    this.#reader = reader
    this.#open = open
    this.#done = done
  }

  data(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
      this.#waiting.push(chunk)
      this.#size += chunk.length
      this.#count()
    } catch (error) {
      return this.#stop(error as Error)
    }
    if (this.#writing || (!this.#file && this.#size <= this.#reader.memory)) return
    this.#writing = true
    void this.#write()
  }

  end(): void {
    this.#ended = true
    if (!this.#writing) this.#finish()
  }

  fail(error: Error): void {
    if (this.#over) return
    this.#over = true
    this.#waiting = []
    this.#file?.close()
    this.#hold.release()
    this.#done.reject(error)
  }

  /** Writes the waiting chunks to the file. */
  async #write(): Promise<void> {
    try {
      this.#file ??= await this.#open()
      while (this.#waiting.length > 0 && !this.#over) {
        const chunks = this.#waiting
        this.#waiting = []
        // More chunks may arrive during the write.
        const written = await this.#file.append(chunks)
        chunks.forEach(free)
        // The hold was released meanwhile, so nothing would release a later reservation.
        if (this.#over) break
        this.#size -= written
        this.#count()
      }
    } catch (error) {
      this.#stop(error as Error)
    }
    this.#writing = false
    if (this.#over) this.#file?.close()
    else if (this.#ended) this.#finish()
  }

  #count(): void {
    if (!this.#hold.resize(this.#size + this.#reader.kept)) throw byteBudgetSpent()
    // A body that stays in memory never waits for the disk.
    if (this.#writing && this.#size > waitingLimit) this.#flow.pause()
    else if (this.#size < waitingLimit / 2) this.#flow.resume()
  }

  #finish(): void {
    this.#over = true
    this.#done.resolve(this.#file ?? new BytesBody(joinedBytes(this.#waiting)))
  }

  #stop(error: Error): void {
    this.#flow.cancel(error)
    this.fail(error)
  }
}

/** Whether a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Reads and discards the rest of a body, within limits. Closing a connection while its client still sends would reset
 * it, and the client would lose the response.
 */
export function discardBody(
  request: IncomingMessage,
  limits: Pick<HttpLimits, 'linger' | 'lingerBytes'>,
): Promise<void> {
  return new Promise((resolve) => {
    let left = limits.lingerBytes
    const done = () => {
      clearTimeout(late)
      request.off('data', count).off('end', done).off('close', done)
      resolve()
    }
    const late = setTimeout(done, limits.linger)
    const count = (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) done()
    }
    if (request.destroyed) return done()
    request.on('data', count).on('end', done).on('close', done)
    request.resume()
  })
}
