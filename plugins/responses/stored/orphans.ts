import { GatewayError } from '../../../engine/index.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { text } from '../values.ts'

const outputs = new Set(['function_call_output', 'custom_tool_call_output'])

/** Whether an item is the output of a tool that the client ran. */
export function isOutput({ type }: JsonObject): boolean {
  return typeof type === 'string' && outputs.has(type)
}

/** Rejects the output of a call that does not exist. */
export function refuseOrphans(items: readonly JsonObject[]): void {
  const calls = new Set(
    items.flatMap((item) => (isOutput(item) || text(item['type']) === undefined ? [] : (text(item['call_id']) ?? []))),
  )
  for (const item of items) {
    const id = isOutput(item) ? text(item['call_id']) : undefined
    if (id === undefined || calls.has(id)) continue
    const message = `No tool call found for function call output with call_id ${id.slice(0, 128)}.`
    throw new GatewayError('invalid_value', { param: 'input' }, { message })
  }
}
