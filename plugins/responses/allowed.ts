import { defined, flatName } from '../../engine/kit.ts'
import type { JsonObject, ToolCall } from '../../engine/index.ts'
import { toolRef } from './tools.ts'
import { object, objects } from './values.ts'

/** Whether calls are among the `allowed_tools` of a request's `tool_choice`. Without a list, all are. */
export function allowance(body: JsonObject): (call: ToolCall) => boolean {
  const choice = object(body['tool_choice'])
  if (choice?.['type'] !== 'allowed_tools') return () => true
  const allowed = new Set(
    objects(choice['tools'])
      .flatMap((listed) => toolRef(listed) ?? [])
      .map(exact),
  )
  return ({ name, namespace }) =>
    [defined({ name, namespace }), { name }, { name: flatName(defined({ name, namespace })) }].some((tool) =>
      allowed.has(exact(tool)),
    )
}

function exact({ name, namespace }: { readonly name: string; readonly namespace?: string }): string {
  return JSON.stringify([namespace, name])
}
