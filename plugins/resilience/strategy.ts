/** What the choice among the places of a model looks at. */
export interface PlaceFacts {
  /** Its share of the requests. */
  readonly weight: number
  /** USD per million tokens of input and output together; undefined: unknown. */
  readonly price: number | undefined
  /** Milliseconds until answers began lately; undefined: not measured lately. */
  readonly latency: number | undefined
  /** Requests that are under way. */
  readonly active: number
}

export const strategies = ['order', 'weighted', 'fastest', 'cheapest', 'least_busy'] as const
export type Strategy = (typeof strategies)[number]

/**
 * The index of the place that goes first. Between equal places the first one wins. A place whose latency is unknown is
 * tried, and one whose price is unknown counts as the most expensive.
 * @param random draws a number from 0 to 1
 */
export function chosenPlace(strategy: Strategy, places: readonly PlaceFacts[], random: () => number): number {
  switch (strategy) {
    case 'order':
      return 0
    case 'weighted':
      return drawn(
        places.map(({ weight }) => weight),
        random(),
      )
    case 'fastest':
      return least(places.map(({ latency }) => latency ?? 0))
    case 'cheapest':
      return least(places.map(({ price }) => price ?? Infinity))
    case 'least_busy':
      return least(places.map(({ active }) => active))
  }
}

/** The index at which the running sum of the weights exceeds a share of their total; 0 if all weights are 0. */
function drawn(weights: readonly number[], share: number): number {
  let left = share * weights.reduce((sum, weight) => sum + weight, 0)
  const found = weights.findIndex((weight) => (left -= weight) < 0)
  return Math.max(found, 0)
}

function least(figures: readonly number[]): number {
  return figures.indexOf(Math.min(...figures))
}
