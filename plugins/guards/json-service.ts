import type { Host, JudgeScope, Json, JsonObject } from '../../engine/index.ts'
import { BytesBody, answerHold, collect, headerLines, isObject, openHttp, parsedJson } from '../../engine/kit.ts'

/** Most bytes of an answer. */
const limit = 1_048_576

/** A service that is asked by POST, with JSON, and answers with JSON. */
export interface JsonService {
  /** Rejects for another status than 200, an answer that is no JSON object or too long, and when there is none in time. */
  ask(body: Json, scope: JudgeScope, headers?: Readonly<Record<string, string>>): Promise<JsonObject>
}

/** Opens a service. Redirects are not followed, and `host.bounds` says how far connections may go. */
export function jsonService(url: string, headers: Readonly<Record<string, string>>, host: Host): JsonService {
  const http = openHttp({}, host)
  const own = headerLines({ 'user-agent': `sluice/${host.version}`, accept: 'application/json' }, headers)
  const target = http.target(new URL(url), own)
  // The client of HTTP remembers limits by their object.
  const limits = new Map<number, { readonly firstByte: number; readonly idle: number; readonly total: number }>()
  return {
    async ask(body, scope, more = {}) {
      const { timeout } = scope
      const timeouts = limits.get(timeout) ?? { firstByte: timeout, idle: timeout, total: timeout }
      limits.set(timeout, timeouts)
      const sending = {
        body: new BytesBody(Buffer.from(JSON.stringify(body))),
        contentType: 'application/json',
        model: 'guard',
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
        if (!isObject(value)) throw new Error('its answer is no JSON object')
        return value
      } finally {
        hold.release()
      }
    },
  }
}

/** The trace of the request (W3C Trace Context); without one, a trace of its own that nobody samples. */
function parentOf({ trace, id }: JudgeScope): string {
  if (trace) return trace.traceparent
  const hex = id.replaceAll('-', '').padEnd(32, '0').slice(0, 32)
  return `00-${hex}-${hex.slice(16)}-00`
}
