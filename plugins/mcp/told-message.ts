import { BytesBody, isObject, outline, parseJson, traceContext } from '../../engine/kit.ts'
import type { Ingress, Json, JsonObject, Scope, TraceContext } from '../../engine/index.ts'
import { claimedVersion } from './message.ts'
import type { Message } from './message.ts'

/** What a message of a client is about, for whoever listens. */
export interface McpFacts {
  readonly method: string
  /** Of the tool or prompt. */
  readonly name?: string
  /** Of the resource. */
  readonly uri?: string
  /** Absent: it is a notification. */
  readonly id?: string
  readonly version?: string
  readonly session?: string
  /** The trace context of the message itself. */
  readonly trace?: TraceContext
}

/** What an MCP server answered. */
export interface RpcFacts {
  /** The code of a JSON-RPC error. */
  readonly status?: number
  /** Whether a tool says of its result that it failed. */
  readonly isToolError?: boolean
  /** Of a call of a tool, if somebody wants the contents. */
  readonly contents?: () => RpcContents
}

/** What a tool was given, and what it gave. */
export interface RpcContents {
  readonly arguments?: Json
  readonly result?: Json
}

declare module '../../engine/index.ts' {
  interface ExchangeFacts {
    mcp?: McpFacts
  }
  interface CallFacts {
    rpc?: RpcFacts
  }
}

/** Most characters of a client's word. */
const most = 256

/** Tells what a message is about, if anybody listens. */
export function tellMessage({ told }: Pick<Scope, 'told'>, message: Message, headers: Ingress['headers']): void {
  if (told === undefined || message.kind === 'response') return
  const { method, params } = message
  const text = (value: Json | undefined) => (typeof value === 'string' ? value.slice(0, most) : undefined)
  const meta = params['_meta']
  // A session begins without a header: its first message says which version its client speaks.
  const offered = method === 'initialize' ? params['protocolVersion'] : undefined
  const facts = {
    name: method === 'tools/call' || method === 'prompts/get' ? text(params['name']) : undefined,
    uri: text(params['uri']),
    id: message.kind === 'request' ? String(message.id).slice(0, most) : undefined,
    version: claimedVersion(message) ?? text(headers['mcp-protocol-version']?.toString() ?? offered),
    session: text(headers['mcp-session-id']?.toString()),
    trace: isObject(meta) ? traceContext(textsOf(meta)) : undefined,
  }
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  told.mcp = { method: method.slice(0, most), ...(Object.fromEntries(known) as Partial<McpFacts>) }
}

function textsOf({ traceparent, tracestate }: JsonObject): Ingress['headers'] {
  return {
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(typeof tracestate === 'string' ? { tracestate } : {}),
  }
}

/** Tells of a call of a server what it was asked and what it answered, if anybody listens. */
export class ToldAnswer {
  readonly #message: Message
  readonly #scope: Pick<Scope, 'call'>
  #rpc: RpcFacts = {}
  #contents: RpcContents = {}

  constructor(message: Message, scope: Pick<Scope, 'call'>) {
    this.#message = message
    this.#scope = scope
  }

  /** The server is about to be asked. */
  asked(): void {
    const given = this.#tool?.['arguments']
    if (given !== undefined) this.#keep({ arguments: given })
  }

  failed(status: number): void {
    this.#tell({ status })
  }

  answered(result: Json): void {
    if (this.#scope.call === undefined || this.#tool === undefined) return
    if (isObject(result) && result['isError'] === true) this.#tell({ isToolError: true })
    this.#keep({ result })
  }

  #keep(contents: RpcContents): void {
    if (this.#scope.call?.keeps !== true) return
    this.#contents = { ...this.#contents, ...contents }
    this.#tell({ contents: () => this.#contents })
  }

  /** The parameters of a call of a tool. */
  get #tool(): JsonObject | undefined {
    const message = this.#message
    return message.kind === 'request' && message.method === 'tools/call' ? message.params : undefined
  }

  #tell(facts: RpcFacts): void {
    const { call } = this.#scope
    call?.tell({ rpc: (this.#rpc = { ...this.#rpc, ...facts }) })
  }
}

/** Maximum nesting and members of a message that was read before. */
const bounds = { depth: 128, members: 200_000 }

/**
 * The message with a trace context in `params._meta` (SEP-414), which replaces the one that is there. All other bytes
 * stay as they came.
 */
export function withTrace<M extends Message>(message: M, trace: TraceContext): M {
  if (message.kind === 'response') return message
  const text = message.raw.bytes.toString()
  const changed = Object.entries(trace).reduce<string | undefined>(
    (before, [name, value]) => before && withMember(before, ['params', '_meta', name], String(value)),
    text,
  )
  // A member that is no text stays: it is the client's.
  if (changed === undefined) return message
  const raw = new BytesBody(Buffer.from(changed))
  const params = { ...message.params, _meta: { ...(message.params['_meta'] as JsonObject | undefined), ...trace } }
  return { ...message, raw, params, value: { ...message.value, params } }
}

/** The text of an object with a text at a path, whose parts are made if need be; undefined: something else is there. */
function withMember(text: string, [name = '', ...rest]: readonly string[], value: string): string | undefined {
  const at = placeOf(text, name)
  if (at === undefined) {
    const made = [name, ...rest].reduceRight(
      (inner, part) => `{${JSON.stringify(part)}:${inner}}`,
      JSON.stringify(value),
    )
    const begin = text.indexOf('{') + 1
    const isEmpty = /^\s*\}/.test(text.slice(begin))
    return `${text.slice(0, begin)}${made.slice(1, -1)}${isEmpty ? '' : ','}${text.slice(begin)}`
  }
  if (rest.length > 0) {
    if (text[at] !== '{') return undefined
    const inner = withMember(text.slice(at), rest, value)
    return inner === undefined ? undefined : text.slice(0, at) + inner
  }
  const [token] = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(at)) ?? []
  return token === undefined ? undefined : text.slice(0, at) + JSON.stringify(value) + text.slice(at + token.length)
}

/** Where the value of a member of an object begins. */
function placeOf(text: string, name: string): number | undefined {
  let place: number | undefined
  outline(text, bounds, {
    key(start, end, value) {
      if (parseJson(text.slice(start, end)) === name) place ??= value
    },
  })
  return place
}
