import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Envelope, Reply, Scope, ServiceHost, Services, ToldReply } from '../../engine/index.ts'
import { parsedObject, through } from '../../engine/kit.ts'
import { Recording } from './recording.ts'
import type { LogRow } from './row.ts'
import type { CapturesTable } from './table.ts'

export interface CaptureSettings {
  readonly capture: 'off' | 'errors' | 'all'
  readonly capture_max_bytes: number
}

/** The bodies of an exchange; null: there was none, or it was never read. */
export interface Capture {
  readonly request: string | null
  readonly response: string | null
  /** Whether one of them is longer than what is kept. */
  readonly truncated: boolean
}

interface Recorded {
  readonly request: Recording | undefined
  readonly response: Recording
}

type Withholding = Pick<Services['guards'], 'withholds'>

type Kept = Pick<LogRow, 'id' | 'at' | 'type' | 'result'>

const channel = 'sluice:reply'

/**
 * Keeps the bodies of exchanges with their rows, without secrets and sealed. While this is off, nothing listens to
 * exchanges.
 */
export class Captures {
  readonly #host: ServiceHost
  readonly #append: (row: CapturesTable) => void
  readonly #recorded = new WeakMap<object, Recorded>()
  readonly #listen = (message: unknown) => this.#record(message as ToldReply)
  #settings: CaptureSettings = { capture: 'off', capture_max_bytes: 0 }
  #guards: Withholding | undefined

  constructor(host: ServiceHost) {
    this.#host = host
    this.#append = (row) => host.append('requests_captures', row)
  }

  /** Follows settings that went live. */
  follow(settings: CaptureSettings, guards?: Withholding): void {
    const was = this.#settings.capture
    this.#settings = settings
    this.#guards = guards
    if (was === 'off' && settings.capture !== 'off') subscribe(channel, this.#listen)
    if (was !== 'off' && settings.capture === 'off') unsubscribe(channel, this.#listen)
  }

  close(): void {
    this.follow({ capture: 'off', capture_max_bytes: 0 })
  }

  /** Stores what was recorded of an exchange, if the settings want it. Never throws. */
  store(row: Kept, scope: Pick<Scope, 'id'>): void {
    const recorded = this.#recorded.get(scope)
    if (recorded === undefined) return
    try {
      this.#store(row, recorded)
    } catch (error) {
      this.#host.log.error({ err: error, id: row.id }, 'the bodies of a request cannot be kept')
    }
  }

  #store(row: Kept, recorded: Recorded): void {
    const { capture, capture_max_bytes: limit } = this.#settings
    if (capture === 'errors' && row.result === 'completed') return
    const request = recorded.request && this.#clean(recorded.request, limit)
    const response = this.#clean(recorded.response, limit)
    const kept: Capture = {
      request: request?.text ?? null,
      response: response.text === '' ? null : response.text,
      truncated: response.cut || request?.cut === true,
    }
    const sealed = this.#host.seal(Buffer.from(JSON.stringify(kept)), contextOf(row.id)).toString('base64')
    this.#append({ id: row.id, at: Math.round(row.at), type: row.type, sealed })
  }

  /** The capture of a row; undefined if there is none, or if an unknown master secret sealed it. */
  async find(id: string): Promise<Capture | undefined> {
    const captures = this.#host.database.selectFrom('requests_captures')
    const row = await captures.select('sealed').where('id', '=', id).executeTakeFirst()
    const opened = row && this.#host.unseal(Buffer.from(row.sealed, 'base64'), contextOf(id))
    return opened && (parsedObject(opened.toString()) as unknown as Capture | undefined)
  }

  #clean(recording: Recording, limit: number): { readonly text: string; readonly cut: boolean } {
    const text = Buffer.from(this.#host.scrub(recording.end()))
    if (text.length <= limit) return { text: text.toString(), cut: recording.isFull }
    // A character that the limit divides is left out.
    return { text: new TextDecoder().decode(text.subarray(0, limit), { stream: true }), cut: true }
  }

  /** Bodies of the admin API are never recorded: they have passwords. */
  #record(message: ToldReply): void {
    const { scope, slots, reply } = message
    const { request, principal, measurement } = slots
    if (request === undefined && principal?.kind !== 'key') return
    const limit = this.#settings.capture_max_bytes
    const isWithheld = this.#guards?.withholds(message) === true
    const recorded = { request: request && recordingOf(request, limit, isWithheld), response: new Recording(limit) }
    // An exchange that failed while its reply was sent tells of the error, too.
    this.#recorded.set(scope, recorded)
    const room = this.#host.byteBudget
    const size = 2 * (limit + (recorded.request?.size ?? 0))
    if (!room.take(size)) return void this.#recorded.delete(scope)
    scope.onEnd?.(() => room.give(size))
    // What is shown to its client alone, such as what a mask hides, is in no log.
    if (reply.status < 400 && measurement?.recorded)
      return measurement.recorded((text) => recorded.response.push(Buffer.from(text)))
    message.reply = watched(reply, recorded.response)
  }
}

/** The context with which a capture is sealed. */
export function contextOf(id: string | number): string {
  return `request capture ${id}`
}

function recordingOf(request: Envelope, limit: number, isWithheld: boolean): Recording {
  const recording = new Recording(limit)
  const { bytes, size } = request.raw
  if (isWithheld) recording.note(`[${size} bytes that the guards did not let pass]`)
  else if (bytes && isText(request.contentType)) recording.push(bytes)
  else recording.push(Buffer.from(JSON.stringify({ ...request.sent, '': binary(size, request.contentType) })))
  return recording
}

/** The reply, whose body is recorded as it is sent. */
function watched(reply: Reply, recording: Recording): Reply {
  const { body } = reply
  switch (body.kind) {
    case 'json':
      recording.push(Buffer.from(JSON.stringify(body.value)))
      return reply
    case 'bytes':
      if (isText(body.type)) recording.push(body.bytes)
      else recording.note(binary(body.bytes.length, body.type))
      return reply
    case 'stream': {
      if (body.lasting) return reply
      const source = isText(body.type) ? textOf(body.source, recording) : sizeOf(body.source, body.type, recording)
      return { ...reply, body: { ...body, source } }
    }
    default:
      return reply
  }
}

type Streamed = Extract<Reply['body'], { kind: 'stream' }>['source']

function textOf(source: Streamed, recording: Recording): Streamed {
  return through(source, {
    data(chunk) {
      recording.push(chunk)
      return chunk
    },
  })
}

function sizeOf(source: Streamed, type: string, recording: Recording): Streamed {
  let size = 0
  return through(source, {
    data(chunk) {
      size += chunk.length
      return chunk
    },
    end() {
      recording.note(binary(size, type))
      return undefined
    },
  })
}

function isText(type: string): boolean {
  return /^(text\/|application\/(json|x-ndjson)|multipart\/mixed)/i.test(type)
}

function binary(size: number, type: string): string {
  return `[${size} bytes of ${type.split(';', 1)[0]}]`
}
