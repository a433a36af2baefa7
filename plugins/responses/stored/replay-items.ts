import type { JsonObject } from '../../../engine/index.ts'
import { objects, text, without } from '../values.ts'

type Event = JsonObject & { readonly type: string }
type ItemPosition = { readonly item_id: string; readonly output_index: number }

/** The states of a hosted tool, and the fields that its item has only at the end. */
interface Steps {
  readonly steps: readonly string[]
  readonly later?: JsonObject
}

const hosted: ReadonlyMap<unknown, Steps> = new Map<unknown, Steps>([
  ['web_search_call', { steps: ['in_progress', 'searching', 'completed'] }],
  ['file_search_call', { steps: ['in_progress', 'searching', 'completed'], later: { results: null } }],
  ['image_generation_call', { steps: ['in_progress', 'generating', 'completed'], later: { result: null } }],
  ['mcp_list_tools', { steps: ['in_progress', 'completed'], later: { tools: [] } }],
])

const saidLater = new Set(['content', 'encrypted_content'])
const calledLater = new Set(['output', 'error'])

/** The events of one output item, without numbers: the item opens empty, is filled, and closes complete. */
export function* replayItem(item: JsonObject, index: number): Generator<Event> {
  const position = { item_id: text(item['id']) ?? '', output_index: index }
  yield { type: 'response.output_item.added', output_index: index, item: opened(item) }
  // Every event between these two names the item, so an item without an id has none.
  if (position.item_id !== '') yield* filling(item, position)
  yield { type: 'response.output_item.done', output_index: index, item }
}

/** An item in its state when it opens. */
function opened(item: JsonObject): JsonObject {
  const begun = item['status'] === undefined ? item : { ...item, status: 'in_progress' }
  switch (item['type']) {
    case 'message':
      return { ...begun, status: 'in_progress', content: [] }
    case 'reasoning':
      return { ...without(begun, saidLater), summary: [] }
    case 'function_call':
      return { ...begun, arguments: '' }
    case 'mcp_call':
      return { ...without(begun, calledLater), arguments: '' }
    case 'custom_tool_call':
      return { ...begun, input: '' }
    case 'code_interpreter_call':
      return { ...begun, code: '', outputs: null }
    default:
      return { ...begun, ...hosted.get(item['type'])?.later }
  }
}

function* filling(item: JsonObject, position: ItemPosition): Generator<Event> {
  const { type } = item
  switch (type) {
    case 'message':
      for (const [at, part] of objects(item['content']).entries())
        yield* contentPart(part, { ...position, content_index: at })
      return
    case 'reasoning':
      for (const [at, part] of objects(item['summary']).entries())
        yield* summaryPart(part, { ...position, summary_index: at })
      for (const [at, part] of objects(item['content']).entries())
        yield* contentPart(part, { ...position, content_index: at })
      return
    case 'function_call':
      return yield* written('response.function_call_arguments', 'arguments', item, position, { name: item['name'] })
    case 'custom_tool_call':
      return yield* written('response.custom_tool_call_input', 'input', item, position)
    case 'mcp_call':
      yield { type: 'response.mcp_call.in_progress', ...position }
      yield* written('response.mcp_call_arguments', 'arguments', item, position)
      return yield { type: `response.mcp_call.${failedAt(item) ? 'failed' : 'completed'}`, ...position }
    case 'code_interpreter_call':
      yield { type: 'response.code_interpreter_call.in_progress', ...position }
      yield* written('response.code_interpreter_call_code', 'code', item, position)
      yield { type: 'response.code_interpreter_call.interpreting', ...position }
      return yield { type: 'response.code_interpreter_call.completed', ...position }
    case 'mcp_list_tools':
      yield { type: 'response.mcp_list_tools.in_progress', ...position }
      return yield { type: `response.mcp_list_tools.${failedAt(item) ? 'failed' : 'completed'}`, ...position }
    default:
      for (const step of hosted.get(type)?.steps ?? [])
        yield { type: `response.${text(type) ?? ''}.${step}`, ...position }
  }
}

function failedAt({ status, error }: JsonObject): boolean {
  return status === 'failed' || (error ?? undefined) !== undefined
}

/** Events of a text: one delta with all of it, then `done` with all of it. */
function* written(
  event: string,
  field: string,
  item: JsonObject,
  position: ItemPosition,
  more: JsonObject = {},
): Generator<Event> {
  const value = text(item[field]) ?? ''
  if (value !== '') yield { type: `${event}.delta`, ...position, delta: value }
  yield { type: `${event}.done`, ...position, ...more, [field]: value }
}

function* contentPart(part: JsonObject, position: ItemPosition & { readonly content_index: number }): Generator<Event> {
  yield { type: 'response.content_part.added', ...position, part: emptied(part) }
  switch (part['type']) {
    case 'output_text':
      yield* outputText(part, position)
      break
    case 'refusal':
      yield* written('response.refusal', 'refusal', part, position)
      break
    case 'reasoning_text':
      yield* written('response.reasoning_text', 'text', part, position)
  }
  yield { type: 'response.content_part.done', ...position, part }
}

function emptied(part: JsonObject): JsonObject {
  switch (part['type']) {
    case 'output_text':
      return { ...part, text: '', annotations: [], logprobs: [] }
    case 'refusal':
      return { ...part, refusal: '' }
    case 'reasoning_text':
      return { ...part, text: '' }
    default:
      return part
  }
}

function* outputText(part: JsonObject, position: ItemPosition): Generator<Event> {
  const { text: said, logprobs = [], annotations } = part
  if (said !== '') yield { type: 'response.output_text.delta', ...position, delta: said, logprobs }
  for (const [annotation_index, annotation] of objects(annotations).entries())
    yield { type: 'response.output_text.annotation.added', ...position, annotation_index, annotation }
  yield { type: 'response.output_text.done', ...position, text: said, logprobs }
}

function* summaryPart(part: JsonObject, position: ItemPosition & { readonly summary_index: number }): Generator<Event> {
  yield { type: 'response.reasoning_summary_part.added', ...position, part: { ...part, text: '' } }
  yield* written('response.reasoning_summary_text', 'text', part, position)
  yield { type: 'response.reasoning_summary_part.done', ...position, part }
}
