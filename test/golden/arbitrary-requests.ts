import * as fc from 'fast-check'
import { toolsByName } from '../../engine/kit.ts'
import type { CustomTool, FunctionTool, GenerateRequest, Tool, ToolChoice } from '../../engine/index.ts'
import { cache, items, joined, optional, said, schema, word } from './arbitrary-items.ts'

const functionTool: fc.Arbitrary<FunctionTool> = joined(
  fc.record({ type: fc.constant('function' as const), name: word }),
  optional({ namespace: fc.constantFrom('ns'), description: said, parameters: schema, strict: fc.boolean(), cache }),
)
const customTool: fc.Arbitrary<CustomTool> = joined(
  fc.record({ type: fc.constant('custom' as const), name: word }),
  optional({
    description: said,
    format: fc.constantFrom({ type: 'text' }, { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }),
  }),
)
const tools: fc.Arbitrary<readonly Tool[]> = fc.uniqueArray(
  fc.oneof<fc.Arbitrary<Tool>[]>(
    functionTool,
    customTool,
    fc
      .constantFrom('chat', 'messages', 'responses')
      .map((protocol) => ({ type: 'opaque' as const, protocol, value: { type: 'own_tool', name: 'own' } })),
  ),
  { maxLength: 3, selector: (tool) => (tool.type === 'opaque' ? tool.protocol : tool.name) },
)
const toolRef = fc.record({ kind: fc.constantFrom('function' as const, 'custom' as const), name: word })
const toolChoice: fc.Arbitrary<ToolChoice> = fc.oneof<fc.Arbitrary<ToolChoice>[]>(
  fc.constantFrom('auto' as const, 'none' as const, 'required' as const).map((type) => ({ type })),
  toolRef.map((ref) => ({ type: 'tool' as const, ...ref })),
  fc.record({
    type: fc.constant('allowed' as const),
    mode: fc.constantFrom('auto' as const, 'required' as const),
    tools: fc.array(toolRef, { maxLength: 2 }),
  }),
)

/** Any request in neutral form. A tool that is chosen is one of its own. */
export const requests: fc.Arbitrary<GenerateRequest> = joined(
  fc.record({ items, tools, stream: fc.boolean() }),
  optional({
    toolChoice,
    parallelTools: fc.boolean(),
    maxOutputTokens: fc.integer({ min: 1, max: 100_000 }),
    temperature: fc.constantFrom(0, 0.5, 1, 2),
    topP: fc.constantFrom(0, 0.5, 1),
    topK: fc.nat(100),
    stop: fc.array(fc.constantFrom('END', ' '), { maxLength: 2 }),
    seed: fc.nat(9),
    frequencyPenalty: fc.constantFrom(-1, 0, 1.5),
    presencePenalty: fc.constantFrom(-1, 0, 1.5),
    logprobs: fc.nat(20),
    reasoning: optional({
      effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
      // No budget at all is the effort `none`.
      budget: fc.integer({ min: 1, max: 70_000 }),
      summary: fc.constantFrom('auto', 'concise', 'none'),
    }),
    format: fc.oneof(
      fc.constantFrom({ type: 'text' as const }, { type: 'json' as const }),
      joined(
        fc.record({ type: fc.constant('schema' as const), schema }),
        optional({ name: fc.constant('answer'), description: word, strict: fc.boolean() }),
      ),
    ),
    verbosity: fc.constantFrom('low', 'high'),
    user: fc.constantFrom('u', 'u'.repeat(300)),
    cacheKey: fc.constantFrom('k', 'k'.repeat(300)),
    serviceTier: fc.constantFrom('auto', 'default', 'flex', 'unheard'),
    metadata: fc.constant({ team: 'a' }),
    store: fc.boolean(),
    streamUsage: fc.boolean(),
    rest: fc
      .constantFrom('chat', 'messages', 'responses')
      .map((protocol) => ({ protocol, fields: { own_field: { deep: [1] } } })),
  }),
).map((request) => (chosen(request) ? request : { ...request, toolChoice: { type: 'auto' } }))

function chosen({ tools, toolChoice }: GenerateRequest): boolean {
  if (toolChoice?.type !== 'tool' && toolChoice?.type !== 'allowed') return true
  const find = toolsByName(tools)
  return (toolChoice.type === 'tool' ? [toolChoice] : toolChoice.tools).every((tool) => find(tool) !== undefined)
}
