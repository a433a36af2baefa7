import { isObject, searchWish, word } from '../../../engine/kit.ts'
import type { JsonObject, OpaqueTool } from '../../../engine/index.ts'
import type { PartPrinting } from './parts.ts'
import { protocol } from './wire.ts'
import type { ChatBody } from './wire.ts'

/**
 * The web search that a body requests by its own field. In this protocol it is no tool, and the model always searches.
 */
export function parseSearch({ web_search_options: value }: ChatBody): readonly OpaqueTool[] {
  if (!isObject(value)) return []
  const { search_context_size: contextSize, user_location: location, ...others } = value
  const further = Object.keys(others).filter((field) => others[field] !== null)
  const approximate = isObject(location) ? location['approximate'] : undefined
  return [{ type: 'opaque', protocol, value, search: searchWish({ contextSize, location: approximate, further }) }]
}

/** `web_search_options`; undefined, and a loss, if the upstream cannot search or cannot apply the restrictions. */
export function printSearch(tool: OpaqueTool, printing: PartPrinting): JsonObject | undefined {
  const { protocol: from, value, search = {} } = tool
  const { losses, traits } = printing
  const { contextSize, location, maxUses, further = [] } = search
  const own = from === protocol
  if (!own && !traits.web_search) return lost('the provider cannot search the web', printing)
  if (search.allowedDomains ?? search.blockedDomains) return lost('no domains can be named here', printing)
  if (maxUses !== undefined) losses.add('tools[].max_uses', 'this protocol has no such field')
  if (!own) for (const field of further) losses.add(`tools[].${word(field)}`, `only ${from} has it`)
  return {
    ...(own ? value : {}),
    ...(contextSize === undefined ? {} : { search_context_size: contextSize }),
    ...(location && !own ? { user_location: { type: 'approximate', approximate: { ...location } } } : {}),
  }
}

function lost(because: string, { losses }: PartPrinting): undefined {
  losses.add('tools[].web_search', because)
}

/** Whether a body requests a web search. */
export function searches({ web_search_options: value }: JsonObject): boolean {
  return isObject(value)
}
