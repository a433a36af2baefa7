import { asGatewayError, joined } from '../../engine/kit.ts'
import type { Dialed, GatewayError, Leg, LegSink, Usage } from '../../engine/index.ts'
import type { ClientEvents } from './client-events.ts'
import { typeOf } from './event-type.ts'
import type { SessionMeter } from './session-meter.ts'

/** How a session was closed, and by whom first. */
export interface Close {
  readonly by: 'client' | 'upstream' | 'gateway'
  readonly code: number
}

export interface SessionOptions {
  readonly upstream: Dialed
  readonly events: ClientEvents
  readonly meter: SessionMeter
  /**
   * Charges what was used since the last call. Rejects when the session may not go on.
   * @param micros cost of the whole session so far, in micro-USD
   */
  readonly charge: (tokens: Usage, micros: number | undefined) => Promise<void>
  /** Prints an error as the text of an event. */
  readonly print: (error: GatewayError, eventId: string | null) => string
}

/** Connects a client with the provider of its session, and measures what passes. */
export class Session {
  readonly #options: SessionOptions
  #client: Leg | undefined
  /** Set once the gateway itself has ended it. */
  #over = false
  #leaving = false
  /** The client is not heard until it has taken what the gateway has told it. */
  #isFull = false
  #charging: Promise<void> = Promise.resolve()
  close: Close | undefined
  /** Bytes of messages to the client, and from it. */
  sent = 0
  received = 0

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** Resolves when everything that was used is charged. */
  get charged(): Promise<void> {
    return this.#charging
  }

  attach(client: Leg): LegSink {
    this.#client = client
    const { upstream } = this.#options
    const noted: Dialed = {
      protocol: upstream.protocol,
      attach: (sink) =>
        upstream.attach({
          message: (bytes, binary) => sink.message(bytes, binary),
          drained: () => sink.drained(),
          closed: (code, reason, error, own) => {
            this.#closed(own === undefined ? 'upstream' : 'gateway', code)
            return sink.closed(code, reason, error, own)
          },
        }),
    }
    const up = (bytes: Buffer) => this.#up(bytes)
    const down = (bytes: Buffer) => this.#down(bytes)
    const sink = joined(noted, { up, down }).attach(client)
    return {
      message: (bytes, binary) => sink.message(bytes, binary),
      drained: () => {
        sink.drained()
        if (this.#isFull) client.resume()
        this.#isFull = false
      },
      closed: (code, reason, error, own) => {
        this.#closed(own === undefined ? 'client' : 'gateway', own ?? code)
        return this.#over ? sink.closed(1000, '', error, own) : sink.closed(code, reason, error, own)
      },
      stopping: () => {
        this.#leaving = true
        if (!this.#options.meter.isBusy) this.#leave()
      },
    }
  }

  #closed(by: Close['by'], code: number): void {
    this.close ??= { by, code }
  }

  #up(bytes: Buffer): Uint8Array | undefined {
    this.received += bytes.length
    if (this.#over) return undefined
    const passing = this.#options.events.read(bytes)
    if ('refused' in passing) {
      this.#tell(passing.refused, passing.eventId)
      return undefined
    }
    const { type, names = {}, eventId = null } = passing
    if (type === 'response.create') this.#options.meter.asked({ eventId, model: names.response })
    else this.#options.meter.changed(names, eventId)
    return passing.bytes
  }

  #down(bytes: Buffer): Uint8Array {
    const { meter, charge } = this.#options
    this.sent += bytes.length
    const type = typeOf(bytes)
    const used = meter.event(type, bytes)
    if (used !== undefined) {
      const { micros } = meter
      this.#charging = this.#charging
        .then(() => charge(used, micros))
        .catch((thrown: unknown) => this.#end(asGatewayError(thrown)))
    }
    // The client gets the event first.
    if (this.#leaving && !meter.isBusy) queueMicrotask(() => this.#leave())
    return bytes
  }

  /** The gateway is about to stop. */
  #leave(): void {
    this.#closed('gateway', 1001)
    this.#client?.close(1001, 'the gateway is about to stop')
  }

  /** Ends the session with an error that the client is told. */
  #end(error: GatewayError): void {
    if (this.#over || this.close) return
    this.#over = true
    const code = error.failure.status === 503 ? 1013 : error.failure.status >= 500 ? 1011 : 1008
    this.#closed('gateway', code)
    this.#tell(error, null)
    this.#client?.close(code, code === 1013 ? 'try again later' : 'refused', error)
  }

  #tell(error: GatewayError, eventId: string | null): void {
    const text = Buffer.from(this.#options.print(error, eventId))
    this.sent += text.length
    if (this.#client?.send(text, false) !== false) return
    this.#isFull = true
    this.#client.pause()
  }
}
