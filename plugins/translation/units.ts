import { bufferOf, parsedJson } from '../../engine/kit.ts'
import type { Json, Metered } from '../../engine/index.ts'
import type { HeadAndTail } from './head-and-tail.ts'
import type { AnswerContext } from './answer-context.ts'

type Told = Pick<Metered, 'units'>

/** Usage other than tokens, from a whole answer; null if it could not be parsed. */
export function unitsOf({ codec, request }: AnswerContext, answer: Json, complete = true, delivered?: number): Told {
  const units = codec.meter?.units?.(request.body, answer, complete, delivered)
  return units && Object.keys(units).length > 0 ? { units } : {}
}

/** The same from the head and tail of a stream, whose last event may have been too large to keep. */
export function unitsOfStream(
  exchange: AnswerContext,
  ends: HeadAndTail,
  complete: boolean,
  delivered: number | undefined,
): Told {
  if (!exchange.codec.meter?.units) return {}
  const last = ends.last(Infinity).findLast(({ data }) => data.startsWith('{'))
  return unitsOf(exchange, (last && parsedJson(last.data)) ?? null, complete, delivered)
}

/** Bytes at the beginning of an event that have its type. */
const headSize = 256

/** Counts the events of some types in a relayed stream, without parsing them: each may hold megabytes. */
export class Deliveries {
  count = 0
  readonly #signs: readonly string[]

  constructor(types: readonly string[]) {
    this.#signs = types.flatMap((type) => [`event: ${type}\n`, `"type":"${type}"`, `"type": "${type}"`])
  }

  /** Takes complete events whose lines end in LF, or the beginning of a large one. */
  take(events: Uint8Array): void {
    const bytes = bufferOf(events)
    for (let at = 0; at < bytes.length;) {
      const gap = bytes.indexOf('\n\n', at)
      const end = gap < 0 ? bytes.length : gap + 2
      const head = bytes.toString('latin1', at, Math.min(end, at + headSize))
      if (this.#signs.some((sign) => head.includes(sign))) this.count++
      at = end
    }
  }
}
