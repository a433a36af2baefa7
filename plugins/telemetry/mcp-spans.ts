import type { Link } from '@opentelemetry/api'
import type { ToldCall, ToldExchange, TraceContext } from '../../engine/index.ts'
import { errorOfCall } from './error-type.ts'
import type { Tracing } from './open-tracing.ts'
import { names } from './semantic-conventions.ts'
import { linkTo } from './trace-context.ts'
import type { Attributes } from './tracer.ts'

/** What the stages for MCP servers tell of a message. */
type McpFacts = NonNullable<ToldExchange['mcp']>

/** How the span of a message of a client begins. */
interface Beginning {
  readonly name: string
  readonly trace: TraceContext | undefined
  readonly link?: Link
}

/** What the spans of messages to MCP servers say. */
export class McpSpans {
  readonly #tracing: Pick<Tracing, 'api'>
  readonly #scrub: (text: string) => string

  /** @param scrub redacts secrets in what a client writes */
  constructor(tracing: Pick<Tracing, 'api'>, scrub: (text: string) => string) {
    this.#tracing = tracing
    this.#scrub = scrub
  }

  /** The context of a message counts before that of its HTTP request, which is linked if it is another one. */
  serverOf({ mcp, trace, method = '', route = '' }: ToldExchange): Beginning {
    const name = mcp === undefined ? `${method} ${route}`.trim() : this.nameOf(mcp)
    const own = mcp?.trace
    if (own === undefined) return { name, trace }
    const isOther = trace !== undefined && trace.traceparent !== own.traceparent
    return { name, trace: own, ...(isOther ? { link: linkTo(trace, this.#tracing) } : {}) }
  }

  /** The URI of a resource is no part of a name: there may be any number of them. */
  nameOf(facts: McpFacts | undefined): string {
    if (facts === undefined) return 'response'
    const { method, name } = facts
    return this.#scrub(name === undefined ? method : `${method} ${name}`)
  }

  startOf(call: ToldCall, facts: McpFacts | undefined): Attributes {
    const isTool = facts?.method === 'tools/call'
    return {
      [names.mcpServer]: call.provider,
      [names.transport]: call.type === 'stdio' ? 'pipe' : 'tcp',
      ...(facts ? this.#attributesOf(facts) : {}),
      ...(isTool ? { [names.operation]: 'execute_tool' } : {}),
      ...(isTool && facts.name !== undefined ? { [names.toolName]: this.#scrub(facts.name) } : {}),
    }
  }

  /** No span but that of a call has an attribute of a tool: Langfuse would count it as one. */
  describeServer(attributes: Attributes, exchange: ToldExchange, last: ToldCall | undefined): void {
    const { mcp } = exchange
    if (mcp) Object.assign(attributes, this.#attributesOf(mcp))
    attributes[names.transport] = 'tcp'
    if (last === undefined) return
    attributes[names.mcpServer] = last.provider
    describeAnswer(attributes, last)
  }

  describeClient(attributes: Attributes, call: ToldCall): void {
    if (call.server) {
      attributes[names.serverAddress] = call.server.address
      attributes[names.serverPort] = call.server.port
    }
    describeAnswer(attributes, call)
  }

  #attributesOf({ method, name, uri, id, version, session }: McpFacts): Attributes {
    const told: Readonly<Record<string, string | undefined>> = {
      [names.mcpMethod]: method,
      [names.jsonRpcId]: id,
      [names.mcpVersion]: version,
      [names.mcpSession]: session,
      [names.mcpResource]: uri,
      [names.promptName]: method === 'prompts/get' ? name : undefined,
    }
    const attributes: Attributes = {}
    for (const [attribute, text] of Object.entries(told))
      if (text !== undefined) attributes[attribute] = this.#scrub(text)
    return attributes
  }
}

function describeAnswer(attributes: Attributes, call: ToldCall): void {
  const error = errorOfCall(call, undefined)
  if (error !== undefined) attributes[names.errorType] = error
  if (call.rpc?.status !== undefined) attributes[names.rpcStatus] = String(call.rpc.status)
}
