/** JSON Schema of a duration in a configuration: a whole number and its unit (`ms`, `s`, `m`, `h`, `d`). */
export const durationSchema = {
  type: 'string',
  pattern: '^\\d+(ms|s|m|h|d)$',
  patternErrorMessage: 'must be a number and its unit (ms, s, m, h or d), such as 60s',
} as const

const units = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** Whether a value is a duration as text. */
export function isDuration(value: unknown): value is string {
  return typeof value === 'string' && /^\d+(ms|s|m|h|d)$/.test(value)
}

/** Milliseconds of a duration such as `250ms`, `60s` or `24h`. Throws a `RangeError` for any other text. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? []
  const size = units.get(unit ?? '')
  if (count === undefined || size === undefined)
    throw new RangeError(`"${text}" is not a duration such as 250ms, 60s or 24h`)
  return Number(count) * size
}

/** The shortest text for a number of milliseconds, in the format of `duration`: `1h`, `90s`. */
export function printDuration(milliseconds: number): string {
  const [unit, size] = [...units].findLast(([, each]) => milliseconds % each === 0 && milliseconds >= each) ?? ['ms', 1]
  return `${milliseconds / size}${unit}`
}

/** Whether a value is a duration in which nothing is done: less than 10 ms. Such a limit is a slip of the unit. */
export function isTooShort(value: unknown): boolean {
  return isDuration(value) && duration(value) < 10
}

/** What is said of such a limit. */
export const tooShort = 'is too short for anything to be done; did you mean s or m?'
