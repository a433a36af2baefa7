import { GatewayError } from '../../../engine/index.ts'
import type { AnyCodec, Completion, Envelope, Head, JsonObject, Operation, RequestOf } from '../../../engine/index.ts'

/** What was read of a request. */
type Read = Pick<Envelope, 'raw' | 'headers' | 'contentType' | 'body'> & {
  readonly modelAt?: Envelope['modelAt'] | undefined
}

/** What stages have made of it. */
interface Completed {
  readonly sent: JsonObject
  readonly exact: boolean
  readonly neutral?: unknown
  readonly heldBy?: string | undefined
  readonly missing?: GatewayError | undefined
}

/** A request in the protocol of `codec`. */
export class ClientRequest implements Envelope {
  readonly operation: Operation
  readonly protocol: string
  readonly raw: Buffer
  readonly headers: Envelope['headers']
  readonly contentType: string
  readonly body: JsonObject
  readonly sent: JsonObject
  readonly exact: boolean
  declare readonly modelAt?: { start: number; end: number }
  declare readonly heldBy?: string
  declare readonly missing?: GatewayError
  readonly #codec: AnyCodec
  #head: Head | undefined
  #neutral: unknown

  constructor(codec: AnyCodec, read: Read, completed?: Completed) {
    this.operation = codec.operation
    this.protocol = codec.protocol
    this.raw = read.raw
    this.headers = read.headers
    this.contentType = read.contentType
    this.body = read.body
    this.sent = completed?.sent ?? read.body
    this.#neutral = completed?.neutral
    this.exact = completed?.exact ?? true
    if (read.modelAt) this.modelAt = read.modelAt
    if (completed?.heldBy !== undefined) this.heldBy = completed.heldBy
    if (completed?.missing) this.missing = completed.missing
    this.#codec = codec
  }

  get model(): string {
    // Asked for the log, too, of bodies that no schema has seen.
    const model: unknown = this.#read().model
    return typeof model === 'string' ? model : ''
  }

  get stream(): boolean {
    return this.#read().stream
  }

  get background(): boolean {
    return this.#read().background
  }

  neutral<O extends Operation>(operation: O): RequestOf<O> {
    if (operation !== this.operation || !this.#codec.request)
      throw new GatewayError('invalid_request_error', {
        model: this.model,
        reason: `its provider does not speak ${this.protocol}`,
      })
    return (this.#neutral ??= this.#codec.request.parse(this.body)) as RequestOf<O>
  }

  with(change: Completion): Envelope {
    const { sent, missing } = this
    if ('neutral' in change)
      return new ClientRequest(this.#codec, this, { sent, exact: false, neutral: change.neutral, missing })
    if ('body' in change) {
      const { body, heldBy } = change
      const read = { ...this.#parts(), body }
      return new ClientRequest(this.#codec, read, { sent, exact: false, heldBy, missing: change.missing ?? missing })
    }
    const { exact, heldBy } = this
    return new ClientRequest(this.#codec, this, { ...change, sent, exact, neutral: this.#neutral, heldBy })
  }

  #parts(): Read {
    const { raw, headers, contentType, body, modelAt } = this
    return { raw, headers, contentType, body, modelAt }
  }

  #read() {
    return (this.#head ??= this.#codec.head(this.body))
  }
}
