import { callable, toolsByName, word } from '../../../engine/kit.ts'
import type { CustomTool, FunctionTool, GenerateRequest, JsonObject, ToolCall } from '../../../engine/index.ts'
import { allowed, customDescription, freeText, objectSchema } from '../messages/print-tools.ts'
import { pointAfter } from './printing.ts'
import type { Printing } from './printing.ts'
import { protocol } from './wire.ts'

/** Most characters of a tool's name. */
export const nameLimit = 64

/** The field `toolConfig`. */
export interface PrintedTools extends JsonObject {
  readonly tools: readonly JsonObject[]
  readonly toolChoice?: JsonObject
}

/**
 * Prints the tools. Undefined without any: but a conversation with calls needs them, even if no tool may be called, or
 * none is declared any more.
 */
export function printTools(request: GenerateRequest, printing: Printing): PrintedTools | undefined {
  const { losses } = printing
  const { toolChoice: choice } = request
  const declared = allowed(request).flatMap((tool): readonly JsonObject[] => {
    if (tool.type === 'opaque') {
      const kind = word(tool.value.type ?? (tool.search && 'web_search'))
      losses.add(`tools[].${kind}`, `only ${tool.protocol} knows it`)
      return []
    }
    return [{ toolSpec: toolSpec(tool, printing) }, ...pointAfter(tool.cache, printing)]
  })
  const called = request.items.filter((item) => item.type === 'call')
  if (declared.length === 0) {
    if (choice && choice.type !== 'none' && choice.type !== 'auto') losses.add('tool_choice', 'there are no tools')
    return called.length === 0 ? undefined : { tools: forgotten(called, printing) }
  }
  if (request.parallelTools === false) losses.add('parallel_tool_calls', 'the protocol has no such field')
  if (choice?.type === 'none') {
    if (called.length === 0) return undefined
    losses.add('tool_choice', 'calls in the conversation need their tools')
  }
  const toolChoice = choice && choiceOf(choice, request, printing)
  return { tools: declared, ...(toolChoice ? { toolChoice } : {}) }
}

/** The tools of earlier calls, of which only the names are known. */
function forgotten(calls: readonly ToolCall[], { names }: Printing): readonly JsonObject[] {
  const printed = new Set(calls.map((call) => names.printed(call)))
  return [...printed].map((name) => ({ toolSpec: { name, inputSchema: { json: objectSchema(undefined) } } }))
}

function toolSpec(tool: FunctionTool | CustomTool, { names, traits, losses }: Printing): JsonObject {
  losses.own(tool.rest, { prefix: 'tools[].' })
  const strict = tool.type === 'function' ? tool.strict : undefined
  if (strict === true && !traits.strict_tools) losses.add('tools[].strict', 'the upstream checks no arguments')
  const description = tool.type === 'custom' ? customDescription(tool, losses) : (tool.description ?? '')
  return {
    name: names.printed(tool),
    ...(/\S/.test(description) ? { description } : {}),
    inputSchema: { json: tool.type === 'custom' ? freeText : objectSchema(tool.parameters) },
    ...(strict !== undefined && traits.strict_tools ? { strict } : {}),
  }
}

function choiceOf(
  choice: NonNullable<GenerateRequest['toolChoice']>,
  { tools }: GenerateRequest,
  { names, losses }: Printing,
): JsonObject | undefined {
  switch (choice.type) {
    case 'auto':
      return { auto: {} }
    case 'none':
      return undefined
    case 'required':
      return { any: {} }
    case 'allowed':
      return choice.mode === 'required' ? { any: {} } : { auto: {} }
    case 'tool':
      if (callable(tools, protocol)(choice))
        return { tool: { name: names.printed(toolsByName(tools)(choice) ?? choice) } }
      losses.add('tool_choice', 'the chosen tool is not among those sent')
      return undefined
    case 'opaque':
      losses.add('tool_choice', `only ${choice.protocol} knows this choice`)
      return undefined
  }
}
