import type { GenerateRequest, JsonObject, ReasoningWish, Rest, Tool, ToolChoice } from '../../../engine/index.ts'
import { isObject, requireChosen } from '../../../engine/kit.ts'
import { choosesSearch, isSearch, parseWish } from './web-search.ts'
import { cached, systemMessages, turnItems } from './parse-content.ts'
import { threadRefused } from './relay.ts'
import type { MessagesBody, Thinking, WireTool, WireToolChoice } from './wire.ts'
import { protocol } from './wire.ts'

/**
 * Parses a request body into neutral form. Throws `invalid_value` for a media source of an unknown type, and
 * `invalid_request` for a `thread`: the gateway does not store the conversation, and the `error_code` makes official
 * clients send all of it.
 */
export function parse(given: JsonObject): GenerateRequest {
  const body = given as MessagesBody & JsonObject
  if (isObject(body.thread)) throw threadRefused()
  const rest = unknownFields(body)
  const tools = (body.tools ?? []).map(parseTool)
  const use = toolUse(body.tool_choice ?? undefined, body.tools ?? [])
  requireChosen(tools, use.toolChoice, protocol)
  const reasoning = reasoningWish(body.thinking ?? undefined, body.output_config?.effort ?? undefined)
  return {
    items: [
      ...systemMessages(body.system ?? ''),
      ...body.messages.flatMap((turn, index) => turnItems(turn, `messages[${index}]`)),
    ],
    tools,
    ...use,
    maxOutputTokens: body.max_tokens,
    ...present('temperature', body.temperature),
    ...present('topP', body.top_p),
    ...present('topK', body.top_k),
    ...present('stop', body.stop_sequences),
    ...(reasoning ? { reasoning } : {}),
    ...answerFormat(body.output_config?.format),
    ...present('user', body.metadata?.user_id),
    ...present('serviceTier', body.service_tier === 'standard_only' ? 'default' : body.service_tier),
    stream: body.stream === true,
    ...(rest ? { rest } : {}),
  }
}

/** A field to spread, unless the client left it out or sent null. */
function present<N extends string, T>(name: N, value: T | null | undefined): { readonly [K in N]?: T } {
  return value === undefined || value === null ? {} : ({ [name]: value } as { [K in N]: T })
}

function parseTool(tool: WireTool): Tool {
  const { type, name, description, input_schema: parameters, strict, cache_control: _, ...others } = tool
  // Tools that the vendor runs have a dated type and no schema.
  if (typeof type === 'string' && type !== 'custom' && !parameters) {
    const search = parseWish(tool)
    return { type: 'opaque', protocol, value: tool, ...(search ? { search } : {}) }
  }
  const rest = filled(others)
  return {
    type: 'function',
    name,
    ...present('description', description),
    ...present('parameters', parameters),
    ...present('strict', strict),
    ...cached(tool),
    ...(rest ? { rest } : {}),
  }
}

function toolUse(
  choice: WireToolChoice | undefined,
  tools: readonly WireTool[],
): Pick<GenerateRequest, 'toolChoice' | 'parallelTools'> {
  if (!choice) return {}
  const single = choice.disable_parallel_tool_use
  const { disable_parallel_tool_use: _, ...alone } = choice
  const chosen: ToolChoice = choosesSearch(choice, tools)
    ? { type: 'opaque', protocol, value: alone, search: true }
    : toolChoice(choice)
  return { toolChoice: chosen, ...(typeof single === 'boolean' ? { parallelTools: !single } : {}) }
}

function toolChoice(choice: WireToolChoice): ToolChoice {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type }
    case 'any':
      return { type: 'required' }
    case 'tool':
      return { type: 'tool', kind: 'function', name: choice.name ?? '' }
    default:
      return { type: 'opaque', protocol, value: choice }
  }
}

/** The reasoning options. Thinking without `display` is shown. */
function reasoningWish(thinking: Thinking | undefined, effort: string | undefined): ReasoningWish | undefined {
  const wanted = effort === undefined ? {} : { effort }
  switch (thinking?.type) {
    case 'disabled':
      return { effort: 'none' }
    case 'enabled':
    case 'adaptive':
      return {
        ...wanted,
        ...present('budget', thinking.budget_tokens),
        summary: thinking.display === 'omitted' ? 'none' : 'auto',
      }
    default:
      return effort === undefined ? undefined : wanted
  }
}

function answerFormat(format: JsonObject | null | undefined): Pick<GenerateRequest, 'format'> {
  if (format?.type !== 'json_schema' || !isObject(format.schema)) return {}
  return { format: { type: 'schema', schema: format.schema } }
}

/** Fields with a neutral form, and `routing`, which belongs to the gateway and is not forwarded. */
const known = `model messages max_tokens system stream temperature top_p top_k stop_sequences tools tool_choice thinking
  output_config metadata service_tier thread routing`.split(/\s+/)

function unknownFields(body: MessagesBody & JsonObject): Rest | undefined {
  const { thinking, output_config: output, metadata } = body
  const thinks = ['enabled', 'adaptive', 'disabled'].includes(thinking?.type ?? '')
  return filled({
    ...without(body, known),
    ...(thinking && !thinks ? { thinking } : {}),
    output_config: without(output, output?.format?.type === 'json_schema' ? ['effort', 'format'] : ['effort']),
    metadata: without(metadata, ['user_id']),
  })
}

function without(object: JsonObject | null | undefined, names: readonly string[]): JsonObject | undefined {
  const left = Object.entries(object ?? {}).filter(([name]) => !names.includes(name))
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

function filled(fields: JsonObject): Rest | undefined {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return set.length === 0 ? undefined : { protocol, fields: Object.fromEntries(set) }
}

/** Whether a body requests a web search. */
export function searches({ tools }: JsonObject): boolean {
  return Array.isArray(tools) && tools.some((tool) => isObject(tool) && isSearch(tool))
}
