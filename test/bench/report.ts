import type { Target } from './targets.ts'

export interface Started {
  readonly target: Target
  readonly pid: number
  readonly startMs: number
  readonly idleMb: number
}

export interface Row {
  readonly target: string
  readonly scenario: string
  readonly round: number
  /** Microseconds of processor time per request or chunk. */
  readonly cpu: number
  readonly rate: number
  /** Microseconds to the first byte at the median. */
  readonly firstByte: number
  /** MB of memory gained during the scenario. */
  readonly grown: number
  readonly errors: number
}

/** Medians of all rounds as Markdown tables, each figure beside its ratio to the first target. */
export function report(
  started: readonly Started[],
  scenarios: readonly string[],
  rows: readonly Row[],
  secret: string,
): string {
  const of = (target: string, scenario: string) =>
    rows.filter((row) => row.target === target && row.scenario === scenario)
  const first = started[0]?.target.name ?? ''
  let text = ''
  for (const scenario of scenarios) {
    text += `\n### ${scenario}\n\n| target | cpu µs per unit | ratio | units/s | first byte p50 µs | memory growth, first round MB | errors |\n|---|---|---|---|---|---|---|\n`
    const base = median(of(first, scenario).map(({ cpu }) => cpu))
    for (const { target } of started) {
      const mine = of(target.name, scenario)
      const cpu = median(mine.map((row) => row.cpu))
      const cells = [
        target.name,
        fixed(cpu, 2),
        fixed(cpu / base, 2),
        fixed(median(mine.map(({ rate }) => rate)), 0),
        fixed(median(mine.map(({ firstByte }) => firstByte)), 0),
        fixed(mine[0]?.grown ?? Number.NaN, 1),
        String(mine.reduce((sum, { errors }) => sum + errors, 0)),
      ]
      text += `| ${cells.join(' | ')} |\n`
    }
  }
  text += '\n### start\n\n| target | spawn to first answer ms | idle memory MB |\n|---|---|---|\n'
  for (const { target, startMs, idleMb } of started)
    text += `| ${target.name} | ${fixed(startMs, 0)} | ${fixed(idleMb, 0)} |\n`
  return text.replaceAll(secret, '')
}

function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((one, other) => one - other)
  return sorted.length === 0 ? Number.NaN : (sorted[(sorted.length - 1) >> 1] as number)
}

function fixed(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-'
}
