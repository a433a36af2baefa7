import { randomUUID } from 'node:crypto'
import { mkdir, open, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { GatewayError } from '../spec/error.ts'
import type { Body, ByteBudget, Source } from '../spec/source.ts'
import { byteBudgetSpent } from '../stream/byte-budget.ts'
import { lend, lentSize } from '../stream/lent.ts'
import { pull } from '../stream/pull.ts'

/** Files for bodies that are too large for memory. */
export class Spool {
  readonly #folder: string
  readonly #log: Logger

  /** @param folder created with the first file, readable by its owner only */
  constructor(folder: string, log: Logger) {
    this.#folder = folder
    this.#log = log
  }

  /**
   * A new unlinked file, so that nothing remains when the process ends. Rejects with `overloaded`.
   * @param share of the client in the bytes on disk
   */
  open(share: ByteBudget): Promise<SpoolFile> {
    return this.#try(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      const path = join(this.#folder, randomUUID())
      const file = await open(path, 'wx+', 0o600)
      try {
        await unlink(path)
      } catch (error) {
        await file.close()
        throw error
      }
      return new SpoolFile(file, share, (use) => this.#try(use))
    })
  }

  /** Logs an error of the file system, such as a full disk, for the operator; the client may retry. */
  async #try<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await use()
    } catch (error) {
      if (error instanceof GatewayError) throw error
      this.#log.error({ err: error }, 'a large body cannot be written to disk')
      throw byteBudgetSpent()
    }
  }
}

/** A body in an unlinked file. */
export class SpoolFile implements Body {
  size = 0
  #closed = false
  readonly #file: FileHandle
  readonly #room: ByteBudget
  readonly #try: <T>(use: () => Promise<T>) => Promise<T>

  constructor(file: FileHandle, room: ByteBudget, attempt: <T>(use: () => Promise<T>) => Promise<T>) {
    this.#file = file
    this.#room = room
    this.#try = attempt
  }

  /** Appends chunks; calls run one after the other. Returns the bytes written. Rejects with `overloaded`. */
  append(chunks: readonly Uint8Array[]): Promise<number> {
    return this.#try(async () => {
      const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
      if (!this.#room.take(length)) throw byteBudgetSpent()
      this.size += length
      await this.#file.writeFile(chunks)
      return length
    })
  }

  open(from = 0, to = this.size): Source {
    return pull(this.#chunks(from, to))
  }

  /** Closes the file after running reads and writes. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    // `#try` has logged a failure.
    void this.#try(() => this.#file.close())
      .catch(() => undefined)
      .then(() => this.#room.give(this.size))
  }

  async *#chunks(from: number, to: number) {
    for (let at = from; at < to;) {
      if (this.#closed) throw new Error('the exchange of this body is over')
      const { buffer, bytesRead } = await this.#try(() => this.#file.read(lend(), 0, Math.min(lentSize, to - at), at))
      if (bytesRead === 0) throw new Error('a body on disk is shorter than it was')
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  }
}
