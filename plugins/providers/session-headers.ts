import { passedOn } from '../../engine/kit.ts'
import type { Dial } from '../../engine/index.ts'

/** The headers of a client that a realtime session upstream gets, too. */
const passed = ['openai-organization', 'openai-project', 'openai-safety-identifier']

/** The same as browsers send them, which cannot set headers: subprotocols with a value after the dot. */
const subprotocols = ['openai-organization', 'openai-project']

/**
 * Header lines of a realtime session that come from its client
 * (platform.openai.com/docs/guides/realtime-websocket).
 */
export function sessionHeaders({ clientHeaders = {} }: Pick<Dial, 'clientHeaders'>): readonly string[] {
  const offered = String(clientHeaders['sec-websocket-protocol'] ?? '').split(',')
  const words = offered.map((one) => one.trim())
  const fromWords = subprotocols.flatMap((name) => {
    const word = words.find((one) => one.startsWith(`${name}.`))
    return word === undefined || clientHeaders[name] !== undefined ? [] : [name, word.slice(name.length + 1)]
  })
  return [...passedOn(clientHeaders, passed), ...fromWords]
}
