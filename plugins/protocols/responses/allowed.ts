import { flatName } from '../../../engine/index.ts'
import type { JsonObject, ToolCall } from '../../../engine/index.ts'
import { toolRef } from './tools.ts'
import { object, objects } from './values.ts'

/** Whether a call keeps to the `allowed_tools` of a request's `tool_choice`, where there are any. */
export function allows(body: JsonObject, { name, namespace }: ToolCall): boolean {
  const choice = object(body['tool_choice'])
  if (choice?.['type'] !== 'allowed_tools') return true
  const full = flatName({ name, ...(namespace === undefined ? {} : { namespace }) })
  return objects(choice['tools']).some((listed) => {
    const allowed = toolRef(listed)
    if (!allowed) return false
    return allowed.namespace === undefined
      ? allowed.name === name || allowed.name === full
      : allowed.name === name && allowed.namespace === namespace
  })
}
