import type { Detail, Span } from './row.ts'
import { words } from './request-words.ts'

export type BarKind = 'stage' | 'try' | 'failed' | 'wait' | 'works' | 'streams'

/** A line of the timeline. Milliseconds since the first byte of the request. */
export interface Bar {
  readonly label: string
  readonly from: number
  readonly length: number
  readonly kind: BarKind
  /** Part of the bar above. */
  readonly inner?: true
  /** Behind its time, such as `429`. */
  readonly note?: string
}

/** Pauses below it are the work of the gateway between two stages. */
const shortestWait = 1

type Timed = Pick<
  Detail,
  'spans' | 'tries' | 'first_byte_ms' | 'duration_ms' | 'stream' | 'usage' | 'result' | 'attempts'
>

/** What happened when: the stages before, each try of a provider with the pauses between, the stream, the stages after. */
export function barsOf(request: Timed): readonly Bar[] {
  const bars: Bar[] = []
  const attempts = new Map<number, Span[]>()
  for (const span of request.spans) {
    if (span.attempt !== null) attempts.set(span.attempt, [...(attempts.get(span.attempt) ?? []), span])
    else if (!isFinal(span)) addStage(bars, span)
  }
  let before: number | undefined
  for (const [number, spans] of attempts) {
    const from = spans[0]?.at_ms ?? 0
    if (before !== undefined && from - before >= shortestWait)
      bars.push({ label: words.wait, from: before, length: from - before, kind: 'wait' })
    bars.push(...tryOf(request, number, spans))
    before = endOf(spans)
  }
  const final = request.spans.filter(isFinal)
  const [first] = final
  if (first) bars.push({ label: words.finally, from: first.at_ms, length: endOf(final) - first.at_ms, kind: 'stage' })
  return bars
}

const isFinal = ({ path }: Span) => path.startsWith('finally/')

const endOf = (spans: readonly Span[]) => Math.max(0, ...spans.map((span) => span.at_ms + span.duration_ms))

/** Stages of an included pipeline, one after the other, are one bar. */
function addStage(bars: Bar[], { path, at_ms: from, duration_ms: length, outcome }: Span): void {
  const [label = ''] = path.split('/')
  const last = bars.at(-1)
  const kind = outcome === 'failed' ? 'failed' : 'stage'
  if (last?.label === label && path.includes('/'))
    bars[bars.length - 1] = { ...last, length: from + length - last.from, kind: kind === 'failed' ? kind : last.kind }
  else bars.push({ label, from, length, kind })
}

function tryOf(request: Timed, number: number, spans: readonly Span[]): readonly Bar[] {
  const { tries, first_byte_ms: firstByte, duration_ms: end, stream, usage, attempts } = request
  const tried = tries[number - 1]
  const from = spans[0]?.at_ms ?? 0
  const label = words.attempt(number, tried?.model ?? '')
  const isLast = number === Math.max(attempts, tries.length)
  const isFailed = tried?.error != null || spans.some(({ outcome }) => outcome === 'failed')
  if (isFailed || !isLast || !stream || firstByte === null) {
    const note = isFailed ? String(tried?.status ?? tried?.error ?? '') : ''
    const whole = { label, from, length: endOf(spans) - from, kind: isFailed ? 'failed' : 'try' } as const
    return [note === '' ? whole : { ...whole, note }]
  }
  const call = spans.find(({ name }) => name === 'call')?.at_ms ?? from
  const generated = (usage?.output ?? 0) + (usage?.reasoning ?? 0)
  const streamed = end - firstByte
  const bar = { label: words.streamed, from: firstByte, length: streamed, kind: 'streams', inner: true } as const
  return [
    { label, from, length: end - from, kind: 'try' },
    { label: words.untilFirstByte, from: call, length: Math.max(0, firstByte - call), kind: 'works', inner: true },
    generated > 0 && streamed >= 1 ? { ...bar, note: words.perSecond(Math.round((generated / streamed) * 1000)) } : bar,
  ]
}

/** Round steps of an axis over so many milliseconds, at most six. */
export function stepsOf(length: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(length, 0.01) / 5))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => length / one <= 5) ?? length
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, at) => at * step)
}
