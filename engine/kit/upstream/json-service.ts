import { parsedJson } from '../../json/parse.ts'
import type { Host } from '../../spec/host.ts'
import { isObject } from '../../spec/json.ts'
import type { Json, JsonObject } from '../../spec/json.ts'
import type { JudgeScope } from '../guard.ts'
import { answerHold } from '../../stream/byte-budget.ts'
import { BytesBody } from '../../stream/body.ts'
import { collect } from '../../stream/collect.ts'
import { headerLines } from './headers.ts'
import { openHttp } from './http.ts'

/** Most bytes of an answer. */
const limit = 1_048_576

/** A service that is asked by POST, with JSON, and answers with JSON. */
export interface JsonService {
  /**
   * Rejects for another status than 200, an answer that is no JSON or longer than 1 MiB, and when there is none in time.
   * An error has nothing of the answer.
   * @param headers further ones of this question
   */
  askAny(body: Json, scope: JsonScope, headers?: Readonly<Record<string, string>>): Promise<Json>
  /** The same; it also rejects for an answer that is no object. */
  ask(body: Json, scope: JsonScope, headers?: Readonly<Record<string, string>>): Promise<JsonObject>
}

/** What surrounds a question, such as the scope of a judgement. */
export type JsonScope = Pick<JudgeScope, 'id' | 'trace' | 'timeout' | 'onAbort'>

/**
 * Opens a service for guards and others that ask one. Connections are kept, redirects are not followed, and
 * `host.bounds` says how far connections may go.
 */
export function jsonService(url: string, headers: Readonly<Record<string, string>>, host: Host): JsonService {
  const http = openHttp({}, host)
  const own = headerLines({ 'user-agent': `sluice/${host.version}`, accept: 'application/json' }, headers)
  const target = http.target(new URL(url), own)
  // The client of HTTP remembers limits by their object.
  const limits = new Map<number, { readonly firstByte: number; readonly idle: number; readonly total: number }>()
  const askAny: JsonService['askAny'] = async (body, scope, more = {}) => {
    const { timeout } = scope
    const timeouts = limits.get(timeout) ?? { firstByte: timeout, idle: timeout, total: timeout }
    limits.set(timeout, timeouts)
    const sending = {
      body: new BytesBody(Buffer.from(JSON.stringify(body))),
      contentType: 'application/json',
      model: 'service',
      timeouts,
      scope: { onAbort: scope.onAbort },
    }
    const lines = Object.entries({ traceparent: parentOf(scope), ...more }).flat()
    const answer = await http.post(target, sending, lines)
    const hold = answerHold(host)
    try {
      const bytes = await collect(answer.body, limit, hold)
      if (answer.status !== 200) throw new Error(`it answered with status ${answer.status}`)
      const value = parsedJson(bytes.toString())
      if (value === undefined) throw new Error('its answer is no JSON')
      return value
    } finally {
      hold.release()
    }
  }
  return {
    askAny,
    async ask(body, scope, more) {
      const value = await askAny(body, scope, more)
      if (!isObject(value)) throw new Error('its answer is no JSON object')
      return value
    },
  }
}

/** The trace of the request (W3C Trace Context); without one, a trace of its own that nobody samples. */
function parentOf({ trace, id }: JsonScope): string {
  if (trace) return trace.traceparent
  const hex = id.replaceAll('-', '').padEnd(32, '0').slice(0, 32)
  return `00-${hex}-${hex.slice(16)}-00`
}
