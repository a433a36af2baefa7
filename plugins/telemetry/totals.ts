import type { Json } from '../../engine/index.ts'
import type { EndedValues, ToldMetric, ToldValue } from './instruments.ts'

/** What a process tells of itself, what has ended in its eyes, and whether it wants to know the others. */
export interface Report {
  readonly metrics: readonly ToldMetric[]
  readonly ended: readonly EndedValues[]
  readonly asks: boolean
}

/** What the others count, and what those that have ended counted; what has ended in the eyes of any process. */
export interface Totals {
  readonly told: readonly (readonly ToldMetric[])[]
  readonly ended: readonly EndedValues[]
}

/** What each serving process told last, by its number. */
const living = new Map<number, Report>()
/** Numbers of ended processes, which no other gets. */
const gone = new Set<number>()
/** What ended processes have counted: counters and histograms, by name and by the labels of a series. */
const ended = new Map<string, { readonly metric: ToldMetric; readonly values: Map<string, ToldValue> }>()

/**
 * Keeps what the processes of a gateway count, in the first of them.
 * @returns `Totals`, if the process asks
 */
export default function report(question: Json, from: number): Json | undefined {
  const told = question as unknown as Report
  // Its last report may come after its end.
  if (gone.has(from)) return undefined
  living.set(from, told)
  for (const each of told.ended) drop(each)
  if (!told.asks) return undefined
  const others = [...living].filter(([process]) => process !== from).map(([, { metrics }]) => metrics)
  const past = [...ended.values()].map(({ metric, values }) => ({ ...metric, values: [...values.values()] }))
  const totals: Totals = { told: [...others, past], ended: [...living.values()].flatMap((each) => each.ended) }
  return totals as unknown as Json
}

/** Drops what ended processes have counted for values that have ended: who comes back under such a name begins anew. */
function drop({ metric, label, values }: EndedValues): void {
  const kept = ended.get(metric)?.values
  if (kept === undefined) return
  const over = new Set(values)
  for (const [key, { labels }] of kept) if (over.has(String(labels[label]))) kept.delete(key)
}

/** A process has ended: what it counted stays, so that no counter falls; what it held is gone. */
export function left(process: number): void {
  gone.add(process)
  for (const metric of living.get(process)?.metrics ?? []) {
    if (metric.type === 'gauge') continue
    const kept = ended.get(metric.name) ?? { metric, values: new Map<string, ToldValue>() }
    ended.set(metric.name, kept)
    for (const value of metric.values) {
      const key = `${value.metricName ?? ''}${JSON.stringify(value.labels)}`
      const before = kept.values.get(key)?.value ?? 0
      const sum = metric.aggregator === 'max' ? Math.max(value.value, before) : value.value + before
      kept.values.set(key, { ...value, value: sum })
    }
  }
  living.delete(process)
}
