import type { Json, JsonObject } from '../../../engine/index.ts'

/** A part of an item while its text arrives. */
interface OpenPart {
  readonly index: number
  text: string
  /** All of its text was told. */
  told: boolean
}

/** An item that was added: what may come for it depends on its type. */
interface OpenItem {
  readonly id: Json | undefined
  readonly type: Json | undefined
  part: OpenPart | undefined
  parts: number
  input: string | undefined
  /** All of its input was told. */
  told: boolean
  done: boolean
}

type Fault = (what: string) => void

const texts: ReadonlyMap<string, { readonly of: string; readonly part: string }> = new Map([
  ['response.output_text', { of: 'message', part: 'content' }],
  ['response.refusal', { of: 'message', part: 'content' }],
  ['response.reasoning_text', { of: 'reasoning', part: 'content' }],
  ['response.reasoning_summary_text', { of: 'reasoning', part: 'summary' }],
])
const inputs: ReadonlyMap<string, string> = new Map([
  ['response.function_call_arguments', 'function_call'],
  ['response.custom_tool_call_input', 'custom_tool_call'],
])
const parts: ReadonlyMap<string, string> = new Map([
  ['response.content_part', 'content'],
  ['response.reasoning_summary_part', 'summary'],
])
const terminals = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/**
 * Whether the events of one response stand in their legal order: created, in progress, items that open before they
 * speak and close after it, one terminal event whose output is what was streamed. Gives every fault it finds.
 */
export function orderFaults(events: readonly JsonObject[]): readonly string[] {
  const faults: string[] = []
  const items = new Map<unknown, OpenItem>()
  let id: Json | undefined
  let errors = 0
  let ended = false
  for (const [at, event] of events.entries()) {
    const type = word(event['type'])
    const fault: Fault = (what) => faults.push(`event ${at} (${type}): ${what}`)
    if (event['sequence_number'] !== at) fault(`has the number ${word(event['sequence_number'])}`)
    if (ended) fault('follows the terminal event')
    if (at === 0 && type !== 'response.created') fault('is not response.created')
    if (at === 1 && type !== 'response.in_progress' && type !== 'response.queued') fault('comes before in_progress')
    if (errors > 0 && type !== 'response.failed') fault('follows an error')
    const response = event['response'] as JsonObject | undefined
    if (response) {
      id ??= response['id']
      if (response['id'] !== id) fault('has another id')
    }
    if (type === 'error') errors++
    else if (terminals.has(type)) {
      ended = true
      if (type !== 'response.failed') finished(type, response ?? {}, items, fault)
      else if (errors !== 1) fault('comes without an error')
      if (response?.['status'] !== type.slice('response.'.length)) fault('has another status')
    } else if (type === 'response.output_item.added') added(event, items, fault)
    else if (!response) spoken(type, event, items, fault)
  }
  if (!ended) faults.push('there is no terminal event')
  return faults
}

function word(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function added(event: JsonObject, items: Map<unknown, OpenItem>, fault: Fault): void {
  const item = event['item'] as JsonObject
  const { id, type } = item
  if (items.has(event['output_index'])) fault('its output_index is taken')
  if ([...items.values()].some((other) => other.id === id)) fault('its id is taken')
  const calls = [...inputs.values()].includes(word(type))
  if (calls && (item['arguments'] ?? item['input']) !== '') fault('has input before any delta')
  if (type === 'message' && (item['content'] as Json[]).length > 0) fault('has content before any part')
  if (type === 'reasoning' && (item['summary'] as Json[]).length > 0) fault('has a summary before any part')
  items.set(event['output_index'], {
    id,
    type,
    part: undefined,
    parts: 0,
    input: calls ? '' : undefined,
    told: !calls,
    done: false,
  })
}

/** What is said of an item that is open. */
function spoken(type: string, event: JsonObject, items: Map<unknown, OpenItem>, fault: Fault): void {
  const item = items.get(event['output_index'])
  if (!item) return fault('its item was not added')
  if (item.done) fault('its item is done')
  if (type === 'response.output_item.done') return itemDone(event['item'] as JsonObject, item, fault)
  if (event['item_id'] !== item.id) fault('has the id of another item')
  const verb = type.slice(type.lastIndexOf('.') + 1)
  const noun = type.slice(0, type.lastIndexOf('.'))
  const kind = parts.get(noun)
  const text = texts.get(noun)
  const called = inputs.get(noun)
  if (kind) return partEvent(verb, event[`${kind}_index`], item, fault)
  if (text) {
    if (item.type !== text.of) fault(`does not fit an item of type ${word(item.type)}`)
    return textEvent(verb, event, event[`${text.part}_index`], item, fault)
  }
  if (called) return inputEvent(verb, event, called, item, fault)
  if (noun === 'response.output_text.annotation' && !item.part) fault('its part is not open')
}

function partEvent(verb: string, index: unknown, item: OpenItem, fault: Fault): void {
  if (verb === 'added') {
    if (item.part) fault('another part is open')
    if (index !== item.parts) fault(`its index is not ${item.parts}`)
    item.part = { index: item.parts, text: '', told: false }
    return
  }
  if (item.part?.index !== index) fault('its part is not open')
  if (item.part && !item.part.told) fault('its text was not told')
  item.part = undefined
  item.parts++
}

function textEvent(verb: string, event: JsonObject, index: unknown, item: OpenItem, fault: Fault): void {
  if (item.part?.index !== index || !item.part) return fault('its part is not open')
  if (verb === 'delta') item.part.text += word(event['delta'])
  else {
    item.part.told = true
    if ((event['text'] ?? event['refusal']) !== item.part.text) fault('is not what the deltas said')
  }
}

function inputEvent(verb: string, event: JsonObject, type: string, item: OpenItem, fault: Fault): void {
  if (item.type !== type || item.input === undefined) return fault(`does not fit an item of type ${word(item.type)}`)
  if (item.told) fault('comes after all of the input')
  if (verb === 'delta') item.input += word(event['delta'])
  else {
    item.told = true
    if ((event['arguments'] ?? event['input']) !== item.input) fault('is not what the deltas said')
  }
}

function itemDone(printed: JsonObject, item: OpenItem, fault: Fault): void {
  if (printed['id'] !== item.id || printed['type'] !== item.type) fault('is another item than was added')
  if (item.part) fault('its last part is open')
  if (!item.told) fault('its input was not told')
  if (item.input !== undefined && (printed['arguments'] ?? printed['input']) !== item.input)
    fault('has other input than the deltas said')
  if (item.type === 'message' && (printed['content'] as Json[]).length !== item.parts) fault('has other parts')
  item.done = true
}

function finished(type: string, response: JsonObject, items: Map<unknown, OpenItem>, fault: Fault): void {
  const output = response['output'] as JsonObject[]
  const streamed = [...items].toSorted(([one], [other]) => Number(one) - Number(other)).map(([, { id }]) => id)
  if (JSON.stringify(output.map(({ id }) => id)) !== JSON.stringify(streamed))
    fault('its output is not what was streamed')
  for (const { id, done } of items.values()) if (!done) fault(`the item ${word(id)} is not done`)
  const cut = output.filter(({ status }) => status === 'incomplete')
  if (cut.some((item) => item !== output.at(-1))) fault('an item before the last one is incomplete')
  if (cut.length > 0 && type === 'response.completed') fault('is complete with an item that is not')
}
