import type { Rpc } from './mcp.ts'

/** One server-sent event, with its fields as they came. */
export interface ReceivedEvent {
  readonly id?: string
  readonly event?: string
  readonly retry?: string
  readonly data?: string
}

/** Reads the events of an answer one by one, while they come. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<string>
  #text = ''

  constructor({ body }: Response) {
    if (body === null) throw new Error('the answer has no body')
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader()
  }

  /** The next event, also one without data; undefined: the stream has ended. */
  async next(): Promise<ReceivedEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        const fields = block.split('\n').flatMap((line) => {
          const [, name = '', value = ''] = /^(\w*):? ?(.*)$/.exec(line) ?? []
          return name === '' ? [] : [[name, value]]
        })
        // A keep-alive has comments alone.
        if (fields.length > 0) return Object.fromEntries(fields) as ReceivedEvent
        continue
      }
      const { value, done } = await this.#reader.read()
      if (done) return undefined
      this.#text += value
    }
  }

  /** The next message; undefined: the stream has ended. */
  async message(): Promise<Rpc | undefined> {
    for (let event = await this.next(); event; event = await this.next())
      if (event.data) return JSON.parse(event.data) as Rpc
    return undefined
  }

  /** All messages until the stream ends. */
  async rest(): Promise<readonly Rpc[]> {
    const messages: Rpc[] = []
    for (let message = await this.message(); message; message = await this.message()) messages.push(message)
    return messages
  }

  /** Leaves the stream. */
  async leave(): Promise<void> {
    await this.#reader.cancel()
  }
}
