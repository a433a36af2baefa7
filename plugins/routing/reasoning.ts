import type { Scope, Tier } from '../../engine/index.ts'

/** Between the parts of a reasoning. */
const between = ' | '
/** Parts of a reasoning that clients see, and most characters of them. */
const shown = { parts: 3, characters: 200 }

export interface Reasons {
  readonly tier: Tier
  /** Such as `structural=0.41`. Never prompt text. */
  readonly notes: readonly string[]
  /** Absent: the request was refused. */
  readonly chosen?: string
}

/** The parts of the reasoning. */
export function partsOf({ tier, notes, chosen }: Reasons): readonly string[] {
  return chosen === undefined ? [`tier=${tier}`, ...notes] : [`tier=${tier}`, ...notes, `chosen=${chosen}`]
}

/** Why a request was routed as it was, in one line. */
export function reasoningOf(parts: readonly string[]): string {
  return parts.join(between)
}

/** Tells the client the tier, and the first parts of the reasoning. */
export function tellReasons(tier: Tier, parts: readonly string[], scope: Pick<Scope, 'header'>): void {
  const reason = parts.slice(0, shown.parts).join(between)
  scope.header('x-gateway-tier', tier)
  scope.header('x-gateway-reason', reason.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, shown.characters))
}
