import type { AnyClientCodec, SocketDialect, SocketPrinter } from '../spec/codec.ts'
import { asGatewayError } from '../spec/error.ts'
import type { GatewayError } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { Frame } from '../spec/source.ts'
import { errorReply } from './exchange.ts'
import type { Telling } from './exchange.ts'
import { FieldNames } from './field-names.ts'
import { cutMembers, pasteOver } from './members.ts'
import type { Cut } from './members.ts'

/** A message of a client as the request it stands for. */
export interface SocketMessage {
  /** What was cut out of it: empty for a protocol that says nothing about sockets. */
  readonly fields: JsonObject
  readonly body: Buffer
  /** Why it stands for no request. */
  readonly error?: GatewayError
}

/** Reads a message the way its protocol says. Its bytes become the body: they are nobody else's any more. Never throws. */
export function readMessage(bytes: Buffer, dialect: SocketDialect | undefined): SocketMessage {
  return interpreted(bytes, dialect, (cut, added) => pasteOver(bytes, cut, added))
}

/** Like `readMessage` for a message that is refused: without a body of its own. Never throws. */
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

/** What writes the answer to a message with these fields. */
export function answerWriter(codec: AnyClientCodec | undefined, fields: JsonObject): SocketPrinter {
  return codec?.socket?.printer(fields) ?? new PlainWriter()
}

/** An error as the whole answer to a message with these fields. */
export function errorMessage(error: GatewayError, fields: JsonObject, telling: Telling): string | undefined {
  const { status, headers, body } = errorReply(error, telling)
  return body.kind === 'json' ? answerWriter(telling.codec, fields).whole(status, body.value, headers) : undefined
}

/**
 * Writes for protocols that say nothing about sockets: events as their data, without the mark that ends a stream over
 * HTTP, and answers and errors as their bodies, an error with its status and the type `error`.
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
