import type { Json, JsonObject, Services } from '../../engine/index.ts'
import { isObject, parsedObject } from '../../engine/kit.ts'

/** A row of the request log. */
export type Row = NonNullable<Awaited<ReturnType<Services['requests']['row']>>>

/** The routing block of a row; undefined: the request named a model, and was not routed. */
export function routingOf({ metadata }: Pick<Row, 'metadata'>): JsonObject | undefined {
  const { routing } = parsedObject(metadata) ?? {}
  return isObject(routing) ? routing : undefined
}

/**
 * The routing block of a row whose decision can be rated: a model was chosen, and asked. A gate, a limit or a budget may
 * have refused the request before.
 */
export function rateable(row: Row): JsonObject | undefined {
  if (row.type === 'judge' || row.result === 'refused') return undefined
  const routing = routingOf(row)
  return typeof routing?.['chosen'] === 'string' ? routing : undefined
}

/** A part of a block that may be missing. */
export function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
