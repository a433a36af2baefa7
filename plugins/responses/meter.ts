import { defined, parsedObject } from '../../engine/kit.ts'
import type { Codec, Frame, Json, JsonObject, Metered } from '../../engine/index.ts'
import { drawn, usedAtEnd } from './drawn.ts'
import { parseStop, spoken } from './stop.ts'
import { usageOf } from './usage.ts'
import { object, objects, text } from './values.ts'

const terminal = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

/** Reads usage, model and stop of relayed answers. */
export const meter: Codec['meter'] = {
  reply: (body: Json) => metered(object(body) ?? {}),
  stream(first, last) {
    const end = lastOf(last, terminal) ?? lastOf(first, terminal)
    if (end) {
      const response = object(end['response'])
      return { ...(response ? metered(response) : begun(first)), complete: true }
    }
    return { ...begun(first), complete: false }
  },
  torn(end) {
    // Only the last event has the usage of the response, at its end.
    const told = usedAtEnd(end)
    const usage = usageOf(told)
    return usage && defined({ usage, further: drawn(told) })
  },
  said({ event, data }) {
    if (event !== undefined && !event.endsWith('.delta')) return 0
    const delta = text(parsedObject(data)?.['delta'])
    return delta === undefined ? 0 : Buffer.byteLength(delta)
  },
}

function metered(response: JsonObject): Metered {
  const { status } = response
  const ended = status === 'completed' || status === 'incomplete'
  return defined({
    usage: usageOf(response),
    further: drawn(response),
    model: text(response['model']),
    stop: ended ? parseStop(response, spoken(objects(response['output']))) : text(status),
    id: text(response['id']),
  })
}

/** The fields of the first event of a stream, which has no usage and no stop yet. */
function begun(first: readonly Frame[]): Metered {
  const response = object(
    lastOf(first.slice(0, 1), new Set(['response.created', 'response.in_progress']))?.['response'],
  )
  return defined({ model: text(response?.['model']), id: text(response?.['id']) })
}

function lastOf(frames: readonly Frame[], types: ReadonlySet<string>): JsonObject | undefined {
  for (const frame of frames.toReversed()) {
    if (frame.event !== undefined && !types.has(frame.event)) continue
    const value = parsedObject(frame.data)
    const type = text(value?.['type']) ?? frame.event
    if (value && type !== undefined && types.has(type)) return value
  }
  return undefined
}
