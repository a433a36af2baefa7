import { setImmediate } from 'node:timers/promises'
import { parsedObject } from '../../engine/kit.ts'
import type { TableQueries } from '../../engine/index.ts'
import { microseconds } from './row.ts'
import type { StoredLap } from './row.ts'
import { HOUR } from './sums.ts'

/** How often a step of a pipeline ran, and how long it took: a stage, an arm of a switch, or an attempt with all its tries. */
export interface StepTimes {
  /** As in the pipeline's plan; of an arm, the path of its switch and its number, from 1. */
  readonly path: string
  readonly count: number
  /** Runs that ended with an error. */
  readonly failed: number
  /** Percentiles by nearest rank. */
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
  /** Of an arm: how often the switch took it. */
  readonly taken?: number
  /** Of an attempt: its tries beyond the first ones. */
  readonly again?: number
}

export interface PipelineTimes {
  /** Unix time in milliseconds from which rows were read. */
  readonly since: number
  /** The steps that ran, in the order of their paths. */
  readonly data: readonly StepTimes[]
}

/** Most rows that are read: the newest ones of the hour. */
const mostRows = 1_000

/** Rows whose runs are read at a time, because queries of SQLite block the process. */
const part = 100

/** The times of a pipeline's steps in the exchanges that it served within the last hour. */
export async function pipelineTimes(
  { database }: { readonly database: TableQueries },
  pipeline: string,
): Promise<PipelineTimes> {
  const hourAgo = Date.now() - HOUR
  const rows = await newestRows(database, pipeline, hourAgo).execute()
  const steps = new Map<string, Step>()
  for (let from = 0; from < rows.length; from += part) {
    if (from > 0) await setImmediate()
    const ids = rows.slice(from, from + part).map(({ id }) => id)
    const read = await database.selectFrom('requests').select('metadata').where('id', 'in', ids).execute()
    for (const { metadata } of read) addRow(steps, metadata)
  }
  const oldest = rows.length < mostRows ? undefined : rows.at(-1)
  const data = [...steps].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([path, step]) => shown(path, step))
  return { since: oldest?.at ?? hourAgo, data }
}

/** The query for the newest rows of a pipeline. */
export function newestRows(database: TableQueries, pipeline: string, since: number) {
  const rows = database.selectFrom('requests').select(['id', 'at'])
  return rows.where('pipeline', '=', pipeline).where('at', '>=', since).orderBy('at', 'desc').limit(mostRows)
}

type Kind = 'stage' | 'arm' | 'attempt'

interface Step {
  readonly kind: Kind
  readonly durations: number[]
  failed: number
  again: number
}

/** A run of a step in an exchange. Times in milliseconds since the exchange arrived. */
interface Run {
  readonly kind: Kind
  readonly path: string
  readonly start: number
  end: number
  hasFailed: boolean
  /** A stage outside of tries failed, for which no later stage makes up. */
  isBroken: boolean
  /** The number of its last try. */
  tries: number
}

/** Adds the runs of a row to those of other rows. */
function addRow(steps: Map<string, Step>, metadata: string): void {
  const laps = parsedObject(metadata)?.['laps']
  if (!Array.isArray(laps)) return
  for (const { kind, path, start, end, hasFailed, tries } of runsOf(laps)) {
    const step = steps.get(path) ?? { kind, durations: [], failed: 0, again: 0 }
    steps.set(path, step)
    step.durations.push(end - start)
    if (hasFailed) step.failed += 1
    step.again += Math.max(0, tries - 1)
  }
}

/** The runs of stages, and of the steps around them, in the order in which the stages ended. */
function runsOf(laps: readonly StoredLap[]): readonly Run[] {
  const runs: Run[] = []
  const around = new Map<string, Run>()
  for (const [path, startMicros, micros, attempt = 0, outcome = 'ok'] of laps) {
    if (outcome === 'skipped') continue
    const start = startMicros / 1000
    const end = (startMicros + micros) / 1000
    const hasFailed = outcome === 'failed'
    runs.push({ kind: 'stage', path, start, end, hasFailed, isBroken: hasFailed, tries: 0 })
    for (const { kind, path: outer, inTry } of stepsAround(path)) {
      const key = inTry ? `${outer} ${attempt}` : outer
      const run = around.get(key) ?? { kind, path: outer, start, end, hasFailed, isBroken: false, tries: 0 }
      around.set(key, run)
      run.end = end
      run.isBroken ||= hasFailed && attempt === 0
      run.hasFailed = hasFailed || run.isBroken
      if (kind === 'attempt') run.tries = Math.max(run.tries, attempt)
    }
  }
  return [...runs, ...around.values()]
}

interface Around {
  readonly kind: 'arm' | 'attempt'
  readonly path: string
  /** Whether it runs once per try of an attempt. */
  readonly inTry: boolean
}

/** The arms and attempts around a stage, by the words of its path. */
function stepsAround(path: string): readonly Around[] {
  const words = path.split('/')
  let inTry = false
  return words.flatMap((word, index): Around[] => {
    const upTo = (count: number) => words.slice(0, count).join('/')
    const [name] = word.split(':', 1)
    if (name === 'switch') return [{ kind: 'arm', path: upTo(index + 2), inTry }]
    if (name !== 'attempt') return []
    const attempt: Around = { kind: 'attempt', path: upTo(index + 1), inTry }
    inTry ||= words[index + 1] !== 'otherwise'
    return [attempt]
  })
}

function shown(path: string, { kind, durations, failed, again }: Step): StepTimes {
  const sorted = durations.toSorted((one, other) => one - other)
  const percentile = (share: number) => microseconds(sorted[Math.ceil(share * sorted.length) - 1] ?? 0)
  return {
    path,
    count: sorted.length,
    failed,
    p50_ms: percentile(0.5),
    p95_ms: percentile(0.95),
    p99_ms: percentile(0.99),
    ...(kind === 'arm' && { taken: sorted.length }),
    ...(kind === 'attempt' && { again }),
  }
}
