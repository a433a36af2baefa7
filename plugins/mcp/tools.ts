import { isObject, parseVerbatim } from '../../engine/kit.ts'
import type { Json, JsonObject, Records } from '../../engine/index.ts'
import type { McpSecurity } from './mcp-security.ts'

/** Decides further about the tools of a server, by what it has said of them. Neither may wait. */
export interface ToolReview {
  /** Sees the tools that a server lists, and returns the names of those to leave out. */
  listed(server: string, tools: readonly JsonObject[]): ReadonlySet<string>
  /** Whether calls of a tool are refused. */
  refuses(server: string, tool: string): boolean
}

type Record = Pick<Records['mcp_server'], 'name' | 'tools'>

/** The tools of one server that clients may use. */
export class ToolFilter {
  readonly #server: string
  readonly #allowed: ReadonlySet<string> | undefined
  readonly #denied: ReadonlySet<string>
  readonly #longest: number
  readonly #review: () => ToolReview | undefined

  constructor(
    { name, tools: { allow, deny } }: Record,
    { max_description_bytes: longest }: Pick<McpSecurity, 'max_description_bytes'>,
    review: () => ToolReview | undefined,
  ) {
    this.#server = name
    this.#allowed = allow === null ? undefined : new Set(allow)
    this.#denied = new Set(deny)
    this.#longest = longest
    this.#review = review
  }

  /** Whether a tool may be called. */
  admits(tool: string): boolean {
    if (this.#denied.has(tool) || this.#allowed?.has(tool) === false) return false
    return this.#review()?.refuses(this.#server, tool) !== true
  }

  /**
   * The text of an answer without the tools that clients may not use. Their order and everything else stays. Most texts
   * come back as they are.
   * @param answer the parsed text
   */
  filtered(text: string, answer: JsonObject): string {
    const tools = toolsIn(answer)
    if (!tools) return text
    const left = this.#leftOut(tools)
    if (!left.includes(true)) return text
    // Numbers keep their digits, and members their order.
    const whole = parseVerbatim(text, 'all') as JsonObject
    const result = whole['result'] as JsonObject
    const kept = (toolsIn(whole) ?? []).filter((_, index) => left[index] !== true)
    return JSON.stringify({ ...whole, result: { ...result, tools: kept } })
  }

  #leftOut(tools: readonly Json[]): readonly boolean[] {
    const named = tools.filter((tool): tool is JsonObject => isObject(tool) && typeof tool['name'] === 'string')
    const refused = this.#review()?.listed(this.#server, named)
    return tools.map((tool) => {
      if (!isObject(tool) || typeof tool['name'] !== 'string') return false
      const { name, description } = tool
      if (typeof description === 'string' && Buffer.byteLength(description) > this.#longest) return true
      return refused?.has(name) === true || !this.admits(name)
    })
  }
}

function toolsIn({ result }: JsonObject): readonly Json[] | undefined {
  const tools = isObject(result) ? result['tools'] : undefined
  return Array.isArray(tools) ? tools : undefined
}
