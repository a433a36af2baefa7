import { callable, defined, toolNames, toolsByName, word } from '../../engine/kit.ts'
import type {
  CustomTool,
  FunctionTool,
  GenerateRequest,
  Json,
  JsonObject,
  Restore,
  Tool,
  ToolChoice,
  ToolRef,
} from '../../engine/index.ts'
import type { Printing } from './print-parts.ts'
import { noSuchField, object, objects, protocol, text } from './values.ts'
import { printWish } from './web-search.ts'

/** Most characters of a tool's name. */
const nameLimit = 64

/** The names of tools for one upstream. */
export interface Naming {
  printed(tool: { readonly name: string; readonly namespace?: string }): string
  readonly restore: Restore
}

/** Names stay unchanged if the upstream has namespaces, except those that are too long or invalid. */
export function naming(tools: readonly Tool[], { traits }: Printing): Naming {
  const seen = traits.namespaces ? tools.map(alone) : tools
  const names = toolNames(seen, nameLimit)
  return {
    printed: traits.namespaces ? ({ name }) => names.printed({ name }) : (tool) => names.printed(tool),
    restore: names.restore(traits.custom_tools ? 'as-customs' : 'as-functions'),
  }
}

function alone(tool: Tool): Tool {
  if (tool.type === 'opaque' || tool.namespace === undefined) return tool
  const { namespace: _, ...rest } = tool
  return rest
}

/** Prints the tools. Those of a namespace are grouped at its first tool; without namespaces, they are separate. */
export function printTools(tools: readonly Tool[], naming: Naming, printing: Printing): JsonObject[] {
  const printed: JsonObject[] = []
  const groups = new Map<string, JsonObject[]>()
  const described = descriptions(tools)
  const open = (name: string) => {
    const group: JsonObject[] = []
    groups.set(name, group)
    printed.push({ type: 'namespace', name, description: described.get(name) ?? `Tools of ${name}.`, tools: group })
    return group
  }
  for (const tool of tools) {
    const value = printTool(tool, naming, printing)
    if (!value) continue
    const namespace = namespaceOf(tool)
    const alone = namespace === undefined || !printing.traits.namespaces
    const place = alone ? printed : (groups.get(namespace) ?? open(namespace))
    const own = tool.type === 'opaque' && namespace !== undefined
    for (const one of own ? objects(value['tools']) : [value]) place.push(one)
  }
  return printed
}

/** The namespace of a tool, or of the opaque namespace with a vendor's tools. */
function namespaceOf(tool: Tool): string | undefined {
  if (tool.type !== 'opaque') return tool.namespace
  const { type, name } = tool.value
  return tool.protocol === protocol && type === 'namespace' ? text(name) : undefined
}

/** The client's description of each namespace; the first one if there are several. */
function descriptions(tools: readonly Tool[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const tool of tools) {
    const own = tool.type !== 'opaque' && tool.rest?.protocol === protocol ? tool.rest.fields : undefined
    const description = text(tool.type === 'opaque' ? tool.value['description'] : own?.['namespace.description'])
    const namespace = namespaceOf(tool)
    if (namespace !== undefined && description !== undefined && !found.has(namespace)) found.set(namespace, description)
  }
  return found
}

function printTool(tool: Tool, naming: Naming, printing: Printing): JsonObject | undefined {
  const { losses, traits } = printing
  if (tool.type === 'opaque') {
    if (tool.search) return printWish(tool, printing)
    if (tool.protocol === protocol) return tool.value
    losses.add(`tools[].${word(tool.value['type'])}`, 'only another protocol has this tool')
    return undefined
  }
  if (tool.loaded === protocol) return undefined
  if (tool.cache) losses.add('cache_control', 'the responses protocol caches by prompt_cache_key')
  const name = naming.printed(tool)
  if (tool.type === 'function') return printFunction(tool, name, printing)
  if (!traits.custom_tools) return asFunction(tool, name, printing)
  const { 'namespace.description': _, ...own } = losses.own(tool.rest, { prefix: 'tools[].', because: noSuchField })
  return defined({ ...own, type: 'custom', name, description: tool.description, format: tool.format })
}

function printFunction(tool: FunctionTool, name: string, { losses }: Printing): JsonObject {
  const { 'namespace.description': _, ...own } = losses.own(tool.rest, { prefix: 'tools[].', because: noSuchField })
  return defined({
    ...own,
    type: 'function',
    name,
    description: tool.description,
    parameters: tool.parameters ?? { type: 'object', properties: {} },
    // The protocol's default is strict, so a client that did not request it needs an explicit `false`.
    strict: tool.strict ?? false,
  })
}

/** A free-text tool as a function with one string `input`. Its grammar becomes a part of the description. */
function asFunction(tool: CustomTool, name: string, { losses }: Printing): JsonObject {
  const { syntax, definition } = tool.format ?? {}
  const grammar =
    typeof definition === 'string'
      ? `The input must follow this ${text(syntax) ?? ''} grammar:\n${definition}`
      : undefined
  if (grammar !== undefined) losses.add('tools[].format', 'a grammar can only be described')
  const description = [tool.description, grammar].filter((line) => line !== undefined).join('\n\n')
  return {
    type: 'function',
    name,
    description,
    parameters: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    },
    strict: false,
  }
}

interface Chosen {
  /** The tools that may be sent along. */
  readonly tools: readonly Tool[]
  readonly choice?: JsonObject | string
}

/** Prints the tool choice. If the upstream cannot restrict tools, only the allowed ones remain in `tools`. */
export function printChoice({ tools, toolChoice }: GenerateRequest, naming: Naming, printing: Printing): Chosen {
  const { losses, traits } = printing
  const find = toolsByName(tools)
  const sent = callable(tools, protocol)
  const printed = (ref: ToolRef) => {
    const tool = find(ref)
    const type = (tool?.type ?? ref.kind) === 'custom' && traits.custom_tools ? 'custom' : 'function'
    // The client's name stays, except a flattened name, which this protocol does not have.
    const { namespace } = tool && tool.name !== ref.name ? tool : ref
    return { type, name: naming.printed(tool ?? ref), ...(traits.namespaces ? defined({ namespace }) : {}) }
  }
  switch (toolChoice?.type) {
    case undefined:
      return { tools }
    case 'auto':
    case 'none':
    case 'required':
      return { tools, choice: toolChoice.type }
    case 'tool':
      if (sent(toolChoice)) return { tools, choice: printed(toolChoice) }
      losses.add('tool_choice', 'the chosen tool is not among those sent')
      return { tools }
    case 'allowed': {
      const { mode, tools: allowed } = toolChoice
      const own = toolChoice.own?.protocol === protocol ? toolChoice.own.tools : []
      if (traits.allowed_tools) {
        return { tools, choice: { type: 'allowed_tools', mode, tools: [...allowed.filter(sent).map(printed), ...own] } }
      }
      const named = new Set<Tool | undefined>(allowed.map(find))
      const types = new Set(own.map(({ type }) => type))
      return { tools: tools.filter((tool) => named.has(tool) || isOwn(tool, types, toolChoice.search)), choice: mode }
    }
    case 'opaque':
      return { tools, ...defined({ choice: ownChoice(toolChoice, tools, printing) }) }
  }
}

/** Whether a vendor's tool is among the allowed ones, which list it by its type. */
function isOwn(tool: Tool, allowed: ReadonlySet<Json | undefined>, search: boolean | undefined): boolean {
  return tool.type === 'opaque' && (tool.search ? search === true : allowed.has(tool.value['type']))
}

function ownChoice(choice: Extract<ToolChoice, { type: 'opaque' }>, tools: readonly Tool[], printing: Printing) {
  const value = choice.protocol === protocol ? object(choice.value) : undefined
  const found = choice.search ? tools.some((tool) => searchesHere(tool, printing)) : value !== undefined
  if (found) return value ?? { type: 'web_search' }
  printing.losses.add('tool_choice', 'only another protocol has this choice, or the tool is not sent')
  return undefined
}

/** Whether the tool is a web search that the upstream can run. */
function searchesHere(tool: Tool, { traits }: Printing): boolean {
  return tool.type === 'opaque' && tool.search !== undefined && (tool.protocol === protocol || traits.web_search)
}
