import { parsedJson } from '../../engine/kit.ts'
import type { Json, Metered } from '../../engine/index.ts'
import type { HeadAndTail } from '../../engine/kit.ts'
import type { AnswerContext } from './answer-context.ts'

type Told = Pick<Metered, 'units'>

/** What was used beside tokens, by a whole answer; null where it could not be read. */
export function unitsOf({ codec, request }: AnswerContext, answer: Json, complete = true): Told {
  const units = codec.meter?.units?.(request.body, answer, complete)
  return units && Object.keys(units).length > 0 ? { units } : {}
}

/** The same by the ends of a stream: its last event may be too large to have been kept. */
export function unitsOfStream(exchange: AnswerContext, ends: HeadAndTail, complete: boolean): Told {
  if (!exchange.codec.meter?.units) return {}
  const last = ends.last(Infinity).findLast(({ data }) => data.startsWith('{'))
  return unitsOf(exchange, (last && parsedJson(last.data)) ?? null, complete)
}
