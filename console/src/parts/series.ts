import { count, duration, durationTick, minute, money, tick } from '../format.ts'
import type { Zone } from '../format.ts'
import { shared } from '../words.ts'

export interface Series {
  readonly name: string
  /** A color of CSS, `--series-1`. */
  readonly color: string
  /** One for each time; null: a gap. */
  readonly values: readonly (number | null)[]
  readonly dashed?: boolean
}

/** Something that happened at a moment, RFC 3339: a thin line with a word on hover. */
export interface Mark {
  readonly at: string
  readonly words: string
}

export type Unit = 'count' | 'duration' | 'money'

interface Printing {
  readonly print: (value: number | null) => string
  /** At the axis. */
  readonly tick: (value: number) => string
}

/** How values of a unit are written: counts, milliseconds, USD. */
export const units: Readonly<Record<Unit, Printing>> = {
  count: { print: count, tick },
  duration: { print: duration, tick: durationTick },
  money: { print: money, tick: money },
}

/** Steps of an axis that people read easily, from 1 to 10. */
const steps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]

/** The lines of an axis from 0 to above `highest`, at most `most` of them beside the one at 0. */
export function linesTo(highest: number, most: number, whole: boolean): readonly number[] {
  if (highest <= 0) return [0, 1]
  const least = highest / most
  const power = 10 ** Math.floor(Math.log10(least))
  const fits = (step: number) => step >= least * (1 - 1e-9) && (!whole || Number.isInteger(step))
  const step = steps.map((part) => Number((part * power).toPrecision(3))).find(fits) ?? Math.ceil(least)
  return Array.from({ length: Math.ceil(highest / step - 1e-9) + 1 }, (_, line) => Number((line * step).toPrecision(6)))
}

interface Shown {
  readonly times: readonly string[]
  readonly series: readonly Series[]
  readonly unit: Unit
  /** Whether the series are parts of one whole. */
  readonly stacked: boolean
  readonly zone: Zone
}

/** What a chart shows, in words: sums and the highest of parts of a whole, else the highest of each series. */
export function findingOf({ times, series, unit, stacked, zone }: Shown): string {
  const { print } = units[unit]
  const highest = (values: readonly (number | null)[]) => {
    const top = values.reduce<number>((best, value, at) => ((value ?? 0) > (values[best] ?? 0) ? at : best), 0)
    return shared.highest(print(values[top] ?? null), minute(times[top] ?? '', zone))
  }
  if (series.every(({ values }) => values.every((value) => !value))) return shared.nothingInRange
  if (!stacked)
    return series
      .filter(({ values }) => values.some((value) => value !== null))
      .map(({ name, values }) => `${name} ${highest(values)}`)
      .join(', ')
  const sumOf = ({ values }: Series) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
  const all = times.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const parts = series.map((one) => [one.name, sumOf(one)] as const).filter(([, sum]) => sum > 0)
  const total = parts.reduce((sum, [, part]) => sum + part, 0)
  return [shared.inAll(print(total)), ...parts.map(([name, sum]) => `${print(sum)} ${name}`), highest(all)].join(', ')
}
