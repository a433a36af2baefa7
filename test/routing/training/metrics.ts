import type { Example } from './rows.ts'

/** How well complexities tell which prompts need the strong model of a pair. */
export interface Quality {
  /** Area under the curve of "the cheap model fails". */
  readonly auc: number
  /** Mean share of the gap in quality that is recovered, over all shares of requests to the strong model (Ong et al. 2024). */
  readonly apgr: number
}

export function qualityOf(complexities: readonly number[], examples: readonly Example[]): Quality {
  const points = examples.flatMap(({ pair: [weak, strong], models }, at) => {
    const [one, other] = [models[weak], models[strong]]
    return one && other ? [{ complexity: complexities[at] ?? 0, weak: one.score, strong: other.score }] : []
  })
  return { auc: areaOf(points), apgr: recoveredBy(points) }
}

interface Point {
  readonly complexity: number
  readonly weak: number
  readonly strong: number
}

/** Mann and Whitney's statistic, with the mean rank for equal complexities. */
function areaOf(points: readonly Point[]): number {
  let ranks = 0
  let failed = 0
  let before = 0
  for (const group of groupsOf(points)) {
    const own = group.filter(({ weak }) => weak < 0.5).length
    ranks += own * (before + (group.length + 1) / 2)
    failed += own
    before += group.length
  }
  return (ranks - (failed * (failed + 1)) / 2) / (failed * (points.length - failed))
}

/** Requests go to the strong model in the order of their complexity, the highest first. */
function recoveredBy(points: readonly Point[]): number {
  const gap = points.reduce((sum, { weak, strong }) => sum + strong - weak, 0)
  let gained = 0
  let area = 0
  for (const group of groupsOf(points).toReversed()) {
    const gain = group.reduce((sum, { weak, strong }) => sum + strong - weak, 0)
    area += (group.length / points.length) * (gained + gain / 2)
    gained += gain
  }
  return area / gap
}

/** The points in groups of equal complexity, the lowest first. */
function groupsOf(points: readonly Point[]): readonly (readonly Point[])[] {
  const groups = Map.groupBy(points, ({ complexity }) => complexity)
  return [...groups].sort(([one], [other]) => one - other).map(([, group]) => group)
}
