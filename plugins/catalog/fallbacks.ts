import type { AllRecords, RecordReport } from '../../engine/index.ts'
import { isPattern } from '../../engine/kit.ts'
import { placesIn } from './places.ts'
import type { Model } from './model-schema.ts'

/**
 * Reports fallbacks that cannot help: the model itself, and duplicates. A cycle of fallbacks is only a warning
 * in the file, because only the fallbacks of the requested model are tried, never those of a fallback.
 */
export function checkFallbacks(model: Model, all: AllRecords, report: RecordReport): void {
  const seen = new Set([model])
  model.fallbacks.forEach((name, at) => {
    const fallback = all.find('model', name)
    if (!fallback) return
    const path = ['fallbacks', at]
    if (seen.has(fallback)) {
      const why = fallback === model ? 'is the model itself' : 'stands there already'
      report(path, 'fallback', `the fallback "${name}" ${why}`)
      return
    }
    seen.add(fallback)
    const idle = idleBecause(model, fallback, all)
    if (idle !== undefined) report(path, 'fallback', `the fallback "${name}" ${idle}`, 'warning')
    const circle = wayBack(fallback, model, all)
    if (!circle) return
    const way = [model.name, ...circle].join(' -> ')
    const message = `fallbacks go in a circle: ${way}; those of a fallback are never tried`
    report(path, 'fallback', message, 'lenient')
  })
}

/** Why a fallback never serves; undefined: it may. */
function idleBecause(model: Model, fallback: Model, all: AllRecords): string | undefined {
  if (!fallback.enabled) return 'is disabled, so it is never tried'
  if (isPattern(fallback.name)) return 'is a pattern and no model; name a model'
  const own = operationsOf(model, all)
  const others = operationsOf(fallback, all)
  if (!own || !others || [...own].some((operation) => others.has(operation))) return undefined
  return `serves ${[...others].join(', ')}, and "${model.name}" serves ${[...own].join(', ')}`
}

function operationsOf(model: Model, all: AllRecords): ReadonlySet<string> | undefined {
  const offers = placesIn(model).map(({ provider }) => all.offers(provider, true))
  return offers.every((known) => known !== undefined)
    ? new Set(offers.flat().map(({ operation }) => operation))
    : undefined
}

/** The names on the shortest path of fallbacks from one model to another, both ends included. */
function wayBack(from: Model, to: Model, all: AllRecords): string[] | undefined {
  const ways = new Map([[from, [from.name]]])
  for (const [model, way] of ways) {
    if (model === to) return way
    for (const name of model.fallbacks) {
      const next = all.find('model', name)
      if (next && !ways.has(next)) ways.set(next, [...way, next.name])
    }
  }
  return undefined
}
