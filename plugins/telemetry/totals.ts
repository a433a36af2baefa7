import type { Json } from '../../engine/index.ts'
import type { ToldMetric, ToldValue } from './instruments.ts'

/** What a process tells of itself, and whether it wants to know the others. */
interface Report {
  readonly metrics: readonly ToldMetric[]
  readonly asks: boolean
}

/** What each serving process told last, by its number. */
const living = new Map<number, readonly ToldMetric[]>()
/** Numbers of ended processes, which no other gets. */
const gone = new Set<number>()
/** What ended processes have counted: counters and histograms, by name and by the labels of a series. */
const ended = new Map<string, { readonly metric: ToldMetric; readonly values: Map<string, ToldValue> }>()

/**
 * Keeps what the processes of a gateway count, in the first of them.
 * @returns what the others and those that have ended counted, if the process asks
 */
export default function report(question: Json, from: number): Json | undefined {
  const { metrics, asks } = question as unknown as Report
  // Its last report may come after its end.
  if (gone.has(from)) return undefined
  living.set(from, metrics)
  if (!asks) return undefined
  const others = [...living].filter(([process]) => process !== from).map(([, told]) => told)
  const past = [...ended.values()].map(({ metric, values }) => ({ ...metric, values: [...values.values()] }))
  return [...others, past] as unknown as Json
}

/** A process has ended: what it counted stays, so that no counter falls; what it held is gone. */
export function left(process: number): void {
  gone.add(process)
  for (const metric of living.get(process) ?? []) {
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
