import { parsedJson } from '../../engine/kit.ts'
import type { Json, Metered } from '../../engine/index.ts'
import type { HeadAndTail } from '../../engine/kit.ts'
import type { AnswerContext } from './answer-context.ts'

type Told = Pick<Metered, 'units'>

/** Usage other than tokens, from a whole answer; null if it could not be parsed. */
export function unitsOf({ codec, request }: AnswerContext, answer: Json, complete = true): Told {
  const units = codec.meter?.units?.(request.body, answer, complete)
  return units && Object.keys(units).length > 0 ? { units } : {}
}

/** The same from the head and tail of a stream, whose last event may have been too large to keep. */
export function unitsOfStream(exchange: AnswerContext, ends: HeadAndTail, complete: boolean): Told {
  if (!exchange.codec.meter?.units) return {}
  const last = ends.last(Infinity).findLast(({ data }) => data.startsWith('{'))
  return unitsOf(exchange, (last && parsedJson(last.data)) ?? null, complete)
}
