import type { Answers } from '../api/answers.ts'
import { everyStep, within } from './plan.ts'
import type { PlannedStep } from './plan.ts'

/** How a step ran within the last hour. */
export type StepTimes = Answers['get-pipeline']['times']['data'][number]

/** A step's run in one request. */
export type Span = Answers['get-request']['spans'][number]

export type Try = Answers['get-request']['tries'][number]

/** What is known of a step's time: of the last hour, or of one request. */
export interface Time {
  readonly p50: number
  /** None for one request. */
  readonly p95?: number
  readonly failed: boolean
}

/** What the picture shows about time: the last hour, or the path of one request. */
export interface Runs {
  timeOf(step: PlannedStep): Time | undefined
  /** The share of an arm, from 0 to 1. */
  shareOf(arm: string): number | undefined
  /** The share of an attempt's runs that tried again. */
  againOf(attempt: string): number | undefined
  /** Whether nothing ran here, by the path of a step or an arm. */
  idle(path: string): boolean
  readonly tries: readonly Try[]
  /** Steps off the path of one request are dimmed; arms that none took in the last hour are dashed. */
  readonly one: boolean
}

export function runsOfHour(times: readonly StepTimes[]): Runs {
  const known = new Map(times.map((time) => [time.path, time]))
  return {
    one: false,
    tries: [],
    timeOf(step) {
      // A folded pipeline sums the times of its stages.
      const stages = step.kind === 'use' ? everyStep(within(step)).filter(({ kind }) => kind === 'stage') : [step]
      const found = stages.flatMap(({ path }) => known.get(path) ?? [])
      if (found.length === 0) return undefined
      const sum = (of: (time: StepTimes) => number) => found.reduce((all, time) => all + of(time), 0)
      return { p50: sum(({ p50_ms }) => p50_ms), p95: sum(({ p95_ms }) => p95_ms), failed: false }
    },
    shareOf(arm) {
      const own = known.get(arm)?.taken
      const stem = arm.slice(0, arm.lastIndexOf('/') + 1)
      const arms = times.filter(({ path, taken }) => taken !== undefined && /^\d+$/.test(path.replace(stem, '')))
      const all = arms.reduce((sum, { taken = 0 }) => sum + taken, 0)
      return all === 0 ? undefined : (own ?? 0) / all
    },
    againOf(attempt) {
      const time = known.get(attempt)
      return time?.again === undefined || time.count === 0 ? undefined : time.again / time.count
    },
    idle: (path) => times.length > 0 && !times.some((time) => time.path === path || time.path.startsWith(`${path}/`)),
  }
}

export function runsOfRequest(spans: readonly Span[], tries: readonly Try[]): Runs {
  const ran = spans.filter(({ outcome }) => outcome !== 'skipped')
  return {
    one: true,
    tries,
    timeOf(step) {
      const own = ran.filter(({ path }) =>
        step.kind === 'use' ? path.startsWith(`${step.path}/`) : path === step.path,
      )
      if (own.length === 0) return undefined
      const p50 = own.reduce((sum, { duration_ms }) => sum + duration_ms, 0)
      return { p50, failed: own.at(-1)?.outcome === 'failed' }
    },
    shareOf: () => undefined,
    againOf: () => undefined,
    // The row is written while `log` runs, so that its own run is not in it.
    idle: (path) =>
      !/(^|\/)log$/.test(path) && !ran.some((span) => span.path === path || span.path.startsWith(`${path}/`)),
  }
}
