import { packSeal, sealPrefix } from '../../../engine/kit.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { nativeSeal } from '../reasoning.ts'
import { objects, text, without } from '../values.ts'
import type { StoredResponse, WholeResponse } from './record.ts'

/** Vendors' id prefixes by type of item. */
const prefixes: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
  ['custom_tool_call', 'ctc'],
  ['custom_tool_call_output', 'ctco'],
  ['web_search_call', 'ws'],
  ['file_search_call', 'fs'],
  ['code_interpreter_call', 'ci'],
  ['image_generation_call', 'ig'],
  ['computer_call', 'cu'],
  ['computer_call_output', 'cuo'],
  ['local_shell_call', 'lsh'],
  ['local_shell_call_output', 'lsho'],
  ['shell_call', 'sh'],
  ['shell_call_output', 'sho'],
  ['apply_patch_call', 'apc'],
  ['apply_patch_call_output', 'apco'],
  ['mcp_call', 'mcp'],
  ['mcp_list_tools', 'mcpl'],
  ['mcp_approval_request', 'mcpr'],
  ['mcp_approval_response', 'mcpa'],
  ['tool_search_call', 'tsc'],
  ['tool_search_output', 'tso'],
  ['compaction', 'cmp'],
])

/** `input` of a request as items. */
export function inputItems(input: Json | undefined): readonly JsonObject[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : objects(input)
}

/** `input` of a request in its stored form: each item has an id, and messages have a type and a list of parts. */
export function recordedInput(input: Json | undefined, exchange: string): readonly JsonObject[] {
  const seen = new Set<Json | undefined>()
  return inputItems(input).map((item, index) => {
    const whole = recordedItem(item, exchange, index)
    // A page of items begins after an id, so each item needs its own.
    const one = seen.has(whole['id']) ? recordedItem({ ...item, id: null }, exchange, index) : whole
    seen.add(one['id'])
    return one
  })
}

const headFields = new Set(['id', 'type', 'status'])

function recordedItem(item: JsonObject, exchange: string, index: number): JsonObject {
  const type = text(item['type']) ?? (text(item['role']) === undefined ? undefined : 'message')
  const id = text(item['id']) || mintedId(type, exchange, index)
  if (type !== 'message') return { ...item, id }
  const status = item['status'] ?? 'completed'
  return { id, type, status, ...without(item, headFields), content: partsOf(item) }
}

/** The content of a message as a list of parts. */
export function partsOf({ role, content }: JsonObject): Json {
  if (typeof content !== 'string') return content ?? []
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }]
}

/** An id that no output item has. */
function mintedId(type: string | undefined, exchange: string, index: number): string {
  const place = index.toString(16).padStart(4, '0')
  return `${prefixes.get(type ?? '') ?? 'item'}_${exchange.replaceAll('-', '')}i${place}`
}

/** The conversation including the answer, as input of the next request. */
export function conversationOf(record: WholeResponse): readonly JsonObject[] {
  return [...record.before, ...record.input, ...answerOf(record)]
}

/**
 * The items of the answer as input of another request; reasoning carries its origin. Compactions that the provider made
 * during the answer are left out, because the full items are there.
 */
export function answerOf({ response, origin, sealed }: StoredResponse): readonly JsonObject[] {
  const output = objects(response['output']).filter(({ type }) => type !== 'compaction')
  return origin === undefined ? output : output.map((item) => withSeal(item, origin, sealed))
}

/** Reasoning packed with its origin, so that no other provider ever gets it. */
function withSeal(item: JsonObject, origin: string, sealed: StoredResponse['sealed']): JsonObject {
  if (item['type'] !== 'reasoning' || text(item['encrypted_content'])?.startsWith(sealPrefix)) return item
  const kept = sealed?.[text(item['id']) ?? '']
  if (kept !== undefined) return { ...item, encrypted_content: kept }
  const seal = nativeSeal(item)
  return seal ? { ...item, encrypted_content: packSeal(origin, { kind: seal.kind, data: seal.data }) } : item
}
