import type { AnyClientCodec, SocketDialect, SocketPrinter } from '../spec/codec.ts'
import { asGatewayError } from '../spec/error.ts'
import type { GatewayError } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { Frame } from '../spec/source.ts'
import { errorReply } from '../http/exchange.ts'
import type { ErrorContext } from '../http/exchange.ts'
import { FieldNames } from '../json/field-names.ts'
import { cutMembers, pasteOver } from '../json/members.ts'
import type { Cut } from '../json/members.ts'

/** A client's message, read as a request. */
export interface SocketMessage {
  /** Fields cut out of the message; empty for a protocol without a socket dialect. */
  readonly fields: JsonObject
  readonly body: Buffer
  /** Why the message is not a request. */
  readonly error?: GatewayError
}

/** Reads a message according to its protocol. The bytes are handed over: they become the body. Never throws. */
export function readMessage(bytes: Buffer, dialect: SocketDialect | undefined): SocketMessage {
  return interpreted(bytes, dialect, (cut, added) => pasteOver(bytes, cut, added))
}

/** Like `readMessage`, for a message that is refused and needs no body. Never throws. */
export function readFields(bytes: Buffer, dialect: SocketDialect | undefined): Omit<SocketMessage, 'body'> {
  return interpreted(bytes, dialect, () => bytes)
}

function interpreted(
  bytes: Buffer,
  dialect: SocketDialect | undefined,
  bodyOf: (cut: Cut, added: JsonObject) => Buffer,
): SocketMessage {
  let fields: JsonObject = {}
  if (!dialect) return { fields, body: bytes }
  try {
    const cut = cutMembers(bytes, new FieldNames(dialect.fields))
    fields = cut.members
    return { fields, body: bodyOf(cut, dialect.request(fields)) }
  } catch (thrown) {
    return { fields, body: bytes, error: asGatewayError(thrown) }
  }
}

/** The printer for the answer to a message with these fields. */
export function answerWriter(codec: AnyClientCodec | undefined, fields: JsonObject): SocketPrinter {
  return codec?.socket?.printer(fields) ?? new PlainWriter()
}

/** An error as the whole answer to a message with these fields. */
export function errorMessage(error: GatewayError, fields: JsonObject, context: ErrorContext): string | undefined {
  const { status, headers, body } = errorReply(error, context)
  return body.kind === 'json' ? answerWriter(context.codec, fields).whole(status, body.value, headers) : undefined
}

/**
 * The printer for protocols without a socket dialect. Each event becomes its data, without the marker that ends a
 * stream over HTTP. Whole replies and errors become their bodies; an error also gets its status and the type `error`.
 */
class PlainWriter implements SocketPrinter {
  ended = false

  event({ data }: Frame): string | undefined {
    if (data === '[DONE]') this.ended = true
    return this.ended ? undefined : data
  }

  whole(status: number, value: Json): string | undefined {
    if (this.ended) return undefined
    this.ended = true
    if (status < 400) return JSON.stringify(value)
    return JSON.stringify({ ...(isObject(value) ? value : { error: value }), type: 'error', status })
  }

  end(): undefined {
    this.ended = true
  }
}
