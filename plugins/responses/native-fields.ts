import type { JsonObject, Rest } from '../../engine/index.ts'
import { protocol } from './values.ts'

/** Fields of a response that only native vendors fill. */
const names = [
  'conversation',
  'prompt',
  'moderation',
  'tool_usage',
  'image',
  'prompt_cache_retention',
  'prompt_cache_options',
  'prompt_cache_diagnostics',
  'context_management',
  'access_programs',
]

/** The native fields of a response that are set. */
export function nativeFields(response: JsonObject): Rest | undefined {
  const said = names.filter((name) => response[name] !== undefined && response[name] !== null)
  if (said.length === 0) return undefined
  return { protocol, fields: Object.fromEntries(said.map((name) => [name, response[name]])) }
}
