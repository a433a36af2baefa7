/** The density of a Beta distribution, at as many places as it is drawn with. */
export interface Density {
  /** From 0 to 1, the highest is 1; the first is at 0 and the last at 1. */
  readonly heights: readonly number[]
  /** What lies outside of it, 5 % at each end. */
  readonly low: number
  readonly high: number
}

const places = 97

/** The density of Beta(a, b). Where it has no highest value, at an end, it is cut off there. */
export function densityOf(a: number, b: number): Density {
  const at = Array.from({ length: places }, (_, index) => Math.min(1 - 1e-3, Math.max(1e-3, index / (places - 1))))
  const logs = at.map((x) => (a - 1) * Math.log(x) + (b - 1) * Math.log(1 - x))
  const highest = Math.max(...logs)
  const heights = logs.map((log) => Math.exp(log - highest))
  const total = heights.reduce((sum, height) => sum + height, 0)
  const quantile = (part: number) => {
    let sum = 0
    const index = heights.findIndex((height) => (sum += height) >= part * total)
    return (index < 0 ? places - 1 : index) / (places - 1)
  }
  return { heights, low: quantile(0.05), high: quantile(0.95) }
}
