import type { Flow, Sink, Source } from '../spec/source.ts'

/** A source fed by an async iterable. Nothing is pulled before it is opened or while it is paused. */
export function pull(chunks: AsyncIterable<Uint8Array>): Source {
  return { open: (sink) => new Pump(chunks[Symbol.asyncIterator](), sink) }
}

class Pump implements Flow {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #sink: Sink
  #paused = false
  #running = false
  #done = false

  constructor(chunks: AsyncIterator<Uint8Array>, sink: Sink) {
    this.#chunks = chunks
    this.#sink = sink
    queueMicrotask(() => void this.#run())
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    void this.#run()
  }

  cancel(): void {
    this.#done = true
    // The generator's clean-up may fail, but the reader has already cancelled and cannot receive the error.
    void this.#chunks.return?.().catch(() => undefined)
  }

  async #run(): Promise<void> {
    if (this.#running || this.#done) return
    this.#running = true
    try {
      while (!this.#paused && !this.#done) {
        const next = await this.#chunks.next()
        if (this.#done) return
        if (next.done === true) return this.#finish(() => this.#sink.end())
        this.#sink.data(next.value)
      }
    } catch (error) {
      if (!this.#done) this.#finish(() => this.#sink.fail(error as Error))
    } finally {
      this.#running = false
    }
  }

  #finish(tell: () => void): void {
    this.#done = true
    tell()
  }
}
