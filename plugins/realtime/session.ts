import { asGatewayError, joined, reasonOfError } from '../../engine/kit.ts'
import type { Dialed, GatewayError, Leg, LegSink, Usage } from '../../engine/index.ts'
import type { ClientEvents } from './client-events.ts'
import { typeOf } from './event-type.ts'
import { meteredTypes } from './session-meter.ts'
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
  /** Whose messages have to be taken before the client is heard again: the client's own, or those of its provider. */
  readonly #full = new Set<'client' | 'upstream'>()
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
    const heard: Leg = {
      send: (message, binary) => client.send(message, binary),
      get unsent() {
        return client.unsent
      },
      pause: () => this.#pause('upstream'),
      resume: () => this.#resume('upstream'),
      close: (code, reason, error) => client.close(code, reason, error),
    }
    const sink = joined(noted, { up, down }).attach(heard)
    return {
      message: (bytes, binary) => sink.message(bytes, binary),
      drained: () => {
        sink.drained()
        this.#resume('client')
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
    const type = typeOf(bytes, meteredTypes)
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
    const { code, reason } = reasonOfError(error)
    this.#closed('gateway', code)
    this.#tell(error, null)
    this.#client?.close(code, reason, error)
  }

  #tell(error: GatewayError, eventId: string | null): void {
    const text = Buffer.from(this.#options.print(error, eventId))
    this.sent += text.length
    if (this.#client?.send(text, false) === false) this.#pause('client')
  }

  #pause(full: 'client' | 'upstream'): void {
    this.#full.add(full)
    this.#client?.pause()
  }

  #resume(full: 'client' | 'upstream'): void {
    if (this.#full.delete(full) && this.#full.size === 0) this.#client?.resume()
  }
}
