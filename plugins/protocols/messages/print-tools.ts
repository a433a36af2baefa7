import { callable, toolsByName, word } from '../../../engine/kit.ts'
import type { Losses } from '../../../engine/kit.ts'
import type { CustomTool, FunctionTool, GenerateRequest, JsonObject, Tool } from '../../../engine/index.ts'
import { cacheControl } from './printing.ts'
import type { Printing } from './printing.ts'
import { isSearch, printWish, searchChoice } from './web-search.ts'
import { protocol } from './wire.ts'

/** The fields `tools` and `tool_choice` of a request. */
export interface PrintedTools {
  readonly tools?: readonly JsonObject[]
  readonly tool_choice?: JsonObject
}

export function printTools(request: GenerateRequest, printing: Printing): PrintedTools {
  const tools = allowed(request).flatMap((tool): readonly JsonObject[] => {
    if (tool.type === 'function') return [functionTool(tool, printing)]
    if (tool.type === 'custom') return [customTool(tool, printing)]
    if (tool.search) return [printWish(tool, printing)].filter((printed) => printed !== undefined)
    if (tool.protocol === protocol) return [tool.value]
    printing.losses.add(`tools[].${word(tool.value.type)}`, `only ${tool.protocol} knows it`)
    return []
  })
  const choice = toolChoice(request, tools, printing)
  return { ...(tools.length > 0 ? { tools } : {}), ...(choice ? { tool_choice: choice } : {}) }
}

/** The tools that the model may call. The protocol has no separate list of allowed tools. */
export function allowed({ tools, toolChoice }: GenerateRequest): readonly Tool[] {
  if (toolChoice?.type !== 'allowed') return tools
  const named = new Set<Tool | undefined>(toolChoice.tools.map(toolsByName(tools)))
  return tools.filter((tool) => named.has(tool) || (tool.type === 'opaque' && tool.search && toolChoice.search))
}

function functionTool(tool: FunctionTool, printing: Printing): JsonObject {
  const { names, traits, losses } = printing
  if (tool.strict === true && !traits.strict_tools) losses.add('tools[].strict', 'the upstream checks no arguments')
  return {
    name: names.printed(tool),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    input_schema: objectSchema(tool.parameters),
    ...(tool.strict !== undefined && traits.strict_tools ? { strict: tool.strict } : {}),
    ...cacheControl(tool.cache, printing),
    ...toolRest(tool, printing),
  }
}

/** The protocol accepts only schemas of objects, with an explicit `type`. */
export function objectSchema(parameters: JsonObject | undefined): JsonObject {
  if (!parameters) return { type: 'object', properties: {} }
  return parameters.type === 'object' ? parameters : { ...parameters, type: 'object' }
}

/** The fields of a tool that only this protocol has; those of another protocol are lost. */
function toolRest({ rest }: FunctionTool | CustomTool, { losses }: Printing): JsonObject {
  return losses.own(rest, { prefix: 'tools[].', because: `only ${rest?.protocol} knows it` })
}

/** Free text becomes the only property of an object. */
export const freeText = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] } as const

/** The description of a tool that takes free text, with its grammar; empty if it has neither. */
export function customDescription(tool: CustomTool, losses: Losses): string {
  const { syntax, definition } = tool.format ?? {}
  const grammar =
    typeof definition === 'string' ? `The input follows this ${word(syntax)} grammar:\n${definition}` : undefined
  if (grammar !== undefined) losses.add('tools[].format', 'a grammar can only be described')
  return [tool.description, grammar].filter((text) => text !== undefined).join('\n\n')
}

function customTool(tool: CustomTool, printing: Printing): JsonObject {
  const description = customDescription(tool, printing.losses)
  return {
    name: printing.names.printed(tool),
    ...(description === '' ? {} : { description }),
    input_schema: freeText,
    ...cacheControl(tool.cache, printing),
    ...toolRest(tool, printing),
  }
}

function toolChoice(
  request: GenerateRequest,
  printed: readonly JsonObject[],
  printing: Printing,
): JsonObject | undefined {
  const { toolChoice: choice, parallelTools } = request
  if (printed.length === 0) {
    if (choice && choice.type !== 'none' && choice.type !== 'auto')
      printing.losses.add('tool_choice', 'there are no tools')
    return undefined
  }
  const said = choice ? choiceOf(choice, request, printed, printing) : undefined
  // The protocol rejects the flag together with `none`, which allows no calls.
  if (parallelTools !== false || said?.type === 'none') return said
  return { ...(said ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

function choiceOf(
  choice: NonNullable<GenerateRequest['toolChoice']>,
  { tools }: GenerateRequest,
  printed: readonly JsonObject[],
  { names, losses }: Printing,
): JsonObject | undefined {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type }
    case 'required':
      return { type: 'any' }
    case 'allowed':
      return { type: choice.mode === 'required' ? 'any' : 'auto' }
    case 'tool':
      if (callable(tools, protocol)(choice))
        return { type: 'tool', name: names.printed(toolsByName(tools)(choice) ?? choice) }
      losses.add('tool_choice', 'the chosen tool is not among those sent')
      return undefined
    case 'opaque':
      if (choice.search && printed.some(isSearch)) return searchChoice
      if (choice.protocol === protocol && !choice.search) return choice.value as JsonObject
      losses.add('tool_choice', `only ${choice.protocol} knows this choice`)
      return undefined
  }
}
