import { toolsByName, word } from '../../../engine/kit.ts'
import type { CustomTool, FunctionTool, GenerateRequest, JsonObject, Tool } from '../../../engine/index.ts'
import { printSearch } from './search.ts'
import type { Printing } from './printing.ts'
import { protocol } from './wire.ts'

/** The fields `tools` and `toolConfig` of a request. */
export interface PrintedTools {
  readonly tools?: readonly JsonObject[]
  readonly toolConfig?: JsonObject
}

export function printTools(request: GenerateRequest, printing: Printing): PrintedTools {
  const tools = allowed(request)
  const functions = tools.flatMap((tool) => {
    if (tool.type === 'opaque') return []
    return [tool.type === 'function' ? functionTool(tool, printing) : customTool(tool, printing)]
  })
  const others = tools.flatMap((tool) => (tool.type === 'opaque' ? ownTool(tool, functions.length > 0, printing) : []))
  const all = [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...others]
  const config = toolConfig(request, functions.length, printing)
  return { ...(all.length > 0 ? { tools: all } : {}), ...(config ? { toolConfig: config } : {}) }
}

/** The tools that the model may call. Only where it must call one, the protocol has a list of its own for that. */
function allowed({ tools, toolChoice }: GenerateRequest): readonly Tool[] {
  if (toolChoice?.type !== 'allowed') return tools
  const named = new Set<Tool | undefined>(toolChoice.tools.map(toolsByName(tools)))
  return tools.filter((tool) => named.has(tool) || (tool.type === 'opaque' && tool.search && toolChoice.search))
}

function ownTool(tool: Extract<Tool, { type: 'opaque' }>, beside: boolean, printing: Printing): readonly JsonObject[] {
  if (tool.search) return printSearch(tool, beside, printing)
  if (tool.protocol === protocol) return [tool.value]
  printing.losses.add(`tools[].${word(tool.value.type)}`, `only ${tool.protocol} knows it`)
  return []
}

function functionTool(tool: FunctionTool, printing: Printing): JsonObject {
  const { names, losses } = printing
  if (tool.strict === true) losses.add('tools[].strict', 'the upstream checks no arguments')
  if (tool.cache) losses.add('cache_control', 'the protocol has no cache marks')
  return {
    name: names.printed(tool),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    ...(tool.parameters ? { parametersJsonSchema: tool.parameters } : {}),
    ...losses.own(tool.rest, { prefix: 'tools[].' }),
  }
}

/** Free text becomes the only property of an object. A grammar becomes a part of the description. */
function customTool(tool: CustomTool, { names, losses }: Printing): JsonObject {
  const { syntax, definition } = tool.format ?? {}
  const grammar =
    typeof definition === 'string' ? `The input follows this ${word(syntax)} grammar:\n${definition}` : undefined
  if (grammar !== undefined) losses.add('tools[].format', 'a grammar can only be described')
  const description = [tool.description, grammar].filter((text) => text !== undefined).join('\n\n')
  return {
    name: names.printed(tool),
    ...(description === '' ? {} : { description }),
    parametersJsonSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    ...losses.own(tool.rest, { prefix: 'tools[].' }),
  }
}

function toolConfig(request: GenerateRequest, functions: number, printing: Printing): JsonObject | undefined {
  const { toolChoice: choice, parallelTools, rest } = request
  const { losses } = printing
  if (parallelTools === false) losses.add('parallel_tool_calls', 'the protocol cannot forbid parallel calls')
  const own = rest?.protocol === protocol ? (rest.fields.toolConfig as JsonObject | undefined) : undefined
  const calling = choice ? callingConfig(request, functions, printing) : undefined
  return calling || own ? { ...own, ...(calling ? { functionCallingConfig: calling } : {}) } : undefined
}

function callingConfig(request: GenerateRequest, functions: number, printing: Printing): JsonObject | undefined {
  const { tools, toolChoice: choice } = request
  const { names, losses } = printing
  if (!choice || (functions === 0 && (choice.type === 'auto' || choice.type === 'none'))) return undefined
  if (functions === 0) {
    losses.add('tool_choice', 'there are no functions')
    return undefined
  }
  switch (choice.type) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'allowed':
      return { mode: choice.mode === 'required' ? 'ANY' : 'AUTO' }
    case 'tool': {
      const tool = toolsByName(tools)(choice)
      if (tool) return { mode: 'ANY', allowedFunctionNames: [names.printed(tool)] }
      losses.add('tool_choice', 'the chosen tool is not among those sent')
      return undefined
    }
    case 'opaque':
      if (choice.protocol === protocol) return choice.value as JsonObject
      losses.add('tool_choice', `only ${choice.protocol} knows this choice`)
      return undefined
  }
}
