import { isUtf8 } from 'node:buffer'
import { GatewayError } from '../../engine/index.ts'
import { BytesBody, isObject, outline, parseJson } from '../../engine/kit.ts'
import type { HeldBody, JsonObject } from '../../engine/index.ts'

/** Id of a JSON-RPC request. */
export type RequestId = string | number

/** A JSON-RPC message of a client (JSON-RPC 2.0), as it came and as it is read. */
export type Message = RequestMessage | NotificationMessage | ResponseMessage

interface Posted {
  /** The body as it came. */
  readonly raw: HeldBody
  readonly value: JsonObject
}

/** A call, such as `tools/call`, which is answered. */
export interface RequestMessage extends Posted {
  readonly kind: 'request'
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
}

/** A call that is not answered, such as `notifications/initialized`. */
export interface NotificationMessage extends Posted {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonObject
}

/** The answer to a request of the server. */
export interface ResponseMessage extends Posted {
  readonly kind: 'response'
  readonly id: RequestId
}

/** Beginning of the members of `_meta` that the protocol itself defines (revision 2026-07-28). */
export const ownMembers = 'io.modelcontextprotocol/'
/** The member of `params._meta` with the protocol version of a request. */
export const versionMember = `${ownMembers}protocolVersion`

/** Maximum nesting, and keys, objects and lists, of a message; four commas count as one. */
const bounds = { depth: 128, members: 200_000 }

/**
 * Reads one message. Throws `invalid_json`, and `invalid_request` for a batch, for what is no JSON-RPC message, and for
 * a member that the server might read differently: one that the gateway reads, and that is there twice or in another
 * case.
 */
export function readMessage(raw: HeldBody): Message {
  const { bytes } = raw
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', { reason: 'it is not UTF-8' })
  const text = bytes.toString()
  const value = parsed(text)
  if (Array.isArray(value)) throw invalid('Batches are not accepted: send one message per request.')
  if (!isObject(value)) throw invalid('The body must be a JSON object.')
  if (value['jsonrpc'] !== '2.0') throw invalid('The member "jsonrpc" must be "2.0".')
  requireUnique(text)
  const { id, method, params = {} } = value
  if (method === undefined) {
    const isAnswer = Object.hasOwn(value, 'result') !== Object.hasOwn(value, 'error')
    if (!isAnswer || !isId(id)) throw invalid('The body is neither a request, nor a notification, nor an answer.')
    return { kind: 'response', raw, value, id }
  }
  if (typeof method !== 'string') throw invalid('The member "method" must be a text.')
  if (!isObject(params)) throw invalid('The member "params" must be an object.')
  if (!Object.hasOwn(value, 'id')) return { kind: 'notification', raw, value, method, params }
  if (!isId(id)) throw invalid('The member "id" must be a text or a number.')
  return { kind: 'request', raw, value, id, method, params }
}

/** A message of the gateway's own. */
export function madeMessage(value: JsonObject): Message {
  return readMessage(new BytesBody(Buffer.from(JSON.stringify(value))))
}

/** The name of a tool that a message calls. */
export function toolOf(message: Message): string | undefined {
  if (message.kind === 'response' || message.method !== 'tools/call') return undefined
  const { name } = message.params
  return typeof name === 'string' ? name : undefined
}

/** The protocol version that a message itself names. */
export function claimedVersion(message: Message): string | undefined {
  const meta = message.kind === 'response' ? undefined : message.params['_meta']
  const version = isObject(meta) ? meta[versionMember] : undefined
  return typeof version === 'string' ? version : undefined
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))
}

function invalid(reason: string): GatewayError {
  return new GatewayError('invalid_request', { reason })
}

function parsed(text: string): unknown {
  let escapedKey: boolean
  try {
    ;({ escapedKey } = outline(text, bounds))
  } catch (cause) {
    throw new GatewayError('invalid_json', { reason: 'it has too many levels or members' }, { cause })
  }
  try {
    return parseJson(text, escapedKey)
  } catch (cause) {
    throw new GatewayError('invalid_json', { reason: 'it cannot be parsed' }, { cause })
  }
}

/** The members that the gateway reads: of a message, of its `params`, and of their `_meta`. */
const top = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])
const inParams = new Set(['name', 'uri', 'taskId', 'requestId', '_meta'])
const inMeta = new Set([versionMember])

function requireUnique(text: string): void {
  const params = members(text, top).get('params')
  const meta = params && members(params, inParams).get('_meta')
  if (meta) members(meta, inMeta)
}

/** The texts from the values of some members on. Throws for one that is there twice, or in another case. */
function members(text: string, names: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const folded = new Map([...names].map((name) => [fold(name), name]))
  if (!text.trimStart().startsWith('{')) return found
  outline(text, bounds, {
    key(start, end, value) {
      const key = parseJson(text.slice(start, end)) as string
      const name = folded.get(fold(key))
      if (name === undefined) return
      if (name !== key) throw invalid(`The member "${name}" is written "${key}".`)
      if (found.has(name)) throw invalid(`The member "${name}" is there more than once.`)
      found.set(name, text.slice(value))
    },
  })
  return found
}

/** Also maps the long s and the Kelvin sign to the letters that some parsers take them for. */
function fold(key: string): string {
  return key.toUpperCase().toLowerCase()
}
