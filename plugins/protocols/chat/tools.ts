import { defined, isObject, toolsByName } from '../../../engine/kit.ts'
import type { CustomTool, FunctionTool, Json, JsonObject, Tool, ToolChoice, ToolRef } from '../../../engine/index.ts'
import type { FindTool, ToolNames } from '../../../engine/kit.ts'
import { cacheOf, printCache, wordOf } from './parts.ts'
import type { PartPrinting } from './parts.ts'
import { parseSearch, printSearch } from './web-search.ts'
import { protocol } from './wire.ts'
import type { ChatBody, WireFunction, WireTool } from './wire.ts'

const none: readonly never[] = []

/** The tools of a body, including the legacy `functions`. */
export function parseTools(body: ChatBody): readonly Tool[] {
  const { tools, functions } = body
  if (!tools && !functions && !body.web_search_options) return none
  const legacy = (functions ?? []).map((definition) =>
    parseFunction({ type: 'function', function: definition }, definition),
  )
  return [...(tools ?? []).map(parseTool), ...legacy, ...parseSearch(body)]
}

function parseTool(tool: WireTool): Tool {
  if (tool.type === 'function' && tool.function) return parseFunction(tool, tool.function)
  if (tool.type !== 'custom' || !tool.custom) return { type: 'opaque', protocol, value: tool }
  const { name, description, format } = tool.custom
  return defined({
    type: 'custom' as const,
    name,
    description: description ?? undefined,
    format: format ? flatFormat(format) : undefined,
    cache: cacheOf(tool).cache,
  })
}

function parseFunction(tool: WireTool, definition: WireFunction): FunctionTool {
  const { type: _type, function: _function, cache_control: _common, prompt_cache_breakpoint: _own, ...outer } = tool
  const { name, description, parameters, strict, cache_control: inner, ...others } = definition
  const fields: JsonObject = { ...outer, ...(Object.keys(others).length > 0 ? { function: others } : {}) }
  return defined({
    type: 'function' as const,
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    strict: strict ?? undefined,
    cache: cacheOf(tool).cache ?? (isObject(inner) ? cacheOf({ cache_control: inner }).cache : undefined),
    rest: Object.keys(fields).length > 0 ? { protocol, fields } : undefined,
  })
}

/** The tool choice; undefined if the body has none. */
export function parseToolChoice({ tool_choice: choice, function_call: legacy }: ChatBody): ToolChoice | undefined {
  const given = choice ?? legacy
  if (given === undefined || given === null) return undefined
  if (given === 'auto' || given === 'none' || given === 'required') return { type: given }
  return (isObject(given) ? parseNamed(given) : undefined) ?? { type: 'opaque', protocol, value: given }
}

function parseNamed(choice: JsonObject): ToolChoice | undefined {
  if (typeof choice['name'] === 'string') return { type: 'tool', kind: 'function', name: choice['name'] }
  const tool = namedTool(choice)
  if (tool) return { type: 'tool', ...tool }
  const allowed = choice['allowed_tools']
  if (choice['type'] !== 'allowed_tools' || !isObject(allowed) || !Array.isArray(allowed['tools'])) return undefined
  const tools = allowed['tools'].filter(isObject).map(namedTool)
  if (!tools.every((tool) => tool !== undefined)) return undefined
  return { type: 'allowed', mode: allowed['mode'] === 'required' ? 'required' : 'auto', tools }
}

function namedTool(value: JsonObject): { kind: 'function' | 'custom'; name: string } | undefined {
  const kind = value['type'] === 'custom' ? 'custom' : 'function'
  const inner = value[kind]
  return isObject(inner) && typeof inner['name'] === 'string' ? { kind, name: inner['name'] } : undefined
}

/** Context for printing tools. */
export interface ToolPrinting extends PartPrinting {
  readonly names: ToolNames
}

/**
 * `tools`, `tool_choice` and `parallel_tool_calls`, all absent if no tool is left to send; and
 * `web_search_options`.
 */
export function printTools(
  tools: readonly Tool[],
  choice: ToolChoice | undefined,
  parallel: boolean | undefined,
  printing: ToolPrinting,
): JsonObject {
  const subset = choice?.type === 'allowed' && !printing.traits.allowed_tools ? only(tools, choice) : tools
  const printed = subset.map((tool) => printTool(tool, printing)).filter((tool) => tool !== undefined)
  const search = subset.find((tool) => tool.type === 'opaque' && tool.search)
  const web_search_options = search?.type === 'opaque' ? printSearch(search, printing) : undefined
  if (printed.length === 0) {
    if (choice && choice.type !== 'auto' && choice.type !== 'none') lost(printing, 'there is no tool to choose')
    return defined({ web_search_options })
  }
  const { parallel_tool_calls: takesParallel } = printing.traits
  if (parallel === false && !takesParallel) printing.losses.add('parallel_tool_calls', 'the provider does not take it')
  return defined({
    tools: printed,
    tool_choice: choice && printChoice(choice, subset, printing),
    parallel_tool_calls: takesParallel ? parallel : undefined,
    web_search_options,
  })
}

function printTool(tool: Tool, printing: ToolPrinting): JsonObject | undefined {
  if (tool.type === 'opaque') {
    if (tool.search) return undefined
    if (tool.protocol === protocol) return tool.value
    printing.losses.add(`tools[].${wordOf(tool.value)}`, `only ${tool.protocol} has it`)
    return undefined
  }
  return {
    ...(tool.type === 'custom' ? printCustom(tool, printing) : printFunction(tool, printing)),
    ...printCache(tool.cache, printing),
  }
}

function printFunction(tool: FunctionTool, { names, traits, losses }: ToolPrinting): JsonObject {
  const own = losses.own(tool.rest, { prefix: 'tools[].' })
  if (tool.strict === true && !traits.strict) losses.add('tools[].strict', 'the provider does not take it')
  const { function: inner, ...outer } = own
  return {
    ...outer,
    type: 'function',
    function: defined({
      ...(isObject(inner) ? inner : {}),
      name: names.printed(tool),
      description: tool.description,
      parameters: tool.parameters ?? { type: 'object', properties: {} },
      strict: traits.strict ? tool.strict : undefined,
    }),
  }
}

function printCustom(tool: CustomTool, { names, traits, losses }: ToolPrinting): JsonObject {
  losses.own(tool.rest, { prefix: 'tools[].' })
  const name = names.printed(tool)
  const { description, format } = tool
  if (traits.custom_tools) {
    return { type: 'custom', custom: defined({ name, description, format: format && nestedFormat(format) }) }
  }
  const grammar = format?.['type'] === 'grammar' ? grammarText(format) : undefined
  if (grammar !== undefined) losses.add('tools[].format', 'a grammar can only be described')
  const told = [description, grammar].filter((line) => line !== undefined).join('\n\n')
  const parameters = {
    type: 'object',
    properties: { input: { type: 'string' } },
    required: ['input'],
    additionalProperties: false,
  }
  return { type: 'function', function: { name, ...(told === '' ? {} : { description: told }), parameters } }
}

function grammarText({ syntax, definition }: JsonObject): string {
  return `The input follows this ${syntax as string} grammar:\n${definition as string}`
}

function printChoice(choice: ToolChoice, tools: readonly Tool[], printing: ToolPrinting): Json | undefined {
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type
    case 'tool':
      return (
        printNamed(choice, toolsByName(tools), printing) ?? lost(printing, 'the chosen tool is not among those sent')
      )
    case 'allowed': {
      if (!printing.traits.allowed_tools) return choice.mode
      const find = toolsByName(tools)
      const named = choice.tools.map((tool) => printNamed(tool, find, printing)).filter((tool) => tool !== undefined)
      return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: named } }
    }
    case 'opaque':
      return choice.protocol === protocol ? choice.value : lost(printing, `only ${choice.protocol} has this choice`)
  }
}

function printNamed(named: ToolRef, find: FindTool, { names, traits }: ToolPrinting): JsonObject | undefined {
  const tool = find(named)
  if (!tool) return undefined
  const kind = tool.type === 'custom' && traits.custom_tools ? 'custom' : 'function'
  return { type: kind, [kind]: { name: names.printed(tool) } }
}

function lost({ losses }: ToolPrinting, because: string): 'auto' {
  losses.add('tool_choice', because)
  return 'auto'
}

function only(tools: readonly Tool[], allowed: Extract<ToolChoice, { type: 'allowed' }>): readonly Tool[] {
  const named = new Set<Tool | undefined>(allowed.tools.map(toolsByName(tools)))
  return tools.filter((tool) => named.has(tool) || (tool.type === 'opaque' && tool.search && allowed.search))
}

/** A grammar is nested one level deeper here than in the neutral form. */
function nestedFormat({ type, ...grammar }: JsonObject): JsonObject {
  return type === 'grammar' ? { type, grammar } : { type }
}

function flatFormat({ type, grammar }: JsonObject): JsonObject {
  return type === 'grammar' && isObject(grammar) ? { type, ...grammar } : { type }
}
