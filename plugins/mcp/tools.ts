import { isObject, parseVerbatim } from '../../engine/kit.ts'
import type { Json, JsonObject, Records } from '../../engine/index.ts'
import type { McpSecurity } from './mcp-security.ts'
import type { ParameterHeaders } from './parameter-headers.ts'

/** Decides further about the tools of a server, by what it has said of them. Neither may wait. */
export interface ToolReview {
  /** Sees the tools that a server lists, and returns the names of those to leave out. */
  listed(server: string, tools: readonly JsonObject[]): ReadonlySet<string>
  /** Whether calls of a tool are refused. */
  refuses(server: string, tool: string): boolean
}

/** What a filter depends on, beside the record. */
export interface Filtering extends Pick<McpSecurity, 'max_description_bytes'> {
  /** Learns from the lists. */
  readonly parameters: ParameterHeaders
  readonly review: () => ToolReview | undefined
}

type Record = Pick<Records['mcp_server'], 'name' | 'tools'>

/** The tools of one server that clients may use. */
export class ToolFilter {
  readonly #server: string
  readonly #allowed: ReadonlySet<string> | undefined
  readonly #denied: ReadonlySet<string>
  readonly #longest: number
  readonly #parameters: ParameterHeaders
  readonly #review: () => ToolReview | undefined

  constructor(
    { name, tools: { allow, deny } }: Record,
    { max_description_bytes: longest, parameters, review }: Filtering,
  ) {
    this.#server = name
    this.#allowed = allow === null ? undefined : new Set(allow)
    this.#denied = new Set(deny)
    this.#longest = longest
    this.#parameters = parameters
    this.#review = review
  }

  /** Whether a tool may be called. */
  admits(tool: string): boolean {
    if (this.#denied.has(tool) || this.#allowed?.has(tool) === false) return false
    return this.#review()?.refuses(this.#server, tool) !== true
  }

  /**
   * The text of a message, or of a list of them, without the tools that clients may not use. Their order and everything
   * else stays. Most texts come back as they are.
   * @param value the parsed text
   */
  filtered(text: string, value: Json): string {
    const left = listed(value).map((message) => this.#leftOut(toolsIn(message)))
    if (!left.flat().includes(true)) return text
    // Numbers keep their digits, and members their order.
    const whole = parseVerbatim(text, 'all') as Json
    const kept = listed(whole).map((message, index) => without(message, left[index] ?? []))
    return JSON.stringify(Array.isArray(whole) ? kept : kept[0])
  }

  /** Which of the tools are left out. */
  #leftOut(tools: readonly Json[] | undefined): readonly boolean[] {
    if (!tools) return []
    const named = tools.filter((tool): tool is JsonObject => isObject(tool) && typeof tool['name'] === 'string')
    this.#parameters.learn(named)
    const refused = this.#review()?.listed(this.#server, named)
    return tools.map((tool) => {
      if (!isObject(tool) || typeof tool['name'] !== 'string') return false
      const { name, description } = tool
      if (typeof description === 'string' && Buffer.byteLength(description) > this.#longest) return true
      return refused?.has(name) === true || !this.admits(name)
    })
  }
}

function listed(value: Json): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [value]
}

function toolsIn(message: Json): readonly Json[] | undefined {
  const { result } = isObject(message) ? message : {}
  const tools = isObject(result) ? result['tools'] : undefined
  return Array.isArray(tools) ? tools : undefined
}

function without(message: Json, left: readonly boolean[]): Json {
  const tools = toolsIn(message)
  if (!tools || !isObject(message)) return message
  const kept = tools.filter((_, index) => left[index] !== true)
  return { ...message, result: { ...(message['result'] as JsonObject), tools: kept } }
}
