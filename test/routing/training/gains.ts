import type { Row } from './rows.ts'

/** What a row says about the gain of a dear model. */
export interface Gain {
  /** Its family; subjects of one benchmark are alike, and form three groups. Gains are judged by group. */
  readonly group: string
  /** How much better dear models do than cheap ones, from -1 to 1. */
  readonly gain: number
  /** How much the row counts: all groups count the same. */
  readonly weight: number
}

/** Half of a gain is that of the row's pair, half that of these numbers of models that are worst and best. */
const extremes = { worst: 5, best: 3 }

/** The gains of rows, in their order. */
export function gainsOf(rows: readonly Row[]): readonly Gain[] {
  const pools = new Map(
    [...Map.groupBy(rows, poolOf)].flatMap(([pool, own]) => (pool === undefined ? [] : [[pool, orderOf(own)]])),
  )
  const groups = rows.map(({ family }) => groupOf(family))
  const counts = new Map([...Map.groupBy(groups, (group) => group)].map(([group, own]) => [group, own.length]))
  const mean = rows.length / counts.size
  return rows.map((row, at) => {
    const group = groups[at] ?? ''
    const order = pools.get(poolOf(row) ?? '')
    const score = (name: string) => row.models[name]?.score
    const [weak, strong] = row.pair.map((name) => score(name) ?? 0) as [number, number]
    const meanOf = (names: readonly string[], own: number) => {
      const known = names.flatMap((name) => score(name) ?? [])
      return known.reduce((sum, value) => sum + value, 0) / known.length / 2 + own / 2
    }
    const gain =
      order === undefined
        ? strong - weak
        : meanOf(order.slice(-extremes.best), strong) - meanOf(order.slice(0, extremes.worst), weak)
    return { group, gain, weight: mean / (counts.get(group) ?? 1) }
  })
}

/** Sources whose rows know the same models; undefined: rows know their pair alone. */
function poolOf({ source }: Row): string | undefined {
  return ['routerbench/', 'ulab/'].find((name) => source.startsWith(name))
}

/** The models of a pool, the worst first: by the mean over its sources, each of which counts the same. */
function orderOf(rows: readonly Row[]): readonly string[] {
  const sources = [...Map.groupBy(rows, ({ source }) => source).values()]
  const means = new Map<string, number[]>()
  for (const own of sources)
    for (const name of Object.keys(own[0]?.models ?? {})) {
      const scores = own.flatMap(({ models }) => models[name]?.score ?? [])
      means.set(name, [...(means.get(name) ?? []), meanOf(scores)])
    }
  const values = [...means].map(([name, own]) => ({ name, mean: meanOf(own) }))
  return values.sort((one, other) => one.mean - other.mean).map(({ name }) => name)
}

const subjects = {
  stem: 'astronomy college_biology college_chemistry computer_security conceptual_physics elementary_mathematics high_school_chemistry high_school_physics virology',
  law: 'international_law professional_law professional_accounting security_studies us_foreign_policy',
}
const groupOfSubject = new Map(
  Object.entries(subjects).flatMap(([group, names]) => names.split(' ').map((name) => [`mmlu:${name}`, group])),
)

function groupOf(family: string): string {
  return family.startsWith('mmlu:') ? `mmlu:${groupOfSubject.get(family) ?? 'other'}` : family
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
