import type { Json, JsonObject } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { StoredLap } from './row.ts'

/** A run of a stage as it is shown, in milliseconds since the request arrived. */
export interface Span {
  readonly [field: string]: Json
  readonly path: string
  readonly name: string
  readonly at_ms: number
  readonly duration_ms: number
  readonly attempt: number | null
  readonly outcome: string
}

/** The runs of stages in the metadata of a row. The last word of a path is the name of the stage, perhaps with its number. */
export function spansOf({ laps }: JsonObject): readonly Span[] {
  if (!Array.isArray(laps)) return []
  return (laps as unknown as readonly StoredLap[]).map(([path, at, duration, attempt = 0, outcome = 'ok']) => {
    const [name = ''] = path.slice(path.lastIndexOf('/') + 1).split(':', 1)
    return { path, name, at_ms: at / 1000, duration_ms: duration / 1000, attempt: attempt || null, outcome }
  })
}

/** Milliseconds that an exchange spent in each stage, in the order of their first runs, and its other times. */
export function timesOf(metadata: JsonObject): JsonObject {
  const micros = new Map<string, number>()
  for (const { name, duration_ms: duration } of spansOf(metadata))
    micros.set(name, (micros.get(name) ?? 0) + Math.round(duration * 1000))
  const ofStages = [...micros].map(([name, sum]): [string, number] => [name, sum / 1000])
  return { ...Object.fromEntries(ofStages), ...(isObject(metadata['times']) ? metadata['times'] : {}) }
}
